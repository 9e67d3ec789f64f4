// SPDX-License-Identifier: Apache-2.0
// KvCache: the keys and values of one layer's past positions.
#pragma once

#include "beeswax/tensor.h"

namespace beeswax::nn {

class BW_API KvCache {
 public:
  /// Room for `positions` positions of [heads, size] keys and as many values, in f32, f16 or bf16.
  KvCache(int64_t heads, int64_t positions, int64_t size, DType dtype = DType::F32,
          const Device& device = {});

  int64_t length() const { return length_; }
  int64_t capacity() const { return keys_.dim(1); }
  /// Appends [heads, tokens, size]. TooLarge where there is no room.
  void append(const Tensor& keys, const Tensor& values);
  struct Extended {
    Tensor keys, values;  ///< [heads, length + tokens, size]
  };
  /// Keys and values with the places of so many tokens more, which the caller writes. TooLarge as above.
  Extended extended(int64_t tokens) const;
  /// Counts tokens that were written so.
  void advance(int64_t tokens);
  /// [heads, length, size], as stored
  Tensor keys() const { return keys_.narrow(1, 0, length_); }
  Tensor values() const { return values_.narrow(1, 0, length_); }
  /// What the whole capacity takes.
  int64_t bytes() const { return keys_.elem_count() * 2 * dtype_bits(keys_.dtype()) / 8; }
  /// Forgets all positions from `length` on.
  void truncate(int64_t length);

 private:
  void check_room(int64_t tokens) const;
  Tensor keys_, values_;
  int64_t length_ = 0;
};

}  // namespace beeswax::nn
