// SPDX-License-Identifier: Apache-2.0
// Quantizing billions of numbers takes minutes, so a thousand blocks are quantized, and each block of a
// tensor is one of them, chosen by a hash of its place.
#include "models/random_weights.h"

#include <algorithm>
#include <cstring>

#include "core/fail.h"
#include "core/os/memory.h"
#include "core/thread_pool.h"

namespace beeswax::models {
namespace {

constexpr int64_t kPoolUnits = 1024;
constexpr double kSpread = 0.02;  // standard deviation, as models are initialized
constexpr int64_t kGrain = 16384;

// Plain elements go in units of 32, so that a unit is worth a copy.
int64_t unit_elements(const io::GgmlType& type) { return std::max<int64_t>(32, type.block_elements); }

// splitmix64
uint64_t mixed(uint64_t x) {
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

// FNV-1a
uint64_t hash_of(std::string_view text) {
  uint64_t hash = 0xCBF29CE484222325u;
  for (const char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001B3u;
  return hash;
}

// The sum of twelve uniform numbers is nearly normal.
float normal_at(uint64_t index) {
  double sum = -6;
  for (uint64_t i = 0; i < 12; ++i) sum += static_cast<double>(mixed(index * 12 + i) >> 11) * 0x1p-53;
  return static_cast<float>(sum * kSpread);
}

}  // namespace

DescribedFile::Pages::Pages(size_t bytes)
    : data(static_cast<std::byte*>(os::reserve_pages(bytes))), size(bytes) {
  if (data == nullptr) fail(ErrorKind::OutOfMemory, "load", bytes, " bytes for a model of random weights");
}

DescribedFile::Pages::~Pages() { os::release_pages(data, size); }

DescribedFile::DescribedFile(const io::GgufWriter& writer, std::string_view name)
    : pages_(writer.head().size() + writer.data_bytes()) {
  const std::vector<std::byte> head = writer.head();
  std::memcpy(pages_.data, head.data(), head.size());
  file_ = io::GgufFile::from_bytes({pages_.data, pages_.size}, name);
}

const std::vector<std::byte>& RandomWeights::pool_of(const io::GgmlType& type) const {
  std::vector<std::byte>& pool = pools_[type.id];
  if (!pool.empty()) return pool;
  std::vector<float> values(static_cast<size_t>(kPoolUnits * unit_elements(type)));
  for (size_t i = 0; i < values.size(); ++i) values[i] = normal_at(i);
  const Tensor tensor = Tensor::from_vec(values, {kPoolUnits, unit_elements(type)}, Device::cpu());
  pool =
      type.quant ? QTensor::quantize(tensor, *type.quant).bytes() : tensor.to_dtype(*type.dtype).to_bytes();
  return pool;
}

Weights::Part RandomWeights::bytes_of(const io::GgufTensor& tensor, size_t first, size_t count) const {
  bytes_.resize(count);
  if (tensor.name.ends_with("norm.weight")) {
    const Tensor ones = Tensor::ones({static_cast<int64_t>(count) / tensor.type->block_bytes},
                                     tensor.type->dtype.value(), Device::cpu());
    bytes_ = ones.to_bytes();
    return {bytes_, nullptr};
  }
  const std::vector<std::byte>& pool = pool_of(*tensor.type);
  const size_t unit = pool.size() / kPoolUnits;
  const uint64_t seed = hash_of(tensor.name) + first / unit;
  parallel_ranges(static_cast<int64_t>((count + unit - 1) / unit), kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const size_t at = static_cast<size_t>(i) * unit;
      const size_t from = mixed(seed + static_cast<uint64_t>(i)) % kPoolUnits * unit;
      std::memcpy(bytes_.data() + at, pool.data() + from, std::min(unit, count - at));
    }
  });
  return {bytes_, nullptr};
}

}  // namespace beeswax::models
