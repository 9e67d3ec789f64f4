// SPDX-License-Identifier: Apache-2.0
#include "backends/gpu/rtc/sources.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "backends/gpu/unpack.h"
#include "core/embed.h"
#include "core/fail.h"

BW_EMBED(bw_kernel_sources, BW_KERNEL_SOURCES_FILE)

namespace beeswax::gpu::rtc {
namespace {

constexpr std::string_view kModules = "kernels/";
constexpr std::string_view kModuleEnd = ".cc";

Sources unpack() {
  std::span<const std::byte> packed(bw_kernel_sources_begin, bw_kernel_sources_end);
  std::vector<std::byte> plain;
  if (const std::optional<size_t> size = zstd_size(packed); size.has_value()) {
    plain = unpack_zstd(packed, *size);
    packed = plain;
  }
  Sources out;
  out.digest = Sha256::of(packed);
  while (!packed.empty()) {
    std::array<uint32_t, 2> sizes{};
    if (packed.size() >= sizeof(sizes)) std::memcpy(sizes.data(), packed.data(), sizeof(sizes));
    if (packed.size() < sizeof(sizes) + uint64_t{sizes[0]} + sizes[1])
      fail(ErrorKind::Format, "kernels", "the library's kernel sources are damaged");
    const auto* text = reinterpret_cast<const char*>(packed.data()) + sizeof(sizes);
    std::string name(text, sizes[0]);
    std::string body(text + sizes[0], sizes[1]);
    packed = packed.subspan(sizeof(sizes) + size_t{sizes[0]} + sizes[1]);
    if (name.starts_with(kModules) && name.ends_with(kModuleEnd)) {
      name = name.substr(kModules.size(), name.size() - kModules.size() - kModuleEnd.size());
      out.modules.push_back({std::move(name), std::move(body)});
    } else {
      out.headers.push_back({std::move(name), std::move(body)});
    }
  }
  return out;
}

}  // namespace

const Sources& Sources::embedded() {
  static const Sources sources = unpack();
  return sources;
}

const NamedText* Sources::module(std::string_view name) const {
  const auto found = std::ranges::find(modules, name, &NamedText::name);
  return found == modules.end() ? nullptr : &*found;
}

}  // namespace beeswax::gpu::rtc
