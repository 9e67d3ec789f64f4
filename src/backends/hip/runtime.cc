// SPDX-License-Identifier: Apache-2.0
#include "backends/hip/runtime.h"

#include "core/fail.h"

namespace beeswax::hip {

std::string runtime_refusal(const os::Library& library, const gpu::DriverState& driver) {
  if (driver.driver == nullptr) return driver.reason;
  constexpr const char* kAnyFunction = "hipSetDevice";  // as the library sees it, in what it was linked with
  const os::Library ours(std::vector<std::string>{driver.driver->library});
  const void* theirs = library.symbol(kAnyFunction);
  if (theirs == nullptr || theirs == ours.symbol(kAnyFunction)) return "";
  return join_text(library.name(), " uses another HIP runtime than ", driver.driver->library,
                   "; install both of one release of ROCm, or name the other runtime in BEESWAX_HIP_LIBRARY");
}

}  // namespace beeswax::hip
