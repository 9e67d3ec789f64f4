// SPDX-License-Identifier: Apache-2.0
// The texts of our kernels and of their headers inside the library, as tools/kernels/pack_sources.py packs
// them: what kernels compiled at run time may include.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/sha256.h"

namespace beeswax::gpu::rtc {

/// A text and the name that sources include it by.
struct NamedText {
  std::string name;
  std::string text;
};

struct Sources {
  std::vector<NamedText> headers;
  std::vector<NamedText> modules;  ///< src/kernels/*.cc, by the names of the bundle's modules
  Sha256Digest digest;             ///< of all of them

  /// Those in the library; unpacked at the first call.
  static const Sources& embedded();
  /// The source of a module of ours, or null.
  const NamedText* module(std::string_view name) const;
};

}  // namespace beeswax::gpu::rtc
