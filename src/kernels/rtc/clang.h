// SPDX-License-Identifier: Apache-2.0
// The words of CUDA and HIP for kernels that clang compiles at run time with no vendor header at hand: what a
// kernel is marked with, where a thread stands, barriers, shuffles, atomics, and the functions of float and
// double, which are those of core/math. NVRTC and hiprtc bring their own.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/math/math.h"
#include "kernels/atomics.h"

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#if BW_AMD  // clang reads launch_bounds for NVIDIA only
#define BW_RTC_FIRST(first, ...) first
#define __launch_bounds__(...) __attribute__((amdgpu_flat_work_group_size(1, BW_RTC_FIRST(__VA_ARGS__, 0))))
#else
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#endif

struct uint3 {
  unsigned x, y, z;
};
struct dim3 {
  unsigned x = 1, y = 1, z = 1;
};

// An object whose x, y and z are read from the hardware.
#define BW_RTC_COORDINATES(Name, object, x_value, y_value, z_value)         \
  struct Name {                                                             \
    __declspec(property(get = get_x)) unsigned x;                           \
    __declspec(property(get = get_y)) unsigned y;                           \
    __declspec(property(get = get_z)) unsigned z;                           \
    BW_DEVICE unsigned get_x() { return static_cast<unsigned>(x_value); }   \
    BW_DEVICE unsigned get_y() { return static_cast<unsigned>(y_value); }   \
    BW_DEVICE unsigned get_z() { return static_cast<unsigned>(z_value); }   \
    __attribute__((device)) operator uint3() const { return {x, y, z}; }    \
    __attribute__((device)) operator dim3() const { return dim3{x, y, z}; } \
  };                                                                        \
  extern const __attribute__((device)) __attribute__((weak)) Name object;
#if BW_AMD
BW_RTC_COORDINATES(BwThreadIdx, threadIdx, __builtin_amdgcn_workitem_id_x(), __builtin_amdgcn_workitem_id_y(),
                   __builtin_amdgcn_workitem_id_z())
BW_RTC_COORDINATES(BwBlockIdx, blockIdx, __builtin_amdgcn_workgroup_id_x(), __builtin_amdgcn_workgroup_id_y(),
                   __builtin_amdgcn_workgroup_id_z())
BW_RTC_COORDINATES(BwBlockDim, blockDim, __builtin_amdgcn_workgroup_size_x(),
                   __builtin_amdgcn_workgroup_size_y(), __builtin_amdgcn_workgroup_size_z())
// The hardware counts a grid in threads.
BW_RTC_COORDINATES(BwGridDim, gridDim, __builtin_amdgcn_grid_size_x() / __builtin_amdgcn_workgroup_size_x(),
                   __builtin_amdgcn_grid_size_y() / __builtin_amdgcn_workgroup_size_y(),
                   __builtin_amdgcn_grid_size_z() / __builtin_amdgcn_workgroup_size_z())
#elif BW_NVIDIA
BW_RTC_COORDINATES(BwThreadIdx, threadIdx, __nvvm_read_ptx_sreg_tid_x(), __nvvm_read_ptx_sreg_tid_y(),
                   __nvvm_read_ptx_sreg_tid_z())
BW_RTC_COORDINATES(BwBlockIdx, blockIdx, __nvvm_read_ptx_sreg_ctaid_x(), __nvvm_read_ptx_sreg_ctaid_y(),
                   __nvvm_read_ptx_sreg_ctaid_z())
BW_RTC_COORDINATES(BwBlockDim, blockDim, __nvvm_read_ptx_sreg_ntid_x(), __nvvm_read_ptx_sreg_ntid_y(),
                   __nvvm_read_ptx_sreg_ntid_z())
BW_RTC_COORDINATES(BwGridDim, gridDim, __nvvm_read_ptx_sreg_nctaid_x(), __nvvm_read_ptx_sreg_nctaid_y(),
                   __nvvm_read_ptx_sreg_nctaid_z())
#endif
#undef BW_RTC_COORDINATES

#if BW_AMD  // clang has it built in for NVIDIA
BW_DEVICE void __syncthreads() { beeswax::gpu::barrier(); }
#endif
BW_DEVICE void __threadfence() { beeswax::gpu::fence_device(); }

inline constexpr int warpSize = beeswax::gpu::kWave;

// Shuffles among `width` neighbours (a power of two up to warpSize); all threads of the wave take part.
template <class T>
BW_DEVICE T __shfl(T value, int lane, int width = warpSize) {
  const int own = static_cast<int>(beeswax::gpu::lane());
  return beeswax::gpu::shuffle(value, static_cast<uint32_t>((own & -width) | (lane & (width - 1))));
}
template <class T>
BW_DEVICE T __shfl_xor(T value, int mask, int width = warpSize) {
  const int own = static_cast<int>(beeswax::gpu::lane());
  const int from = own ^ mask;
  return beeswax::gpu::shuffle(value, static_cast<uint32_t>(from < (own | (width - 1)) + 1 ? from : own));
}
template <class T>
BW_DEVICE T __shfl_down(T value, unsigned delta, int width = warpSize) {
  return beeswax::gpu::shuffle_down(value, delta, static_cast<uint32_t>(width));
}
template <class T>
BW_DEVICE T __shfl_up(T value, unsigned delta, int width = warpSize) {
  const unsigned own = beeswax::gpu::lane();
  return beeswax::gpu::shuffle(value, (own & static_cast<unsigned>(width - 1)) < delta ? own : own - delta);
}
// CUDA's names; the mask must name every thread of the wave.
template <class Mask, class T>
BW_DEVICE T __shfl_sync(Mask, T value, int lane, int width = warpSize) {
  return __shfl(value, lane, width);
}
template <class Mask, class T>
BW_DEVICE T __shfl_xor_sync(Mask, T value, int mask, int width = warpSize) {
  return __shfl_xor(value, mask, width);
}
template <class Mask, class T>
BW_DEVICE T __shfl_down_sync(Mask, T value, unsigned delta, int width = warpSize) {
  return __shfl_down(value, delta, width);
}
template <class Mask, class T>
BW_DEVICE T __shfl_up_sync(Mask, T value, unsigned delta, int width = warpSize) {
  return __shfl_up(value, delta, width);
}

// The pointer alone says of which type the values are, as overloads would.
template <class T>
struct BwValueOf {
  using Type = T;
};
template <class T>
using BwValue = typename BwValueOf<T>::Type;
template <class T>
BW_DEVICE T atomicAdd(T* at, BwValue<T> value) {
  return beeswax::gpu::atomic_add(at, value);
}
template <class T>
BW_DEVICE T atomicMax(T* at, BwValue<T> value) {
  return beeswax::gpu::atomic_max(at, value);
}
template <class T>
BW_DEVICE T atomicMin(T* at, BwValue<T> value) {
  return beeswax::gpu::atomic_min(at, value);
}
template <class T>
BW_DEVICE T atomicExch(T* at, BwValue<T> value) {
  return beeswax::gpu::atomic_exchange(at, value);
}
template <class T>
BW_DEVICE T atomicCAS(T* at, BwValue<T> expected, BwValue<T> desired) {
  return beeswax::gpu::atomic_swap_if(at, expected, desired);
}

// The C library's names for functions of core/math, for float with an f at the end and for double.
#define BW_RTC_UNARY(name, function)                                          \
  BW_DEVICE float name##f(float x) { return beeswax::m::function<float>(x); } \
  BW_DEVICE double name(double x) { return beeswax::m::function<double>(x); } \
  BW_DEVICE float name(float x) { return beeswax::m::function<float>(x); }
BW_RTC_UNARY(exp, exp)
BW_RTC_UNARY(exp2, exp2)
BW_RTC_UNARY(expm1, expm1)
BW_RTC_UNARY(log, log)
BW_RTC_UNARY(log2, log2)
BW_RTC_UNARY(log10, log10)
BW_RTC_UNARY(log1p, log1p)
BW_RTC_UNARY(sin, sin)
BW_RTC_UNARY(cos, cos)
BW_RTC_UNARY(sinh, sinh)
BW_RTC_UNARY(cosh, cosh)
BW_RTC_UNARY(tanh, tanh)
BW_RTC_UNARY(erf, erf)
BW_RTC_UNARY(erfc, erfc)
BW_RTC_UNARY(fabs, abs)
#undef BW_RTC_UNARY
// Functions of basic.h that are overloads.
#define BW_RTC_OVERLOADED(name, function)                              \
  BW_DEVICE float name##f(float x) { return beeswax::m::function(x); } \
  BW_DEVICE double name(double x) { return beeswax::m::function(x); }  \
  BW_DEVICE float name(float x) { return beeswax::m::function(x); }
BW_RTC_OVERLOADED(sqrt, sqrt)
BW_RTC_OVERLOADED(floor, floor)
BW_RTC_OVERLOADED(ceil, ceil)
BW_RTC_OVERLOADED(trunc, trunc)
BW_RTC_OVERLOADED(rint, round_even)
#undef BW_RTC_OVERLOADED
BW_DEVICE float powf(float x, float y) { return beeswax::m::pow(x, y); }
BW_DEVICE double pow(double x, double y) { return beeswax::m::pow(x, y); }
BW_DEVICE float fmaf(float a, float b, float c) { return beeswax::m::fma(a, b, c); }
BW_DEVICE double fma(double a, double b, double c) { return beeswax::m::fma(a, b, c); }
BW_DEVICE float rsqrtf(float x) { return 1.0f / beeswax::m::sqrt(x); }
// C's rule: the other argument where one is NaN.
BW_DEVICE float fmaxf(float a, float b) { return __builtin_fmaxf(a, b); }
BW_DEVICE float fminf(float a, float b) { return __builtin_fminf(a, b); }
BW_DEVICE double fmax(double a, double b) { return __builtin_fmax(a, b); }
BW_DEVICE double fmin(double a, double b) { return __builtin_fmin(a, b); }
template <class T>
BW_DEVICE T min(T a, T b) {
  return b < a ? b : a;
}
template <class T>
BW_DEVICE T max(T a, T b) {
  return a < b ? b : a;
}
