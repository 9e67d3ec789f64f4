// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/kernels/sort.h"

namespace beeswax::cpu::BW_ISA {
namespace {

// How the bits of an element say its order.
enum class Kind { Unsigned, Signed, Float };

template <class T>
struct Bits;
#define BW_BITS(ctype, Unsigned_, kind_, largest_)          \
  template <>                                               \
  struct Bits<ctype> {                                      \
    using U = Unsigned_;                                    \
    static constexpr Kind kind = Kind::kind_;               \
    [[maybe_unused]] static constexpr U largest = largest_; \
  };
// For floats: the bits of the largest value, infinity where there is one; above it are the NaNs.
BW_BITS(uint8_t, uint8_t, Unsigned, 0)
BW_BITS(uint32_t, uint32_t, Unsigned, 0)
BW_BITS(int16_t, uint16_t, Signed, 0)
BW_BITS(int32_t, uint32_t, Signed, 0)
BW_BITS(int64_t, uint64_t, Signed, 0)
BW_BITS(bf16, uint16_t, Float, 0x7f80)
BW_BITS(f16, uint16_t, Float, 0x7c00)
BW_BITS(float, uint32_t, Float, 0x7f800000)
BW_BITS(double, uint64_t, Float, 0x7ff0000000000000)
BW_BITS(f8e4m3, uint8_t, Float, 0x7e)
#undef BW_BITS

template <class T>
BW_FN typename Bits<T>::U key_of(typename Bits<T>::U bits, typename Bits<T>::U flip) {
  using U = typename Bits<T>::U;
  constexpr U kSign = static_cast<U>(U{1} << (8 * sizeof(U) - 1));
  constexpr U kAll = static_cast<U>(~U{0});
  if constexpr (Bits<T>::kind == Kind::Unsigned) {
    return static_cast<U>(bits ^ flip);
  } else if constexpr (Bits<T>::kind == Kind::Signed) {
    return static_cast<U>(bits ^ kSign ^ flip);
  } else {
    const U magnitude = static_cast<U>(bits & ~kSign);
    const U value = magnitude == 0 ? U{0} : bits;
    const U ordered = static_cast<U>((value & kSign) != 0 ? ~value : value | kSign);
    return magnitude > Bits<T>::largest ? kAll : static_cast<U>(ordered ^ flip);
  }
}

template <class T>
void pack(const void* from, int64_t count, uint64_t first, bool ascending, void* to) {
  using U = typename Bits<T>::U;
  const U* x = static_cast<const U*>(from);
  const U flip = static_cast<U>(ascending ? 0 : ~U{0});
  if constexpr (sizeof(U) == 8) {
    auto* items = static_cast<WideItem*>(to);
    for (int64_t i = 0; i < count; ++i) {
      items[i].key = key_of<T>(x[i], flip);
      items[i].id = first + static_cast<uint64_t>(i);
    }
  } else {
    auto* items = static_cast<NarrowItem*>(to);
    for (int64_t i = 0; i < count; ++i)
      items[i] = static_cast<uint64_t>(key_of<T>(x[i], flip)) << 32 | (first + static_cast<uint64_t>(i));
  }
}

template <class U>
void take(const void* from, const uint32_t* ids, int64_t count, void* to) {
  const U* x = static_cast<const U*>(from);
  U* y = static_cast<U*>(to);
  for (int64_t i = 0; i < count; ++i) y[i] = x[ids[i]];
}

}  // namespace

const SortKernels& sort_kernels() {
  static constexpr SortKernels kTable = {
      {
#define BW_DTYPE(Name, name, ctype, ...) pack<ctype>,
#include "tables/dtypes.def"
      },
      {take<uint8_t>, take<uint16_t>, take<uint32_t>, take<uint64_t>},
  };
  return kTable;
}

}  // namespace beeswax::cpu::BW_ISA
