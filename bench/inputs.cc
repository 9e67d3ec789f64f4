// SPDX-License-Identifier: Apache-2.0
#include "inputs.h"

#include <deque>

#include "core/storage.h"
#include "core/thread_pool.h"

namespace beeswax::bench {
namespace {

// The output function of the SplitMix64 generator: neighbouring indices give unrelated bits.
uint64_t mix(uint64_t x) {
  x = (x + 1) * 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

template <class T>
void fill_random(T* out, int64_t count, double lo, double hi) {
  parallel_ranges(count, 1 << 16, [=](int64_t begin, int64_t end) {
    const double step = (hi - lo) * 0x1p-53;
    for (int64_t i = begin; i < end; ++i) {
      const double value = lo + step * static_cast<double>(mix(static_cast<uint64_t>(i)) >> 11);
      if constexpr (sizeof(T) < 4 && !std::is_integral_v<T>) {
        out[i] = T(static_cast<float>(value));
      } else {
        out[i] = static_cast<T>(value);
      }
    }
  });
}

struct Shared {
  Shape shape;
  DType dtype;
  double lo, hi;
  Tensor tensor;
};

std::deque<Shared>& shared() {
  static std::deque<Shared> list;
  return list;
}

constexpr size_t kKept = 3;

}  // namespace

Tensor random_tensor(const Shape& shape, DType dtype, double lo, double hi) {
  const Tensor out = Tensor::empty(shape, dtype);
  std::byte* data = out.storage().data();
  switch (dtype) {
#define BW_DTYPE(Name, name, ctype, ...)                                   \
  case DType::Name:                                                        \
    fill_random(reinterpret_cast<ctype*>(data), out.elem_count(), lo, hi); \
    break;
#define BW_STORAGE_DTYPE(Name, ...)                                                                       \
  case DType::Name:                                                                                       \
    fill_random(reinterpret_cast<uint8_t*>(data),                                                         \
                static_cast<int64_t>(dtype_bytes(dtype, static_cast<size_t>(out.elem_count()))), 0, 256); \
    break;
#include "tables/dtypes.def"
  }
  return out;
}

Tensor shared_input(const Shape& shape, DType dtype, double lo, double hi) {
  for (const Shared& one : shared())
    if (one.shape == shape && one.dtype == dtype && one.lo == lo && one.hi == hi) return one.tensor;
  while (shared().size() >= kKept) shared().pop_front();
  shared().push_back({shape, dtype, lo, hi, random_tensor(shape, dtype, lo, hi)});
  return shared().back().tensor;
}

void drop_shared_inputs() { shared().clear(); }

Tensor random_ids(const Shape& shape, int64_t limit) {
  return random_tensor(shape, DType::U32, 0, static_cast<double>(limit));
}

}  // namespace beeswax::bench
