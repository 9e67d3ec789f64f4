// SPDX-License-Identifier: Apache-2.0
// The words of CUDA and HIP for kernels that clang compiles at run time with no vendor header at hand,
// included before the source: here what a kernel is marked with, where a thread stands, and barriers. NVRTC
// and hiprtc bring their own.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>

#include "kernels/gpu.h"
#include "kernels/rtc/atomics.h"
#include "kernels/rtc/functions.h"
#include "kernels/rtc/lanes.h"
#include "kernels/rtc/vectors.inc"

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
BW_DEVICE void __threadfence_block() {
#if BW_AMD
  __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup");
#else
  __nvvm_membar_cta();
#endif
}
BW_DEVICE void __threadfence_system() {
#if BW_AMD
  __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "");
#else
  __nvvm_membar_sys();
#endif
}

#define BW_RTC_MISSING(why) __attribute__((device, unavailable(why)))
// CUDA's only declaration with dots that clang takes on a machine without CUDA is C's printf.
extern "C" BW_RTC_MISSING("kernels cannot print here; write to a tensor") int printf(const char*, ...);
#undef BW_RTC_MISSING

// Headers that a source may include: tools/kernels/pack_sources.py finds them here.
#ifdef BW_RTC_PACKED
#include <assert.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>
#include <math.h>
#include <cmath>
#endif
