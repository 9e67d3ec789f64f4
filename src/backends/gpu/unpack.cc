// SPDX-License-Identifier: Apache-2.0
#include "backends/gpu/unpack.h"

#ifdef BW_ZSTD
#include <zstd.h>
#endif

#include "core/fail.h"

namespace beeswax::gpu {

#ifdef BW_ZSTD
std::vector<std::byte> unpack_zstd(std::span<const std::byte> packed, size_t bytes) {
  const auto damaged = [](std::string_view what) {
    fail(ErrorKind::Format, "kernels", "the library's GPU kernels are damaged: ", what);
  };
  if (zstd_size(packed) != bytes) damaged("a module's size is wrong");
  std::vector<std::byte> out(bytes);
  const size_t made = ZSTD_decompress(out.data(), out.size(), packed.data(), packed.size());
  if (ZSTD_isError(made) != 0 || made != out.size()) damaged("a module does not unpack");
  return out;
}

std::optional<size_t> zstd_size(std::span<const std::byte> packed) {
  const uint64_t size = ZSTD_getFrameContentSize(packed.data(), packed.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN) return std::nullopt;
  return size;
}
#else
std::vector<std::byte> unpack_zstd(std::span<const std::byte> packed, size_t) {
  fail(ErrorKind::Unsupported, "kernels", packed.size(), " bytes are compressed, and this build has no zstd");
}

std::optional<size_t> zstd_size(std::span<const std::byte>) { return std::nullopt; }
#endif

}  // namespace beeswax::gpu
