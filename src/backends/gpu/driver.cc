// SPDX-License-Identifier: Apache-2.0
#include "backends/gpu/driver.h"

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
    default:
      // Faults of kernels, broken contexts and lost devices: 700 to 719, and both vendors' "unknown".
      return (number >= 700 && number < 720) || number == 999 ? Code::Lost : Code::Other;
  }
}

std::string not_found(const os::Library& library, std::string_view product, std::string_view advice) {
  std::string text = join_text(product, " not found; ", advice);
  if (!library.reasons().empty()) text += join_text(" (", library.reasons().front(), ")");
  return text;
}

void check(const Driver& driver, Result result, std::string_view what) {
  if (result.ok()) return;
  const ErrorKind kind = result.code == Code::OutOfMemory ? ErrorKind::OutOfMemory : ErrorKind::Device;
  const std::string_view lost =
      result.code == Code::Lost ? "; this device is lost to the process, start it again" : "";
  fail(kind, "gpu", what, ": ", driver.error_text(result.number), lost);
}

}  // namespace beeswax::gpu
