// SPDX-License-Identifier: Apache-2.0
// libcuda behind gpu::Driver, nothing else.
#include "backends/cuda/driver.h"

#include <array>
#include <atomic>
#include <mutex>
#include <utility>

#include "backends/gpu/api_load.h"
#include "core/fail.h"

namespace beeswax::cuda {
namespace {

using gpu::Code;
using gpu::Direction;
using gpu::EventHandle;
using gpu::FunctionHandle;
using gpu::GraphExecHandle;
using gpu::GraphHandle;
using gpu::LaunchShape;
using gpu::ModuleHandle;
using gpu::Need;
using gpu::Properties;
using gpu::Result;
using gpu::StreamHandle;

struct Api {
#define BW_CUDA(name, symbol, need, parameters) int(*name) parameters = nullptr;
#include "backends/cuda/cuda_api.def"
};
Api api;
// Whether launches may be programmatic dependent ones. Drivers take them since CUDA 11.8; graphs record them
// since 12.3.
bool has_programmatic = false;
constexpr int kProgrammaticVersion = 12030;
// Whether code for counted stores of clusters runs: they are of PTX 8.1, which drivers take since CUDA 12.1.
bool has_counted_stores = false;
constexpr int kCountedStoresVersion = 12010;

Result result_of(int error) { return {gpu::code_of(error), error}; }
constexpr Result kMissing = {Code::Other, 801};  // CUDA_ERROR_NOT_SUPPORTED
constexpr Result kNoPeers = {Code::Other, 217};  // CUDA_ERROR_PEER_ACCESS_UNSUPPORTED

// The numbers of CUdevice_attribute and CUfunction_attribute that are read or set.
constexpr int kAttributeWarpSize = 10;
constexpr int kAttributeMultiprocessors = 16;
constexpr int kAttributeIntegrated = 18;
constexpr int kAttributeMajor = 75;
constexpr int kAttributeMinor = 76;
constexpr int kAttributeSharedOptIn = 97;
constexpr int kFunctionStaticShared = 1, kFunctionDynamicShared = 8;

constexpr int kMostDevices = 64;
// Of devices in use: their primary contexts, retained once for the process, null before; and their handles.
std::array<std::atomic<void*>, kMostDevices> contexts{};
std::array<std::atomic<int>, kMostDevices> handles{};
void* context_of(int ordinal) {
  return contexts[static_cast<size_t>(ordinal)].load(std::memory_order_acquire);
}
int handle_of(int ordinal) { return handles[static_cast<size_t>(ordinal)].load(std::memory_order_relaxed); }

Result device_count(int* count) { return result_of(api.cuDeviceGetCount(count)); }

Result properties(int ordinal, Properties* out) {
  int device = 0;
  if (const int error = api.cuDeviceGet(&device, ordinal); error != 0) return result_of(error);
  std::array<char, 256> name{};
  if (const int error = api.cuDeviceGetName(name.data(), name.size() - 1, device); error != 0)
    return result_of(error);
  int major = 0, minor = 0, integrated = 0;
  const std::pair<int, int*> wanted[] = {{kAttributeMajor, &major},
                                         {kAttributeMinor, &minor},
                                         {kAttributeIntegrated, &integrated},
                                         {kAttributeWarpSize, &out->wave},
                                         {kAttributeMultiprocessors, &out->units},
                                         {kAttributeSharedOptIn, &out->shared_bytes}};
  for (const auto& [attribute, value] : wanted)
    if (const int error = api.cuDeviceGetAttribute(value, attribute, device); error != 0)
      return result_of(error);
  if (const int error = api.cuDeviceTotalMem(&out->memory_bytes, device); error != 0) return result_of(error);
  out->name = name.data();
  out->arch = join_text("sm_", major, minor);
  out->integrated = integrated != 0;
  out->counted_stores = major >= 9 && has_counted_stores;
  return {};
}

Result use(int ordinal) {
  // A failure may pass, so the next call tries again.
  static std::mutex retaining;
  if (ordinal < 0 || ordinal >= kMostDevices) return {Code::NoDevice, 101};
  std::atomic<void*>& context = contexts[static_cast<size_t>(ordinal)];
  if (context.load(std::memory_order_acquire) == nullptr) {
    const std::scoped_lock lock(retaining);
    int device = 0;
    void* made = context.load(std::memory_order_relaxed);
    if (made == nullptr) {
      if (const int error = api.cuDeviceGet(&device, ordinal); error != 0) return result_of(error);
      if (const int error = api.cuDevicePrimaryCtxRetain(&made, device); error != 0) return result_of(error);
      handles[static_cast<size_t>(ordinal)].store(device, std::memory_order_relaxed);
      context.store(made, std::memory_order_release);
    }
  }
  return result_of(api.cuCtxSetCurrent(context.load(std::memory_order_relaxed)));
}

Result wait_for_device() { return result_of(api.cuCtxSynchronize()); }
Result memory_info(size_t* free_bytes, size_t* total_bytes) {
  return result_of(api.cuMemGetInfo(free_bytes, total_bytes));
}
Result allocate(size_t bytes, void** out) { return result_of(api.cuMemAlloc(out, bytes)); }
Result release(void* data) { return result_of(api.cuMemFree(data)); }
Result allocate_host(size_t bytes, void** host, void** device) {
  constexpr unsigned kPortableMapped = 1 | 2;
  if (const int error = api.cuMemHostAlloc(host, bytes, kPortableMapped); error != 0) return result_of(error);
  const int error = api.cuMemHostGetDevicePointer(device, *host, 0);
  if (error != 0) api.cuMemFreeHost(std::exchange(*host, nullptr));
  return result_of(error);
}
Result release_host(void* host) { return result_of(api.cuMemFreeHost(host)); }
Result copy(void* to, const void* from, size_t bytes, Direction direction, StreamHandle stream) {
  switch (direction) {
    case Direction::HostToDevice:
      return result_of(api.cuMemcpyHtoDAsync(to, from, bytes, stream));
    case Direction::DeviceToHost:
      return result_of(api.cuMemcpyDtoHAsync(to, from, bytes, stream));
    case Direction::DeviceToDevice:
      break;
  }
  return result_of(api.cuMemcpyDtoDAsync(to, from, bytes, stream));
}
Result reach_device(int device, int peer) {
  constexpr int kAlreadyEnabled = 704;
  if (api.cuDeviceCanAccessPeer == nullptr || api.cuCtxEnablePeerAccess == nullptr) return kMissing;
  int can = 0;
  if (const int error = api.cuDeviceCanAccessPeer(&can, handle_of(device), handle_of(peer)); error != 0)
    return result_of(error);
  if (can == 0) return kNoPeers;
  const int error = api.cuCtxEnablePeerAccess(context_of(peer), 0);
  return result_of(error == kAlreadyEnabled ? 0 : error);
}
Result copy_between(void* to, int to_device, const void* from, int from_device, size_t bytes,
                    StreamHandle stream) {
  if (api.cuMemcpyPeerAsync == nullptr) return kMissing;
  return result_of(
      api.cuMemcpyPeerAsync(to, context_of(to_device), from, context_of(from_device), bytes, stream));
}
Result fill_bytes(void* to, uint8_t value, size_t bytes, StreamHandle stream) {
  return result_of(api.cuMemsetD8Async(to, value, bytes, stream));
}

Result create_stream(StreamHandle* out) {
  constexpr unsigned kNonBlocking = 1;
  return result_of(api.cuStreamCreate(out, kNonBlocking));
}
Result destroy_stream(StreamHandle stream) { return result_of(api.cuStreamDestroy(stream)); }
Result wait_for_stream(StreamHandle stream) { return result_of(api.cuStreamSynchronize(stream)); }
Result query_stream(StreamHandle stream) { return result_of(api.cuStreamQuery(stream)); }
Result make_stream_wait(StreamHandle stream, EventHandle event) {
  return result_of(api.cuStreamWaitEvent(stream, event, 0));
}
Result create_event(bool timing, EventHandle* out) {
  constexpr unsigned kNoTiming = 2;
  return result_of(api.cuEventCreate(out, timing ? 0 : kNoTiming));
}
Result destroy_event(EventHandle event) { return result_of(api.cuEventDestroy(event)); }
Result record_event(EventHandle event, StreamHandle stream) {
  return result_of(api.cuEventRecord(event, stream));
}
Result wait_for_event(EventHandle event) { return result_of(api.cuEventSynchronize(event)); }
Result query_event(EventHandle event) { return result_of(api.cuEventQuery(event)); }
Result elapsed(EventHandle from, EventHandle to, float* milliseconds) {
  return result_of(api.cuEventElapsedTime(milliseconds, from, to));
}

Result load_module(const void* image, ModuleHandle* out) {
  return result_of(api.cuModuleLoadData(out, image));
}
Result unload_module(ModuleHandle module) { return result_of(api.cuModuleUnload(module)); }
Result find_function(ModuleHandle module, const char* name, FunctionHandle* out) {
  return result_of(api.cuModuleGetFunction(out, module, name));
}
Result static_shared(FunctionHandle function, uint32_t* bytes) {
  int value = 0;
  const Result result = result_of(api.cuFuncGetAttribute(&value, kFunctionStaticShared, function));
  if (result.ok()) *bytes = static_cast<uint32_t>(value);
  return result;
}
Result allow_shared(FunctionHandle function, uint32_t bytes) {
  return result_of(api.cuFuncSetAttribute(function, kFunctionDynamicShared, static_cast<int>(bytes)));
}
// CUlaunchConfig and CUlaunchAttribute.
struct LaunchAttribute {
  int id, padding;
  unsigned value[16];
};
struct LaunchConfig {
  unsigned blocks[3], threads[3], shared_bytes;
  void* stream;
  const LaunchAttribute* attributes;
  unsigned count;
};
static_assert(sizeof(LaunchAttribute) == 72 && sizeof(LaunchConfig) == 56);

/// Calls call(config) with a launch and what is asked for beyond its shape.
template <class Call>
Result with_attributes(const LaunchShape& shape, StreamHandle stream, const Call& call) {
  constexpr int kClusterDimension = 4, kProgrammaticStreamSerialization = 6;
  LaunchAttribute attributes[2];
  unsigned count = 0;
  if (shape.cluster > 1) attributes[count++] = {kClusterDimension, 0, {shape.cluster, 1, 1}};
  if (shape.programmatic && has_programmatic)
    attributes[count++] = {kProgrammaticStreamSerialization, 0, {1}};
  const LaunchConfig config = {{shape.blocks[0], shape.blocks[1], shape.blocks[2]},
                               {shape.threads, shape.threads_y, shape.threads_z},
                               shape.shared_bytes,
                               stream,
                               attributes,
                               count};
  return result_of(call(&config));
}
Result most_clusters(FunctionHandle function, const LaunchShape& shape, int* count) {
  if (api.cuLaunchKernelEx == nullptr || api.cuOccupancyMaxActiveClusters == nullptr) return kMissing;
  return with_attributes(shape, nullptr, [&](const LaunchConfig* config) {
    return api.cuOccupancyMaxActiveClusters(count, function, config);
  });
}
Result launch_list(FunctionHandle function, const LaunchShape& shape, void** arguments, StreamHandle stream) {
  if (shape.cluster > 1 || (shape.programmatic && has_programmatic))
    return with_attributes(shape, stream, [&](const LaunchConfig* config) {
      return api.cuLaunchKernelEx(config, function, arguments, nullptr);
    });
  return result_of(api.cuLaunchKernel(function, shape.blocks[0], shape.blocks[1], shape.blocks[2],
                                      shape.threads, shape.threads_y, shape.threads_z, shape.shared_bytes,
                                      stream, arguments, nullptr));
}
Result launch(FunctionHandle function, const LaunchShape& shape, const void* arguments, size_t,
              StreamHandle stream) {
  // By the address of the one argument: a packed buffer would need to know where the argument's alignment
  // puts it.
  void* parameters[] = {const_cast<void*>(arguments)};
  return launch_list(function, shape, parameters, stream);
}

Result make_tensor_map(const gpu::TensorView& tensor, void* out) {
  if (api.cuTensorMapEncodeTiled == nullptr) return kMissing;
  // CU_TENSOR_MAP_DATA_TYPE_UINT16, _UINT32, _INTERLEAVE_NONE, _SWIZZLE_128B, _L2_PROMOTION_L2_256B,
  // _OOB_FILL_NONE.
  constexpr int kUint16 = 1, kUint32 = 2, kInterleaveNone = 0, kSwizzle128 = 3, kPromotion256 = 3,
                kFillNone = 0;
  const uint64_t dims[] = {tensor.dims[0], tensor.dims[1], tensor.dims[2]};
  const uint64_t strides[] = {tensor.strides[0], tensor.strides[1]};
  const unsigned box[] = {tensor.box[0], tensor.box[1], 1}, steps[] = {1, 1, 1};
  return result_of(api.cuTensorMapEncodeTiled(out, tensor.element == 2 ? kUint16 : kUint32, 3,
                                              const_cast<void*>(tensor.data), dims, strides, box, steps,
                                              kInterleaveNone, kSwizzle128, kPromotion256, kFillNone));
}

Result begin_capture(StreamHandle stream) {
  // Relaxed: the thread goes on with other devices, and what this one cannot record is refused here.
  constexpr int kRelaxed = 2;
  return api.cuStreamBeginCapture == nullptr ? kMissing
                                             : result_of(api.cuStreamBeginCapture(stream, kRelaxed));
}
Result end_capture(StreamHandle stream, GraphHandle* out) {
  return api.cuStreamEndCapture == nullptr ? kMissing : result_of(api.cuStreamEndCapture(stream, out));
}
Result instantiate(GraphHandle graph, GraphExecHandle* out) {
  return api.cuGraphInstantiate == nullptr ? kMissing : result_of(api.cuGraphInstantiate(out, graph, 0));
}
Result launch_graph(GraphExecHandle graph, StreamHandle stream) {
  return api.cuGraphLaunch == nullptr ? kMissing : result_of(api.cuGraphLaunch(graph, stream));
}
Result destroy_graph(GraphHandle graph) {
  return api.cuGraphDestroy == nullptr ? kMissing : result_of(api.cuGraphDestroy(graph));
}
Result destroy_graph_exec(GraphExecHandle graph) {
  return api.cuGraphExecDestroy == nullptr ? kMissing : result_of(api.cuGraphExecDestroy(graph));
}

std::string error_text(int number) {
  const char* text = nullptr;
  if (api.cuGetErrorString(number, &text) != 0 || text == nullptr) text = "no text";
  return join_text("CUDA error ", number, ": ", text);
}

// What helps where cuInit refuses.
std::string_view init_advice(int error) {
  switch (error) {
    case 100:  // CUDA_ERROR_NO_DEVICE
      return "; `nvidia-smi -L` lists the driver's cards, and CUDA_VISIBLE_DEVICES may hide them";
    case 802:  // CUDA_ERROR_SYSTEM_NOT_READY
      return "; start the driver's services, on machines with NVSwitch nvidia-fabricmanager";
    case 803:  // CUDA_ERROR_SYSTEM_DRIVER_MISMATCH
      return "; libcuda and the kernel's driver are of two releases: restart after an update, or name the "
             "driver's own libcuda in BEESWAX_CUDA_LIBRARY";
    case 999:  // CUDA_ERROR_UNKNOWN
      return "; look for lines with NVRM in the kernel's log, and whether /dev/nvidia-uvm is there";
    default:
      return "";
  }
}

constexpr std::string_view kAdvice = "install NVIDIA's driver";
constexpr int kLeastVersion = 12000;  // takes PTX 8.0
std::string version_text(int version) { return join_text(version / 1000, ".", version % 1000 / 10); }

gpu::DriverState open(const std::vector<std::string>& names) {
  static const os::Library library(names);
  gpu::DriverState state;
  if (!library.is_open()) {
    state.reason = gpu::not_found(library, "libcuda", kAdvice);
    return state;
  }
  gpu::Symbols symbols(library);
#define BW_CUDA(name, symbol, need, parameters) symbols.find(api.name, #symbol, Need::need);
#include "backends/cuda/cuda_api.def"
  if (!symbols.missing().empty()) {
    state.reason = join_text(library.name(), " lacks ", symbols.missing(), "; update it: ", kAdvice);
    return state;
  }
  if (const int error = api.cuInit(0); error != 0) {
    state.reason =
        join_text(library.name(), " finds no usable NVIDIA GPU: ", error_text(error), init_advice(error));
    return state;
  }
  int version = 0;
  if (api.cuDriverGetVersion(&version) == 0 && version < kLeastVersion) {
    state.reason =
        join_text(library.name(), " is too old: it is for CUDA ", version_text(version),
                  ", and the kernels need ", version_text(kLeastVersion), "; ", kAdvice, " 525 or newer");
    return state;
  }
  static gpu::Driver driver = {
#define BW_DRIVER(name, parameters) &name,
#include "backends/gpu/driver.def"
      &error_text, "NVIDIA", library.name(), ""};
  has_programmatic = version >= kProgrammaticVersion && api.cuLaunchKernelEx != nullptr;
  has_counted_stores = version >= kCountedStoresVersion && api.cuLaunchKernelEx != nullptr;
  if (version != 0) driver.version = "CUDA " + version_text(version);
  state.driver = &driver;
  return state;
}

}  // namespace

const gpu::DriverState& cuda_driver() {
  static const gpu::DriverState state =
      open(gpu::library_names("BEESWAX_CUDA_LIBRARY", {"libcuda.so.1", "libcuda.so"}));
  return state;
}

}  // namespace beeswax::cuda
