// SPDX-License-Identifier: Apache-2.0
// The operators that follow from +, -, *, / and the conversion to float: of a type of kernels that has those.
#pragma once

#include "kernels/gpu.h"

#define BW_RTC_OPERATORS(T)                                                                      \
  BW_DEVICE T& operator+=(T& a, T b) { return a = a + b; }                                       \
  BW_DEVICE T& operator-=(T& a, T b) { return a = a - b; }                                       \
  BW_DEVICE T& operator*=(T& a, T b) { return a = a * b; }                                       \
  BW_DEVICE T& operator/=(T& a, T b) { return a = a / b; }                                       \
  BW_DEVICE T operator+(T a) { return a; }                                                       \
  BW_DEVICE T operator-(T a) { return -static_cast<float>(a); }                                  \
  BW_DEVICE bool operator==(T a, T b) { return static_cast<float>(a) == static_cast<float>(b); } \
  BW_DEVICE bool operator!=(T a, T b) { return static_cast<float>(a) != static_cast<float>(b); } \
  BW_DEVICE bool operator<(T a, T b) { return static_cast<float>(a) < static_cast<float>(b); }   \
  BW_DEVICE bool operator<=(T a, T b) { return static_cast<float>(a) <= static_cast<float>(b); } \
  BW_DEVICE bool operator>(T a, T b) { return static_cast<float>(a) > static_cast<float>(b); }   \
  BW_DEVICE bool operator>=(T a, T b) { return static_cast<float>(a) >= static_cast<float>(b); }
