// SPDX-License-Identifier: Apache-2.0
// One instruction as LLVM prints it, cut into mnemonic, operands and modifiers.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace emu::exec {

struct Text {
  std::string mnemonic;  // without _e32, _e64, _dpp, _sdwa
  std::vector<std::string> operands;
  std::vector<std::string> modifiers;  // "offset:16", "clamp", "op_sel:[0,1]"
  bool e32 = false, e64 = false, dpp = false, sdwa = false;

  bool has(std::string_view modifier) const;
  /// What follows "name:", or nothing.
  std::optional<std::string_view> value(std::string_view name) const;
  std::optional<int64_t> number(std::string_view name) const;
  /// The elements of "name:[1,0,..]"; empty when absent.
  std::vector<int> list(std::string_view name) const;
};

/// The parts of a line; VOPD's halves, parted by "::", must be given one by one.
Text parse_text(std::string_view line);
std::optional<int64_t> parse_integer(std::string_view text);

}  // namespace emu::exec
