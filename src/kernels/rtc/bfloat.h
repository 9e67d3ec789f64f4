// SPDX-License-Identifier: Apache-2.0
// __nv_bfloat16 of CUDA, for every compiler: one number, conversions and arithmetic, each rounded once (float
// has more than twice its digits, so what float rounds may be rounded again).
#pragma once

#include "core/math/convert.h"
#include "kernels/gpu.h"
#include "kernels/rtc/operators.h"

struct __nv_bfloat16 {
  beeswax::bf16 data;

  __nv_bfloat16() = default;
  BW_DEVICE_MEMBER __nv_bfloat16(float value) : data(value) {}
  BW_DEVICE_MEMBER __nv_bfloat16(double value) : data(beeswax::m::float_round_odd(value)) {}
  BW_DEVICE_MEMBER __nv_bfloat16(int value) : data(beeswax::m::convert<beeswax::bf16>(int64_t{value})) {}
  BW_DEVICE_MEMBER __nv_bfloat16(unsigned value) : data(beeswax::m::convert<beeswax::bf16>(int64_t{value})) {}
  BW_DEVICE_MEMBER __nv_bfloat16(decltype(0ll) value)
      : data(beeswax::m::convert<beeswax::bf16>(int64_t{value})) {}
  BW_DEVICE_MEMBER operator float() const { return static_cast<float>(data); }
};
using nv_bfloat16 = __nv_bfloat16;

BW_DEVICE __nv_bfloat16 __float2bfloat16(float x) { return x; }
BW_DEVICE __nv_bfloat16 __float2bfloat16_rn(float x) { return x; }
BW_DEVICE __nv_bfloat16 __double2bfloat16(double x) { return x; }
BW_DEVICE float __bfloat162float(__nv_bfloat16 x) { return x; }
BW_DEVICE unsigned short __bfloat16_as_ushort(__nv_bfloat16 x) { return x.data.bits; }
BW_DEVICE __nv_bfloat16 __ushort_as_bfloat16(unsigned short x) {
  __nv_bfloat16 out;
  out.data.bits = x;
  return out;
}

BW_DEVICE __nv_bfloat16 operator+(__nv_bfloat16 a, __nv_bfloat16 b) {
  return static_cast<float>(a) + static_cast<float>(b);
}
BW_DEVICE __nv_bfloat16 operator-(__nv_bfloat16 a, __nv_bfloat16 b) {
  return static_cast<float>(a) - static_cast<float>(b);
}
BW_DEVICE __nv_bfloat16 operator*(__nv_bfloat16 a, __nv_bfloat16 b) {
  return static_cast<float>(a) * static_cast<float>(b);
}
BW_DEVICE __nv_bfloat16 operator/(__nv_bfloat16 a, __nv_bfloat16 b) {
  return static_cast<float>(a) / static_cast<float>(b);
}
BW_RTC_OPERATORS(__nv_bfloat16)
