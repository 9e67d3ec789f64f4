// SPDX-License-Identifier: Apache-2.0
#include "backends/gpu/driver.h"

#include <cstdlib>

#include "backends/cuda/driver.h"
#include "backends/gpu/api_load.h"
#include "backends/hip/driver.h"
#include "core/fail.h"

namespace beeswax::gpu {

const DriverState& driver_for(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::Cuda:
      return cuda::cuda_driver();
    case DeviceKind::Rocm:
      return hip::rocm_driver();
    case DeviceKind::Emu:
      return hip::emu_driver();
    case DeviceKind::Cpu:
      break;
  }
  fail(ErrorKind::Internal, "device", "the CPU has no GPU driver");
}

Code code_of(int number) {
  switch (number) {
    case 0:
      return Code::Ok;
    case 1:
      return Code::Refused;
    case 2:
      return Code::OutOfMemory;
    case 100:
    case 101:
      return Code::NoDevice;
    case 200:
    case 209:
    case 218:
    case 222:
      return Code::BadImage;
    case 98:
    case 500:
      return Code::NotFound;
    case 600:
      return Code::NotReady;
    case 214:  // memory that cannot be corrected, a broken link between cards
    case 220:
    case 700:  // an illegal address, a timeout, a destroyed context, a failed assertion
    case 702:
    case 709:
    case 710:
    case 714:  // faults of the card's stack, instructions, addresses, program counter; a failed launch
    case 715:
    case 716:
    case 717:
    case 718:
    case 719:
    case 999:  // "unknown"
      return Code::Lost;
    default:
      return Code::Other;
  }
}

std::string not_found(const os::Library& library, std::string_view product, std::string_view advice) {
  std::string text = join_text(product, library.is_there() ? " does not open; " : " not found; ", advice);
  if (!library.reason().empty()) text += join_text(" (", library.reason(), ")");
  return text;
}

std::vector<std::string> library_names(const char* variable, std::vector<std::string> names) {
  if (const char* given = std::getenv(variable); given != nullptr && *given != 0) return {given};
  return names;
}

OptionalLibrary::OptionalLibrary(const Wanted& wanted)
    : library_(library_names(wanted.variable, wanted.names)),
      advice_(join_text(wanted.advice, ", or name the file in ", wanted.variable)) {
  if (!library_.is_open()) reason_ = not_found(library_, wanted.product, advice_);
}

void OptionalLibrary::lacks(const std::string& functions) {
  reason_ = join_text(library_.name(), " lacks ", functions, "; ", advice_);
}

namespace {
std::string_view advice_for(Code code) {
  switch (code) {
    case Code::OutOfMemory:
      return "; use a smaller size or free memory";
    case Code::NoDevice:
      return "; `beeswax devices` shows what there is";
    case Code::BadImage:
      return "; update the driver, or use a build for this device (-DBW_GPU_TARGETS=all)";
    case Code::NotFound:
    case Code::Refused:
      return "; please report this";
    case Code::Lost:
      return "; this device is lost to the process, start it again";
    default:
      return "";
  }
}
}  // namespace

void check(const Driver& driver, Result result, std::string_view what) {
  if (result.ok()) return;
  const ErrorKind kind = result.code == Code::OutOfMemory ? ErrorKind::OutOfMemory : ErrorKind::Device;
  fail(kind, "gpu", what, ": ", driver.error_text(result.number), advice_for(result.code));
}

void use_device(const Driver& driver, int ordinal) {
  // Asked each time, for other libraries of the process change a thread's device too.
  check(driver, driver.use(ordinal), "using the device");
}

}  // namespace beeswax::gpu
