// SPDX-License-Identifier: Apache-2.0
#include "backends/gpu/report.h"

#include "backends/gpu/blas/blas.h"
#include "backends/gpu/bundle.h"
#include "backends/gpu/coverage.h"
#include "backends/gpu/dnn/library.h"
#include "backends/gpu/driver.h"
#include "backends/gpu/rtc/compile.h"
#include "core/fail.h"
#include "core/os/library.h"

namespace beeswax::gpu {
namespace {

DeviceInfo none(std::string_view prefix, std::string reason) {
  DeviceInfo info;
  info.device = prefix;
  info.reason = std::move(reason);
  return info;
}

// The path where the system says it, for a name alone may stand for several files.
std::string file_of(const Driver& driver) {
  const std::string path = os::Library(std::vector<std::string>{driver.library}).path();
  return path.empty() ? driver.library : path;
}

}  // namespace

std::vector<DeviceInfo> report(DeviceKind kind, std::string_view prefix) {
  const DriverState& state = driver_for(kind);
  if (state.driver == nullptr) return {none(prefix, state.reason)};
  const Driver& driver = *state.driver;
  int count = 0;
  if (const Result result = driver.device_count(&count); !result.ok())
    return {none(prefix, join_text(driver.library, ": ", driver.error_text(result.number)))};
  if (count == 0) return {none(prefix, join_text(driver.library, " finds no device"))};
  const std::string library = file_of(driver);
  std::vector<DeviceInfo> out;
  for (int i = 0; i < count; ++i) {
    Properties properties;
    if (const Result result = driver.properties(i, &properties); !result.ok()) {
      out.push_back(none(join_text(prefix, ":", i), driver.error_text(result.number)));
      continue;
    }
    const Bundle& bundle = Bundle::embedded();
    const std::optional<size_t> target = bundle.target_for(properties.arch);
    DeviceInfo info;
    info.device =
        kind == DeviceKind::Emu ? join_text(prefix, ":", properties.arch) : join_text(prefix, ":", i);
    info.name = properties.name;
    info.arch = properties.arch;
    info.units = properties.units;
    info.driver = driver.version;
    info.library = library;
    if (target.has_value()) info.kernels = bundle.target_name(*target);
    info.memory_bytes = properties.memory_bytes;
    const rtc::Compiler* compiler = target.has_value() ? nullptr : rtc::compiler_of_ours(properties.arch);
    info.usable = target.has_value() || compiler != nullptr;
    info.detail =
        join_text(properties.arch, ", ", properties.units, " compute units, ", driver.version, ", kernels: ",
                  target.has_value()    ? info.kernels
                  : compiler != nullptr ? "compiled at first use by " + compiler->title()
                                        : "none");
    if (!info.usable) info.reason = "a " + why_uncovered(properties.arch);
    out.push_back(std::move(info));
  }
  return out;
}

size_t free_memory(DeviceKind kind, int ordinal) {
  const Driver* driver = driver_for(kind).driver;
  size_t free_bytes = 0, total_bytes = 0;
  Properties properties;
  // Where it is the host's memory, as CUDA's drivers tell, what files are cached in does not count as free.
  const bool told = driver != nullptr && driver->properties(ordinal, &properties).ok() &&
                    !properties.integrated && driver->use(ordinal).ok() &&
                    driver->memory_info(&free_bytes, &total_bytes).ok();
  return told ? free_bytes : 0;
}

std::string report_libraries(DeviceKind kind) {
  std::string text;
  for (const blas::Library* library : blas::libraries_for(kind)) text += blas::summary_of(*library) + ", ";
  return text + dnn::summary_of(dnn::library_for(kind));
}

}  // namespace beeswax::gpu
