// SPDX-License-Identifier: Apache-2.0
// Which matrix units a family of GPUs has, as src/kernels/mma uses them.
#pragma once

#include <cstdint>
#include <string_view>

namespace beeswax::gpu {

/// What units multiply, as bits of a set: f16 and bf16, bytes, f64, f32 rounded to 11 bits.
enum MatrixUnit : uint32_t { kHalfUnit = 1, kByteUnit = 2, kF64Unit = 4, kTf32Unit = 8 };

/// Those of a chip ("gfx942", "sm_90"), or those whose kernels a target of the bundle has (chips and
/// "ptx_80"); none for chips that are not known. A build holds kernels to it: BW_ONLY of cmake/kernels.cmake;
/// tests/tools/matrix_units_test.py compares the lists.
uint32_t matrix_units(std::string_view name);

}  // namespace beeswax::gpu
