// SPDX-License-Identifier: Apache-2.0
#include "beeswax/device.h"

#include <algorithm>
#include <charconv>

#include "core/fail.h"

namespace beeswax {
namespace {

enum class Takes { None, Ordinal, Arch };

struct Row {
  std::string_view prefix;
  Takes takes;
};

constexpr Row kRows[] = {
#define BW_BACKEND(Name, prefix, takes) {#prefix, Takes::takes},
#include "tables/backends.def"
};

[[noreturn]] void refuse(std::string_view text, std::string_view why) {
  fail(ErrorKind::InvalidArgument, "device", "'", text, "' is not a device: ", why,
       " (accepted: cpu, cuda:0, rocm:0, emu:gfx1100)");
}

bool is_arch(std::string_view arch) {
  return arch.starts_with("gfx") && arch.size() > 3 && arch.size() < 16 &&
         std::ranges::all_of(arch, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); });
}

thread_local Device thread_default;

}  // namespace

Device Device::default_device() { return thread_default; }

void Device::make_default() const { thread_default = *this; }

Device Device::parse(std::string_view text) {
  const size_t colon = text.find(':');
  const std::string_view prefix = text.substr(0, colon);
  const bool has_argument = colon != std::string_view::npos;
  const std::string_view argument = has_argument ? text.substr(colon + 1) : std::string_view();
  const auto* found = std::ranges::find(kRows, prefix, &Row::prefix);
  if (found == std::end(kRows)) refuse(text, "unknown kind");
  Device device;
  device.kind_ = static_cast<DeviceKind>(found - std::begin(kRows));
  switch (found->takes) {
    case Takes::None:
      if (has_argument) refuse(text, "the CPU takes no number");
      break;
    case Takes::Ordinal: {
      if (!has_argument) break;
      const char* end = argument.data() + argument.size();
      const auto [stop, error] = std::from_chars(argument.data(), end, device.ordinal_);
      if (error != std::errc() || stop != end || argument[0] == '-' || device.ordinal_ > 255)
        refuse(text, "the number after the colon must be from 0 to 255");
      break;
    }
    case Takes::Arch:
      if (!is_arch(argument)) refuse(text, "name an architecture after the colon");
      std::ranges::copy(argument, device.arch_.begin());
      break;
  }
  return device;
}

std::string Device::to_string() const {
  const Row& row = kRows[static_cast<size_t>(kind_)];
  switch (row.takes) {
    case Takes::Ordinal:
      return join_text(row.prefix, ":", ordinal_);
    case Takes::Arch:
      return join_text(row.prefix, ":", arch());
    case Takes::None:
      break;
  }
  return std::string(row.prefix);
}

}  // namespace beeswax
