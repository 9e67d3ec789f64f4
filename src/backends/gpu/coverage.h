// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace beeswax::gpu {

/// Of a chip that the library has no code for and no compiler: "gfx906, for which this build has no kernels;
/// ..." and what would have them, where anything has.
std::string why_uncovered(std::string_view arch);

}  // namespace beeswax::gpu
