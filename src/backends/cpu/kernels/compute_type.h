// SPDX-License-Identifier: Apache-2.0
// ComputeType: the types that arithmetic runs in. Narrow floats compute in f32.
#pragma once

#include <cstddef>
#include <cstdint>

namespace beeswax::cpu {

enum class ComputeType : uint8_t { U8, U32, I16, I32, I64, F32, F64 };
inline constexpr size_t kComputeTypes = 7;

}  // namespace beeswax::cpu

// BW_COMPUTE_TYPES(X) calls X(Name, ctype) for each compute type in the enum's order.
#define BW_COMPUTE_INT_TYPES(X) \
  X(U8, uint8_t) X(U32, uint32_t) X(I16, int16_t) X(I32, int32_t) X(I64, int64_t)
#define BW_COMPUTE_TYPES(X) BW_COMPUTE_INT_TYPES(X) X(F32, float) X(F64, double)
