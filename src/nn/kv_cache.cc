// SPDX-License-Identifier: Apache-2.0
#include "nn/kv_cache.h"

#include "core/fail.h"

namespace beeswax::nn {

KvCache::KvCache(int64_t heads, int64_t positions, int64_t size, DType dtype, const Device& device)
    : keys_(Tensor::zeros({heads, positions, size}, dtype, device)),
      values_(Tensor::zeros({heads, positions, size}, dtype, device)) {}

void KvCache::append(const Tensor& keys, const Tensor& values) {
  const int64_t tokens = keys.dim(1);
  check_room(tokens);
  keys_.slice_set(keys.to_dtype(keys_.dtype()), 1, length_);
  values_.slice_set(values.to_dtype(values_.dtype()), 1, length_);
  advance(tokens);
}

KvCache::Extended KvCache::extended(int64_t tokens) const {
  check_room(tokens);
  return {keys_.narrow(1, 0, length_ + tokens), values_.narrow(1, 0, length_ + tokens)};
}

void KvCache::advance(int64_t tokens) {
  check_room(tokens);
  length_ += tokens;
}

void KvCache::check_room(int64_t tokens) const {
  if (length_ + tokens > capacity())
    fail(ErrorKind::TooLarge, "kv_cache", length_ + tokens, " positions do not fit the context of ",
         capacity());
}

void KvCache::truncate(int64_t length) {
  if (length < 0 || length > length_)
    fail(ErrorKind::InvalidArgument, "kv_cache", "cannot keep ", length, " of ", length_, " positions");
  length_ = length;
}

}  // namespace beeswax::nn
