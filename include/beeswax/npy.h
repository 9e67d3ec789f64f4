// SPDX-License-Identifier: Apache-2.0
// NumPy's files of one array (.npy).
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "beeswax/tensor.h"

namespace beeswax {

/// The array of a .npy file of version 1, 2 or 3, in either byte order. An array in Fortran's order becomes
/// a view with its axes reversed. bool becomes u8, int8 i16, uint16 u32, for want of a dtype of their own. Io
/// where the file cannot be opened, Format where it is not sound or has more than eight axes,
/// UnsupportedDType for arrays of other types (uint64, complex numbers, text, objects, records).
BW_API Tensor read_npy(const std::string& path, const Device& device = Device::default_device());
/// The same from memory; `name` stands in messages.
BW_API Tensor npy_from_bytes(std::span<const std::byte> bytes, std::string_view name,
                             const Device& device = Device::default_device());

/// Writes x as np.load reads it: version 1, little-endian, row-major. UnsupportedDType for dtypes that NumPy
/// does not have (bf16, f8e4m3 and the storage dtypes). The file appears under its name only once it is
/// whole; Io where that fails.
BW_API void write_npy(const Tensor& x, const std::string& path);
/// The same file in memory.
BW_API std::vector<std::byte> npy_to_bytes(const Tensor& x);

}  // namespace beeswax
