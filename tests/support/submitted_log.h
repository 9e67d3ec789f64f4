// SPDX-License-Identifier: Apache-2.0
// What a fake driver's device is given to do, a line for each piece of work: the stream's number and the
// work.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "fake_driver/fake_driver.h"

namespace beeswax::test {

using Log = std::vector<std::string>;

/// What note() has seen since the last taken().
inline Log submitted;
/// For the fake driver to call.
inline void note(const fake::Submitted& work) {
  submitted.push_back(std::to_string(work.stream) + " " + work.what);
}
inline Log taken() { return std::exchange(submitted, {}); }

}  // namespace beeswax::test
