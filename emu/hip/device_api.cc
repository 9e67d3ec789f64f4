// SPDX-License-Identifier: Apache-2.0
// Devices, their properties, peers and contexts, versions and errors.
#include <dlfcn.h>

#include <climits>
#include <cstdio>
#include <cstring>

#include "emu/hip/device.h"
#include "emu/hip/launch.h"
#include "emu/hip/properties.h"
#include "emu/hip/runtime.h"
#include "emu/hip/tables.h"

namespace emu::hip {
namespace {

constexpr int kThreadsPerBlock = 1024;
constexpr uint32_t kTimerKhz = 100000;
// Of hipDeviceArch_t's 17 bits: everything but funnel shift, surfaces and launches by kernels.
constexpr uint32_t kArchBits = 0x1ffff & ~(1u << 11 | 1u << 14 | 1u << 16);
constexpr int kNoSuchAttribute = INT_MIN;

// hipLimit_t: what there is of it.
enum Limit { kPrintBytes = 1, kMallocHeapSize = 2 };
Limit limit(int which) {
  require(which == kPrintBytes || which == kMallocHeapSize, hipErrorUnsupportedLimit, "no such limit");
  return static_cast<Limit>(which);
}

// "gfx90a" -> 9, 0: what HIP calls a compute capability.
int major_of(const Chip& chip) {
  return std::atoi(std::string(chip.name + 3, std::strlen(chip.name) - 5).c_str());
}
int minor_of(const Chip& chip) { return chip.name[std::strlen(chip.name) - 2] - '0'; }
int threads_per_multiprocessor(const Chip& chip) {
  return static_cast<int>(chip.waves_per_simd * chip.simds_per_unit * chip.wave_size() *
                          (chip.rdna() ? 2 : 1));
}
bool integrated(const Chip& chip) { return std::strcmp(chip.name, "gfx1151") == 0; }

template <class Properties>
void fill_common(Properties& p, const Device& device) {
  const Chip& chip = device.chip();
  std::memset(&p, 0, sizeof p);
  std::snprintf(p.name, sizeof p.name, "%s", chip.board);
  std::snprintf(p.gcnArchName, sizeof p.gcnArchName, "%s", chip.target().c_str());
  p.totalGlobalMem = device.memory_bytes();
  p.sharedMemPerBlock = chip.lds_bytes();
  p.regsPerBlock = 65536;
  p.warpSize = static_cast<int>(chip.wave_size());
  p.maxThreadsPerBlock = kThreadsPerBlock;
  for (int i = 0; i < 3; ++i) p.maxThreadsDim[i] = kThreadsPerBlock;
  p.maxGridSize[0] = INT_MAX;
  p.maxGridSize[1] = p.maxGridSize[2] = static_cast<int>(kMostBlocksYZ);
  p.clockRate = static_cast<int>(chip.clock_khz);
  p.memoryClockRate = static_cast<int>(chip.memory_clock_khz);
  p.memoryBusWidth = static_cast<int>(chip.bus_bits);
  p.totalConstMem = INT_MAX;
  p.major = major_of(chip);
  p.minor = minor_of(chip);
  p.multiProcessorCount = static_cast<int>(chip.multiprocessors());
  p.l2CacheSize = static_cast<int>(chip.l2_bytes);
  p.maxThreadsPerMultiProcessor = threads_per_multiprocessor(chip);
  p.clockInstructionRate = static_cast<int>(kTimerKhz);
  p.arch = kArchBits;
  p.concurrentKernels = p.cooperativeLaunch = 1;
  p.pciBusID = device.index() + 1;
  p.maxSharedMemoryPerMultiProcessor = chip.lds_bytes();
  p.canMapHostMemory = 1;
  p.integrated = integrated(chip);
  p.memPitch = INT_MAX;
  p.textureAlignment = 256;
  p.texturePitchAlignment = 256;
  p.ECCEnabled = !chip.rdna();
  p.isLargeBar = 1;
  p.managedMemory = 1;
  p.concurrentManagedAccess = 0;
}

int attribute(const Device& device, int which) {
  const Chip& chip = device.chip();
  PropertiesRocm6 p;
  fill_common(p, device);
  const auto capped = [](uint64_t value) { return static_cast<int>(std::min<uint64_t>(value, INT_MAX)); };
  switch (which) {
    case kEccEnabled:
      return p.ECCEnabled;
    case kCanMapHostMemory:
    case kCanUseHostPointerForRegisteredMem:
    case kConcurrentKernels:
    case kCooperativeLaunch:
    case kManagedMemory:
    case kUnifiedAddressing:
    case kStreamPrioritiesSupported:
    case kMemoryPoolsSupported:
    case kHostRegisterSupported:
    case kIsLargeBar:
    case kHostNativeAtomicSupported:
    case kFineGrainSupport:
      return 1;
    case kClockRate:
      return p.clockRate;
    case kIntegrated:
      return p.integrated;
    case kL2CacheSize:
      return p.l2CacheSize;
    case kComputeCapabilityMajor:
      return p.major;
    case kComputeCapabilityMinor:
      return p.minor;
    case kMaxBlockDimX:
    case kMaxBlockDimY:
    case kMaxBlockDimZ:
    case kMaxThreadsDim:
    case kMaxThreadsPerBlock:
      return kThreadsPerBlock;
    case kMaxGridDimX:
      return INT_MAX;
    case kMaxGridDimY:
    case kMaxGridDimZ:
      return static_cast<int>(kMostBlocksYZ);
    case kMaxThreadsPerMultiProcessor:
      return p.maxThreadsPerMultiProcessor;
    case kMaxBlocksPerMultiProcessor:
      return static_cast<int>(chip.waves_per_simd * chip.simds_per_unit);
    case kMaxPitch:
      return INT_MAX;
    case kMemoryBusWidth:
      return p.memoryBusWidth;
    case kMemoryClockRate:
      return p.memoryClockRate;
    case kMultiprocessorCount:
      return p.multiProcessorCount;
    case kPhysicalMultiProcessorCount:
      return p.multiProcessorCount;
    case kPciBusId:
      return p.pciBusID;
    case kPciDeviceId:
    case kPciDomainId:
      return 0;
    case kMaxRegistersPerBlock:
    case kMaxRegistersPerMultiprocessor:
      return p.regsPerBlock;
    case kMaxSharedMemoryPerBlock:
    case kSharedMemPerBlockOptin:
    case kSharedMemPerMultiprocessor:
    case kMaxSharedMemoryPerMultiprocessor:
      return static_cast<int>(chip.lds_bytes());
    case kTextureAlignment:
    case kTexturePitchAlignment:
      return 256;
    case kTotalConstantMemory:
      return INT_MAX;
    case kTotalGlobalMem:
      return capped(device.memory_bytes());
    case kWarpSize:
      return p.warpSize;
    case kClockInstructionRate:
    case kWallClockRate:
      return p.clockInstructionRate;
    case kArch:
      return static_cast<int>(kArchBits);
    case kGcnArch:
      return std::atoi(chip.name + 3);
    default:
      break;
  }
  // Everything else that has a name is a thing these devices do not have.
  const bool known = (which >= 0 && which <= kMemoryPoolSupportedHandleTypes) ||
                     (which >= kClockInstructionRate && which <= kWallClockRate);
  return known ? 0 : kNoSuchAttribute;
}

struct Uuid {
  char bytes[16];
};

Uuid uuid_of(const Device& device) {
  Uuid uuid;
  std::snprintf(uuid.bytes, sizeof uuid.bytes, "EMU-%02d-%s", device.index(), device.chip().name);
  return uuid;
}

int version_number() {
  // Major, minor and patch as HIP packs them; the minor ones are those that the symbol versions cover.
  switch (Runtime::get().settings().rocm) {
    case 5:
      return 50221153;
    case 7:
      return 70025000;
    default:
      return 60240091;
  }
}

}  // namespace
}  // namespace emu::hip

using namespace emu::hip;

EMU_API int hipInit(unsigned flags) {
  return api("hipInit", [&] {
    require(flags == 0, hipErrorInvalidValue, "flags must be 0");
    require(Runtime::get().device_count() > 0, hipErrorNoDevice, "no device is visible");
  });
}

EMU_API int hipDriverGetVersion(int* version) {
  return api("hipDriverGetVersion", [&] {
    require(version != nullptr, hipErrorInvalidValue);
    *version = version_number();
  });
}
EMU_API int hipRuntimeGetVersion(int* version) { return hipDriverGetVersion(version); }

EMU_API int hipGetDeviceCount(int* count) {
  return api("hipGetDeviceCount", [&] {
    require(count != nullptr, hipErrorInvalidValue);
    *count = Runtime::get().device_count();
    require(*count > 0, hipErrorNoDevice, "no device is visible");
  });
}
EMU_API int hipGetDevice(int* device) {
  return api("hipGetDevice", [&] {
    require(device != nullptr, hipErrorInvalidValue);
    Runtime::get().current();
    *device = Runtime::get().current_index();
  });
}
EMU_API int hipSetDevice(int device) {
  return api("hipSetDevice", [&] { Runtime::get().set_current(device); });
}
EMU_API int hipDeviceGet(int* device, int ordinal) {
  return api("hipDeviceGet", [&] {
    require(device != nullptr, hipErrorInvalidValue);
    *device = Runtime::get().device(ordinal).index();
  });
}

EMU_API int hipDeviceGetName(char* name, int bytes, int device) {
  return api("hipDeviceGetName", [&] {
    require(name != nullptr && bytes > 0, hipErrorInvalidValue, "no room for the name");
    std::snprintf(name, static_cast<size_t>(bytes), "%s", Runtime::get().device(device).chip().board);
  });
}
EMU_API int hipDeviceTotalMem(size_t* bytes, int device) {
  return api("hipDeviceTotalMem", [&] {
    require(bytes != nullptr, hipErrorInvalidValue);
    *bytes = Runtime::get().device(device).memory_bytes();
  });
}
EMU_API int hipDeviceGetUuid(Uuid* uuid, int device) {
  return api("hipDeviceGetUuid", [&] {
    require(uuid != nullptr, hipErrorInvalidValue);
    *uuid = uuid_of(Runtime::get().device(device));
  });
}
EMU_API int hipDeviceComputeCapability(int* major, int* minor, int device) {
  return api("hipDeviceComputeCapability", [&] {
    require(major != nullptr && minor != nullptr, hipErrorInvalidValue);
    const emu::Chip& chip = Runtime::get().device(device).chip();
    *major = major_of(chip);
    *minor = minor_of(chip);
  });
}
EMU_API int hipDeviceGetPCIBusId(char* text, int bytes, int device) {
  return api("hipDeviceGetPCIBusId", [&] {
    require(text != nullptr && bytes > 0, hipErrorInvalidValue, "no room for the text");
    std::snprintf(text, static_cast<size_t>(bytes), "%04x:%02x:%02x.0", 0u,
                  static_cast<unsigned>(Runtime::get().device(device).index() + 1), 0u);
  });
}
EMU_API int hipDeviceGetByPCIBusId(int* device, const char* text) {
  return api("hipDeviceGetByPCIBusId", [&] {
    require(device != nullptr && text != nullptr, hipErrorInvalidValue);
    unsigned domain = 0, bus = 0;
    require(std::sscanf(text, "%x:%x:", &domain, &bus) == 2 && domain == 0, hipErrorInvalidValue,
            "not a bus number of these");
    *device = Runtime::get().device(static_cast<int>(bus) - 1).index();
  });
}

EMU_API int hipDeviceGetAttribute(int* value, int which, int device) {
  return api("hipDeviceGetAttribute", [&] {
    require(value != nullptr, hipErrorInvalidValue);
    const int found = attribute(Runtime::get().device(device), which);
    require(found != kNoSuchAttribute, hipErrorInvalidValue, "no such attribute");
    *value = found;
  });
}

EMU_API int hipGetDeviceProperties(PropertiesRocm5* properties, int device) {
  return api("hipGetDeviceProperties", [&] {
    require(properties != nullptr, hipErrorInvalidValue);
    const Device& found = Runtime::get().device(device);
    fill_common(*properties, found);
    properties->gcnArch = std::atoi(found.chip().name + 3);
  });
}
EMU_API int hipGetDevicePropertiesR0000(PropertiesRocm5* properties, int device) {
  return hipGetDeviceProperties(properties, device);
}

EMU_API int hipGetDevicePropertiesR0600(PropertiesRocm6* properties, int device) {
  return api("hipGetDevicePropertiesR0600", [&] {
    require(properties != nullptr, hipErrorInvalidValue);
    const Device& found = Runtime::get().device(device);
    PropertiesRocm6& p = *properties;
    fill_common(p, found);
    std::memcpy(p.uuid, uuid_of(found).bytes, sizeof p.uuid);
    p.unifiedAddressing = p.streamPrioritiesSupported = p.hostNativeAtomicSupported = p.memoryPoolsSupported =
        1;
    p.canUseHostPointerForRegisteredMem = p.hostRegisterSupported = 1;
    p.sharedMemPerMultiprocessor = p.sharedMemPerBlockOptin = p.sharedMemPerBlock;
    p.regsPerMultiprocessor = p.regsPerBlock;
    p.maxBlocksPerMultiProcessor = attribute(found, kMaxBlocksPerMultiProcessor);
  });
}

EMU_API int hipDeviceSynchronize() {
  return api("hipDeviceSynchronize", [&] {
    forbid_while_capturing();
    Device& device = Runtime::get().current();
    device.synchronize();
    device.check();
  });
}
EMU_API int hipDeviceReset() {
  return api("hipDeviceReset", [&] {
    forbid_while_capturing();
    Runtime::get().current().reset();
  });
}

EMU_API int hipDeviceGetLimit(size_t* value, int which) {
  return api("hipDeviceGetLimit", [&] {
    require(value != nullptr, hipErrorInvalidValue);
    Device& device = Runtime::get().current();
    *value = limit(which) == kMallocHeapSize ? device.memory_bytes() : device.print_bytes();
  });
}
EMU_API int hipDeviceSetLimit(int which, size_t value) {
  return api("hipDeviceSetLimit", [&] {
    Device& device = Runtime::get().current();
    // Kernels allocate from the device's memory, as long as there is some.
    if (limit(which) == kMallocHeapSize) return;
    require(value > 0 && value <= UINT32_MAX / 2, hipErrorInvalidValue);
    device.set_print_bytes((value + 7) / 8 * 8);
  });
}

EMU_API int hipGetDeviceFlags(unsigned* flags) {
  return api("hipGetDeviceFlags", [&] {
    require(flags != nullptr, hipErrorInvalidValue);
    *flags = 0;
  });
}
EMU_API int hipSetDeviceFlags(unsigned flags) {
  // How the host waits: there is one way.
  return api("hipSetDeviceFlags",
             [&] { require((flags & ~0x1fu) == 0, hipErrorInvalidValue, "unknown flags"); });
}
EMU_API int hipDeviceSetCacheConfig(int) {
  return api("hipDeviceSetCacheConfig", [] {});
}
EMU_API int hipDeviceGetCacheConfig(int* config) {
  return api("hipDeviceGetCacheConfig", [&] {
    require(config != nullptr, hipErrorInvalidValue);
    *config = 0;
  });
}
EMU_API int hipDeviceSetSharedMemConfig(int) {
  return api("hipDeviceSetSharedMemConfig", [] {});
}
EMU_API int hipDeviceGetSharedMemConfig(int* config) {
  return api("hipDeviceGetSharedMemConfig", [&] {
    require(config != nullptr, hipErrorInvalidValue);
    *config = 1;  // banks of four bytes
  });
}

EMU_API int hipDeviceCanAccessPeer(int* can, int device, int peer) {
  return api("hipDeviceCanAccessPeer", [&] {
    require(can != nullptr, hipErrorInvalidValue);
    *can = &Runtime::get().device(device) != &Runtime::get().device(peer);
  });
}
EMU_API int hipDeviceEnablePeerAccess(int peer, unsigned flags) {
  return api("hipDeviceEnablePeerAccess", [&] {
    Device &mine = Runtime::get().current(), &other = Runtime::get().device(peer);
    require(flags == 0 && &mine != &other, hipErrorInvalidValue, "flags, or the device itself");
    require(mine.add_peer(peer), hipErrorPeerAccessAlreadyEnabled);
    mine.memory().set_peer(&other.memory(), true);
  });
}
EMU_API int hipDeviceDisablePeerAccess(int peer) {
  return api("hipDeviceDisablePeerAccess", [&] {
    Device &mine = Runtime::get().current(), &other = Runtime::get().device(peer);
    require(mine.remove_peer(peer), hipErrorPeerAccessNotEnabled);
    mine.synchronize();
    mine.memory().set_peer(&other.memory(), false);
  });
}
EMU_API int hipDeviceGetP2PAttribute(int* value, int which, int device, int peer) {
  return api("hipDeviceGetP2PAttribute", [&] {
    require(value != nullptr && which >= 0 && which <= 3, hipErrorInvalidValue, "no such attribute");
    require(&Runtime::get().device(device) != &Runtime::get().device(peer), hipErrorInvalidDevice,
            "twice the same device");
    *value = which == 1 || which == 2;  // access, and native atomics
  });
}

EMU_API const char* hipGetErrorName(int code) {
  const char* name = error_name(code);
  return name != nullptr ? name : "hipErrorUnknown";
}
EMU_API const char* hipGetErrorString(int code) {
  const char* text = error_text(code);
  return text != nullptr ? text : "unrecognized error code";
}
EMU_API int hipDrvGetErrorName(int code, const char** name) {
  return api("hipDrvGetErrorName", [&] {
    require(name != nullptr, hipErrorInvalidValue);
    *name = error_name(code);
    require(*name != nullptr, hipErrorInvalidValue, "no such code");
  });
}
EMU_API int hipDrvGetErrorString(int code, const char** text) {
  return api("hipDrvGetErrorString", [&] {
    require(text != nullptr, hipErrorInvalidValue);
    *text = error_text(code);
    require(*text != nullptr, hipErrorInvalidValue, "no such code");
  });
}
EMU_API int hipGetLastError() { return last_error_of_thread(true); }
EMU_API int hipExtGetLastError() { return last_error_of_thread(true); }
EMU_API int hipPeekAtLastError() { return last_error_of_thread(false); }

EMU_API int hipGetProcAddress(const char* name, void** function, int, uint64_t, int* status) {
  return api("hipGetProcAddress", [&] {
    require(name != nullptr && function != nullptr, hipErrorInvalidValue, "a null pointer");
    // By this library's own handle, so that no other one's functions are found.
    Dl_info info;
    require(dladdr(reinterpret_cast<void*>(&hipGetLastError), &info) != 0, hipErrorNotFound);
    void* library = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    require(library != nullptr, hipErrorNotFound, "this is no shared library");
    *function = dlsym(library, name);
    dlclose(library);
    if (status != nullptr) *status = *function != nullptr ? 0 : 1;
    require(*function != nullptr, hipErrorNotFound, name);
  });
}

// Contexts: each device has its primary one, whose handle is the device's own.
EMU_API int hipDevicePrimaryCtxRetain(Device** context, int device) {
  return api("hipDevicePrimaryCtxRetain", [&] {
    require(context != nullptr, hipErrorInvalidValue);
    *context = &Runtime::get().device(device);
  });
}
EMU_API int hipDevicePrimaryCtxRelease(int device) {
  return api("hipDevicePrimaryCtxRelease", [&] { Runtime::get().device(device); });
}
EMU_API int hipCtxGetCurrent(Device** context) {
  return api("hipCtxGetCurrent", [&] {
    require(context != nullptr, hipErrorInvalidValue);
    *context = &Runtime::get().current();
  });
}
EMU_API int hipCtxSetCurrent(Device* context) {
  return api("hipCtxSetCurrent", [&] {
    for (const auto& device : Runtime::get().devices())
      if (device.get() == context) return Runtime::get().set_current(device->index());
    throw ApiError(hipErrorInvalidContext, "no such context");
  });
}
EMU_API int hipCtxGetDevice(int* device) { return hipGetDevice(device); }
EMU_API int hipCtxSynchronize() { return hipDeviceSynchronize(); }
