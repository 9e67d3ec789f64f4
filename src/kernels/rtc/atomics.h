// SPDX-License-Identifier: Apache-2.0
// The atomics of CUDA and HIP, for clang: relaxed, seen by the whole device; each gives what stood there. The
// pointer alone says of which type the values are, as overloads would.
#pragma once

#include "kernels/atomics.h"

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

#if BW_AMD
#define BW_RTC_FETCH(name, at, value) \
  __hip_atomic_fetch_##name(at, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)
#else
#define BW_RTC_FETCH(name, at, value) __atomic_fetch_##name(at, value, __ATOMIC_RELAXED)
#endif
template <class T>
BW_DEVICE T atomicSub(T* at, BwValue<T> value) {
  return BW_RTC_FETCH(sub, at, value);
}
template <class T>
BW_DEVICE T atomicAnd(T* at, BwValue<T> value) {
  return BW_RTC_FETCH(and, at, value);
}
template <class T>
BW_DEVICE T atomicOr(T* at, BwValue<T> value) {
  return BW_RTC_FETCH(or, at, value);
}
template <class T>
BW_DEVICE T atomicXor(T* at, BwValue<T> value) {
  return BW_RTC_FETCH(xor, at, value);
}
#undef BW_RTC_FETCH

// One more, and zero after `most`; one less, and `most` after zero or where more than it stands.
BW_DEVICE unsigned atomicInc(unsigned* at, unsigned most) {
#if BW_AMD
  return __builtin_amdgcn_atomic_inc32(at, most, __ATOMIC_RELAXED, "agent");
#else
  return __nvvm_atom_inc_gen_ui(at, most);
#endif
}
BW_DEVICE unsigned atomicDec(unsigned* at, unsigned most) {
#if BW_AMD
  return __builtin_amdgcn_atomic_dec32(at, most, __ATOMIC_RELAXED, "agent");
#else
  return __nvvm_atom_dec_gen_ui(at, most);
#endif
}
