// SPDX-License-Identifier: Apache-2.0
// What the kernels of quantized weights share: floats of three dtypes, chosen by a uniform branch.
#pragma once

#include "kernels/elements.h"
#include "kernels/quantized_args.h"
#include "quant/formats.h"

namespace beeswax::gpu {

/// Stores n neighbouring floats as the dtype.
template <int n>
BW_DEVICE void store_floats(void* y, uint64_t at, uint32_t dtype, const float (&value)[n]) {
  const auto store = [&](auto* to, auto convert) __attribute__((always_inline)) {
    using S = decltype(convert(0.0f));
    Pack<S, n> out;
    for (int i = 0; i < n; ++i) out.v[i] = convert(value[i]);
    if (aligned16(to)) {
      *reinterpret_cast<Pack<S, n>*>(to + at) = out;
    } else {
      for (int i = 0; i < n; ++i) to[at + static_cast<uint64_t>(i)] = out.v[i];
    }
  };
  if (dtype == kFloatF32) {
    store(static_cast<float*>(y), [](float v) __attribute__((always_inline)) { return v; });
  } else if (dtype == kFloatF16) {
    store(static_cast<uint16_t*>(y),
          [](float v) __attribute__((always_inline)) { return f16_from_float(v); });
  } else {
    store(static_cast<uint16_t*>(y),
          [](float v) __attribute__((always_inline)) { return bf16_from_float(v); });
  }
}

/// n neighbouring floats; `at` is a multiple of n.
template <int n>
BW_DEVICE void load_floats(const void* x, uint64_t at, uint32_t dtype, float (&value)[n]) {
  if (dtype == kFloatF32) {
    const float* from = static_cast<const float*>(x) + at;
    if (aligned16(x)) {
      const Pack<float, n> in = *reinterpret_cast<const Pack<float, n>*>(from);
      for (int i = 0; i < n; ++i) value[i] = in.v[i];
    } else {
      for (int i = 0; i < n; ++i) value[i] = from[i];
    }
    return;
  }
  const uint16_t* from = static_cast<const uint16_t*>(x) + at;
  Pack<uint16_t, n> in;
  if (aligned16(x)) {
    in = *reinterpret_cast<const Pack<uint16_t, n>*>(from);
  } else {
    for (int i = 0; i < n; ++i) in.v[i] = from[i];
  }
  for (int i = 0; i < n; ++i) value[i] = dtype == kFloatF16 ? f16_to_float(in.v[i]) : bf16_to_float(in.v[i]);
}

}  // namespace beeswax::gpu
