// SPDX-License-Identifier: Apache-2.0
#include "core/os/symbols.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace beeswax::os {

std::string demangled(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> name(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && name != nullptr ? std::string(name.get()) : symbol;
}

}  // namespace beeswax::os
