// SPDX-License-Identifier: Apache-2.0
// Lanes: eight floats side by side, for the scale searches. Each operation works on the lanes separately and
// total() adds them in one fixed order, so the bits do not depend on how wide the processor's vectors are.
#pragma once

#include "beeswax/portable.h"

namespace beeswax::quant {

struct Lanes {
#if defined(__AVX__)
  static constexpr int kParts = 1;
#else
  static constexpr int kParts = 2;
#endif
  typedef float Part __attribute__((vector_size(32 / kParts)));
  Part part[kParts];

  /// All lanes alike.
  BW_MEMBER_FN static Lanes all(float value) {
    Lanes out;
    for (int i = 0; i < kParts; ++i) out.part[i] = Part{} + value;
    return out;
  }
  BW_MEMBER_FN static Lanes load(const float* from) {
    Lanes out;
    __builtin_memcpy(out.part, from, sizeof(out.part));
    return out;
  }
  BW_MEMBER_FN void store(float* to) const { __builtin_memcpy(to, part, sizeof(part)); }
  /// Nearest integers, ties to even, of lanes below 2^22 in magnitude.
  BW_MEMBER_FN Lanes rounded() const {
    Lanes out;
    for (int i = 0; i < kParts; ++i) out.part[i] = (part[i] + 12582912.0f) - 12582912.0f;
    return out;
  }
  BW_MEMBER_FN Lanes clamped(float low, float high) const {
    Lanes out;
    for (int i = 0; i < kParts; ++i) {
      const Part least = Part{} + low, most = Part{} + high;
      const Part above = part[i] < least ? least : part[i];
      out.part[i] = above > most ? most : above;
    }
    return out;
  }
  BW_MEMBER_FN float total() const {
    float lane[8];
    __builtin_memcpy(lane, part, sizeof(lane));
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
  }
};

BW_FN Lanes operator+(const Lanes& a, const Lanes& b) {
  Lanes out;
  for (int i = 0; i < Lanes::kParts; ++i) out.part[i] = a.part[i] + b.part[i];
  return out;
}
BW_FN Lanes operator-(const Lanes& a, const Lanes& b) {
  Lanes out;
  for (int i = 0; i < Lanes::kParts; ++i) out.part[i] = a.part[i] - b.part[i];
  return out;
}
BW_FN Lanes operator*(const Lanes& a, const Lanes& b) {
  Lanes out;
  for (int i = 0; i < Lanes::kParts; ++i) out.part[i] = a.part[i] * b.part[i];
  return out;
}

}  // namespace beeswax::quant
