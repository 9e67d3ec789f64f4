// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace beeswax::gpu {

/// The `bytes` bytes that a zstd frame holds, believed only where the frame says the same; Format otherwise,
/// and Unsupported in a build without zstd. They are part of the library, so damage means a damaged file.
std::vector<std::byte> unpack_zstd(std::span<const std::byte> packed, size_t bytes);

/// The size that a zstd frame says its content has; nothing for bytes that are no such frame.
std::optional<size_t> zstd_size(std::span<const std::byte> packed);

}  // namespace beeswax::gpu
