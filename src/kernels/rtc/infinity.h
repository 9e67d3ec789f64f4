// SPDX-License-Identifier: Apache-2.0
// The macros of <cmath>, which NVRTC and hiprtc lack.
#pragma once

#undef INFINITY
#undef NAN
#ifdef __CUDACC_RTC__
#define INFINITY __int_as_float(0x7f800000)
#define NAN __int_as_float(0x7fc00000)
#else
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#endif
