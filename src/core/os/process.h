// SPDX-License-Identifier: Apache-2.0
// Other programs, and copies of this process.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace beeswax::os {

struct Finished {
  int status = 0;      ///< what it exited with; 128 and the signal's number where one ended it
  std::string output;  ///< standard output and error as they came
};

/// Runs a program, found by PATH where its name has no slash, without a shell and without input, in `folder`
/// (the current one where empty), with this process's environment but for the variables `without`, and waits
/// for it. Nothing where it cannot be started, which a silent exit with 127 means too.
std::optional<Finished> run_program(const std::vector<std::string>& command, const std::string& folder = {},
                                    std::span<const std::string_view> without = {});

/// Calls `fn` in every child that fork() makes from now on, before fork() returns there.
void in_forked_children(void (*fn)());

}  // namespace beeswax::os
