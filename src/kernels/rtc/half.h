// SPDX-License-Identifier: Apache-2.0
// __half of CUDA and HIP, for clang and NVRTC: one number, conversions and arithmetic, each rounded once.
// hiprtc has it built in.
#pragma once

#ifndef __HIPCC_RTC__
#include "core/math/convert.h"
#include "kernels/gpu.h"
#include "kernels/rtc/operators.h"

struct __half {
  _Float16 data;

  __half() = default;
  BW_DEVICE_MEMBER __half(_Float16 value) : data(value) {}
  BW_DEVICE_MEMBER __half(float value) : data(beeswax::bit_cast<_Float16>(beeswax::gpu::f16_bits(value))) {}
  BW_DEVICE_MEMBER __half(double value) : __half(beeswax::m::float_round_odd(value)) {}
  // Of integers: what float rounds is infinite here.
  template <class T>
    requires requires(T value) { value % 1; }
  BW_DEVICE_MEMBER __half(T value) : __half(static_cast<float>(value)) {}
  BW_DEVICE_MEMBER operator float() const { return static_cast<float>(data); }
};
using half = __half;

BW_DEVICE __half __float2half(float x) { return x; }
BW_DEVICE __half __float2half_rn(float x) { return x; }
BW_DEVICE __half __double2half(double x) { return x; }
BW_DEVICE float __half2float(__half x) { return x; }
BW_DEVICE unsigned short __half_as_ushort(__half x) { return beeswax::bit_cast<unsigned short>(x.data); }
BW_DEVICE __half __ushort_as_half(unsigned short x) { return beeswax::bit_cast<_Float16>(x); }

// NVRTC's _Float16 (nvrtc.inc) only converts. Float has more than twice its digits, so that a result of
// float, rounded again, is what one rounding gives.
#ifdef __CUDACC_RTC__
#define BW_RTC_HALF(a, op, b) static_cast<float>(a) op static_cast<float>(b)
BW_DEVICE __half __hfma(__half a, __half b, __half c) {
  __half out;
  asm("fma.rn.f16 %0, %1, %2, %3;"
      : "=h"(out.data.bits)
      : "h"(a.data.bits), "h"(b.data.bits), "h"(c.data.bits));
  return out;
}
#else
#define BW_RTC_HALF(a, op, b) a.data op b.data
BW_DEVICE __half __hfma(__half a, __half b, __half c) { return __builtin_fmaf16(a.data, b.data, c.data); }
#endif
BW_DEVICE __half operator+(__half a, __half b) { return BW_RTC_HALF(a, +, b); }
BW_DEVICE __half operator-(__half a, __half b) { return BW_RTC_HALF(a, -, b); }
BW_DEVICE __half operator*(__half a, __half b) { return BW_RTC_HALF(a, *, b); }
#undef BW_RTC_HALF
// Quotients of _Float16 itself are not rounded right by every clang.
BW_DEVICE __half operator/(__half a, __half b) { return static_cast<float>(a) / static_cast<float>(b); }
BW_DEVICE __half __hadd(__half a, __half b) { return a + b; }
BW_DEVICE __half __hsub(__half a, __half b) { return a - b; }
BW_DEVICE __half __hmul(__half a, __half b) { return a * b; }
BW_DEVICE __half __hdiv(__half a, __half b) { return a / b; }

BW_RTC_OPERATORS(__half)
#endif
