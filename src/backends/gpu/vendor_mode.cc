// SPDX-License-Identifier: Apache-2.0
#include "backends/gpu/vendor_mode.h"

#include <cstdlib>
#include <string_view>

#include "core/fail.h"

namespace beeswax::gpu {

VendorMode VendorVariable::mode() {
  int mode = mode_.load(std::memory_order_relaxed);
  if (mode == kUnread) {
    mode = static_cast<int>(mode_of(std::getenv(name_)));
    int unread = kUnread;
    if (!mode_.compare_exchange_strong(unread, mode)) mode = unread;
  }
  return static_cast<VendorMode>(mode);
}

VendorMode VendorVariable::mode_of(const char* text) const {
  const std::string_view word = text == nullptr ? "" : text;
  if (word.empty() || word == "auto") return VendorMode::Auto;
  if (word == "own") return VendorMode::Own;
  if (word == "vendor") return VendorMode::Vendor;
  fail(ErrorKind::InvalidArgument, operation_, name_, " is '", word, "'; accepted: own, vendor, auto");
}

}  // namespace beeswax::gpu
