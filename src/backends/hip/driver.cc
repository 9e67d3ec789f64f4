// SPDX-License-Identifier: Apache-2.0
// libamdhip64 behind gpu::Driver, nothing else. The library of the software AMD GPU exports the same names.
#include "backends/hip/driver.h"

#include <array>
#include <cstring>
#include <utility>

#include "backends/gpu/api_load.h"
#include "core/fail.h"
#include "core/os/device_file.h"

namespace beeswax::hip {
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
#define BW_HIP(name, need, parameters) int(*name) parameters = nullptr;
#include "backends/hip/hip_api.def"
  const char* (*hipGetErrorName)(int) = nullptr;
  const char* (*hipGetErrorString)(int) = nullptr;
};

// One table of functions for each library, because the real driver and the software GPU may serve one
// process. The functions of a gpu::Driver take no such argument, so they are templates over it.
enum class Which { Rocm, Emu };
template <Which which>
Api api;

Result result_of(int error) { return {gpu::code_of(error), error}; }
constexpr Result kMissing = {Code::Other, 801};  // hipErrorNotSupported
constexpr Result kNoPeers = {Code::Other, 217};  // hipErrorPeerAccessUnsupported

// What hipGetDeviceProperties writes, by the release's layout: AMD's headers of ROCm 5 and 6.
struct PropertyLayout {
  size_t memory, shared, wave, units, arch;
};
constexpr PropertyLayout kRocm5 = {256, 264, 276, 336, 396};
constexpr PropertyLayout kRocm6 = {288, 296, 308, 388, 1160};

template <class T>
T read_at(const std::byte* bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes + offset, sizeof(T));
  return value;
}

template <Which which>
struct Calls {
  static Result device_count(int* count) { return result_of(api<which>.hipGetDeviceCount(count)); }

  static Result properties(int device, Properties* out) {
    alignas(8) std::array<std::byte, 8192> raw{};
    const Api& hip = api<which>;
    const bool new_layout = hip.hipGetDevicePropertiesR0600 != nullptr;
    const int error = new_layout ? hip.hipGetDevicePropertiesR0600(raw.data(), device)
                                 : hip.hipGetDeviceProperties(raw.data(), device);
    if (error != 0) return result_of(error);
    const PropertyLayout& layout = new_layout ? kRocm6 : kRocm5;
    raw.back() = std::byte{0};
    const char* text = reinterpret_cast<const char*>(raw.data());
    out->name = text;
    const std::string arch = text + layout.arch;  // "gfx90a:sramecc+:xnack-"
    out->arch = arch.substr(0, arch.find(':'));
    out->memory_bytes = read_at<size_t>(raw.data(), layout.memory);
    out->shared_bytes = static_cast<int>(read_at<size_t>(raw.data(), layout.shared));
    out->wave = read_at<int>(raw.data(), layout.wave);
    out->units = read_at<int>(raw.data(), layout.units);
    return {};
  }

  static Result use(int device) { return result_of(api<which>.hipSetDevice(device)); }
  static Result wait_for_device() { return result_of(api<which>.hipDeviceSynchronize()); }

  static Result memory_info(size_t* free_bytes, size_t* total_bytes) {
    return result_of(api<which>.hipMemGetInfo(free_bytes, total_bytes));
  }
  static Result allocate(size_t bytes, void** out) { return result_of(api<which>.hipMalloc(out, bytes)); }
  static Result release(void* data) { return result_of(api<which>.hipFree(data)); }
  static Result allocate_host(size_t bytes, void** host, void** device) {
    constexpr unsigned kPortableMapped = 1 | 2;
    if (const int error = api<which>.hipHostMalloc(host, bytes, kPortableMapped); error != 0)
      return result_of(error);
    const int error = api<which>.hipHostGetDevicePointer(device, *host, 0);
    if (error != 0) api<which>.hipHostFree(std::exchange(*host, nullptr));
    return result_of(error);
  }
  static Result release_host(void* host) { return result_of(api<which>.hipHostFree(host)); }
  static Result copy(void* to, const void* from, size_t bytes, Direction direction, StreamHandle stream) {
    const int kind = direction == Direction::HostToDevice ? 1 : direction == Direction::DeviceToHost ? 2 : 3;
    return result_of(api<which>.hipMemcpyAsync(to, from, bytes, kind, stream));
  }
  static Result reach_device(int device, int peer) {
    constexpr int kAlreadyEnabled = 704;
    const Api& hip = api<which>;
    if (hip.hipDeviceCanAccessPeer == nullptr || hip.hipDeviceEnablePeerAccess == nullptr) return kMissing;
    int can = 0;
    if (const int error = hip.hipDeviceCanAccessPeer(&can, device, peer); error != 0) return result_of(error);
    if (can == 0) return kNoPeers;
    const int error = hip.hipDeviceEnablePeerAccess(peer, 0);
    return result_of(error == kAlreadyEnabled ? 0 : error);
  }
  static Result copy_between(void* to, int to_device, const void* from, int from_device, size_t bytes,
                             StreamHandle stream) {
    const auto call = api<which>.hipMemcpyPeerAsync;
    return call == nullptr ? kMissing : result_of(call(to, to_device, from, from_device, bytes, stream));
  }
  static Result fill_bytes(void* to, uint8_t value, size_t bytes, StreamHandle stream) {
    return result_of(api<which>.hipMemsetAsync(to, value, bytes, stream));
  }

  static Result create_stream(StreamHandle* out) {
    constexpr unsigned kNonBlocking = 1;
    return result_of(api<which>.hipStreamCreateWithFlags(out, kNonBlocking));
  }
  static Result destroy_stream(StreamHandle stream) { return result_of(api<which>.hipStreamDestroy(stream)); }
  static Result wait_for_stream(StreamHandle stream) {
    return result_of(api<which>.hipStreamSynchronize(stream));
  }
  static Result query_stream(StreamHandle stream) { return result_of(api<which>.hipStreamQuery(stream)); }
  static Result make_stream_wait(StreamHandle stream, EventHandle event) {
    return result_of(api<which>.hipStreamWaitEvent(stream, event, 0));
  }
  static Result create_event(bool timing, EventHandle* out) {
    constexpr unsigned kNoTiming = 2;
    return result_of(api<which>.hipEventCreateWithFlags(out, timing ? 0 : kNoTiming));
  }
  static Result destroy_event(EventHandle event) { return result_of(api<which>.hipEventDestroy(event)); }
  static Result record_event(EventHandle event, StreamHandle stream) {
    return result_of(api<which>.hipEventRecord(event, stream));
  }
  static Result wait_for_event(EventHandle event) { return result_of(api<which>.hipEventSynchronize(event)); }
  static Result query_event(EventHandle event) { return result_of(api<which>.hipEventQuery(event)); }
  static Result elapsed(EventHandle from, EventHandle to, float* milliseconds) {
    return result_of(api<which>.hipEventElapsedTime(milliseconds, from, to));
  }

  static Result load_module(const void* image, ModuleHandle* out) {
    return result_of(api<which>.hipModuleLoadData(out, image));
  }
  static Result unload_module(ModuleHandle module) { return result_of(api<which>.hipModuleUnload(module)); }
  static Result find_function(ModuleHandle module, const char* name, FunctionHandle* out) {
    return result_of(api<which>.hipModuleGetFunction(out, module, name));
  }
  static Result static_shared(FunctionHandle, uint32_t*) { return {}; }
  static Result allow_shared(FunctionHandle, uint32_t) { return {}; }  // AMD has no lower default to raise
  static Result launch(FunctionHandle function, const LaunchShape& shape, const void* arguments, size_t bytes,
                       StreamHandle stream) {
    // HIP_LAUNCH_PARAM_BUFFER_POINTER, _SIZE and _END.
    void* extra[] = {reinterpret_cast<void*>(1), const_cast<void*>(arguments), reinterpret_cast<void*>(2),
                     &bytes, reinterpret_cast<void*>(3)};
    return result_of(api<which>.hipModuleLaunchKernel(function, shape.blocks[0], shape.blocks[1],
                                                      shape.blocks[2], shape.threads, 1, 1,
                                                      shape.shared_bytes, stream, nullptr, extra));
  }
  static Result launch_list(FunctionHandle function, const LaunchShape& shape, void** arguments,
                            StreamHandle stream) {
    return result_of(api<which>.hipModuleLaunchKernel(
        function, shape.blocks[0], shape.blocks[1], shape.blocks[2], shape.threads, shape.threads_y,
        shape.threads_z, shape.shared_bytes, stream, arguments, nullptr));
  }

  static Result most_clusters(FunctionHandle, const LaunchShape&, int*) { return kMissing; }
  static Result make_tensor_map(const gpu::TensorView&, void*) { return kMissing; }
  static Result begin_capture(StreamHandle stream) {
    // Relaxed: the thread goes on with other devices, and what this one cannot record is refused here.
    constexpr int kRelaxed = 2;
    const auto call = api<which>.hipStreamBeginCapture;
    return call == nullptr ? kMissing : result_of(call(stream, kRelaxed));
  }
  static Result end_capture(StreamHandle stream, GraphHandle* out) {
    const auto call = api<which>.hipStreamEndCapture;
    return call == nullptr ? kMissing : result_of(call(stream, out));
  }
  static Result instantiate(GraphHandle graph, GraphExecHandle* out) {
    const auto call = api<which>.hipGraphInstantiate;
    return call == nullptr ? kMissing : result_of(call(out, graph, nullptr, nullptr, 0));
  }
  static Result launch_graph(GraphExecHandle graph, StreamHandle stream) {
    const auto call = api<which>.hipGraphLaunch;
    return call == nullptr ? kMissing : result_of(call(graph, stream));
  }
  static Result destroy_graph(GraphHandle graph) {
    const auto call = api<which>.hipGraphDestroy;
    return call == nullptr ? kMissing : result_of(call(graph));
  }
  static Result destroy_graph_exec(GraphExecHandle graph) {
    const auto call = api<which>.hipGraphExecDestroy;
    return call == nullptr ? kMissing : result_of(call(graph));
  }

  static std::string error_text(int number) {
    const char* name = api<which>.hipGetErrorName(number);
    const char* text = api<which>.hipGetErrorString(number);
    return join_text(name == nullptr ? "error" : name, " (", number,
                     "): ", text == nullptr ? "no text" : text);
  }
};

constexpr std::string_view kAdvice =
    "install AMD's HIP runtime (Debian's package libamdhip64-5, or ROCm's hip-runtime-amd)";

// What helps where AMD's runtime finds no card, by the file through which the kernel shows all of them.
std::string_view card_advice() {
  switch (os::access_to("/dev/kfd")) {
    case os::FileAccess::Absent:
      return "; /dev/kfd is not there: load the amdgpu kernel driver; containers are given /dev/kfd and "
             "/dev/dri";
    case os::FileAccess::Refused:
      return "; /dev/kfd does not open: add the user to the groups render and video";
    case os::FileAccess::Granted:
      break;
  }
  return "";
}

constexpr int kLeastMajor = 5;  // whose layouts of device properties are known here

template <Which which>
gpu::DriverState open(const std::vector<std::string>& names, std::string_view product,
                      std::string_view advice) {
  static const os::Library library(names);
  gpu::DriverState state;
  if (!library.is_open()) {
    state.reason = gpu::not_found(library, product, advice);
    return state;
  }
  Api& hip = api<which>;
  gpu::Symbols symbols(library);
#define BW_HIP(name, need, parameters) symbols.find(hip.name, #name, Need::need);
#include "backends/hip/hip_api.def"
  symbols.find(hip.hipGetErrorName, "hipGetErrorName", Need::Required);
  symbols.find(hip.hipGetErrorString, "hipGetErrorString", Need::Required);
  if (hip.hipGetDevicePropertiesR0600 == nullptr)
    symbols.find(hip.hipGetDeviceProperties, "hipGetDeviceProperties", Need::Required);
  if (!symbols.missing().empty()) {
    state.reason = join_text(library.name(), " lacks ", symbols.missing(), "; update it: ", advice);
    return state;
  }
  if (const int error = hip.hipInit(0); error != 0) {
    // Without a card releases say hipErrorNoDevice or hipErrorInvalidDevice.
    const bool none = error == 100 || error == 101;
    state.reason =
        join_text(library.name(), none ? " finds no device" : " finds no usable AMD GPU", ": hipInit says ",
                  Calls<which>::error_text(error), which == Which::Rocm ? card_advice() : "");
    return state;
  }
  int version = 0;
  const bool told = hip.hipRuntimeGetVersion != nullptr && hip.hipRuntimeGetVersion(&version) == 0;
  const int major = version / 10000000, minor = version / 100000 % 100;
  if (told && major < kLeastMajor) {
    state.reason = join_text(library.name(), " is too old: it is HIP ", major, ".", minor, ", and ",
                             kLeastMajor, ".0 is needed; ", advice);
    return state;
  }
  static gpu::Driver driver = {
#define BW_DRIVER(name, parameters) &Calls<which>::name,
#include "backends/gpu/driver.def"
      &Calls<which>::error_text, "AMD", library.name(), ""};
  if (told) driver.version = join_text("HIP ", major, ".", minor, ".", version % 100000);
  state.driver = &driver;
  return state;
}

}  // namespace

const gpu::DriverState& rocm_driver() {
  static const gpu::DriverState state = [] {
    const std::vector<std::string> names =
        gpu::library_names("BEESWAX_HIP_LIBRARY", {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5",
                                                   "libamdhip64.so", "/opt/rocm/lib/libamdhip64.so"});
    return open<Which::Rocm>(names, "libamdhip64", kAdvice);
  }();
  return state;
}

const gpu::DriverState& emu_driver() {
  static const gpu::DriverState state = [] {
    std::vector<std::string> names;
    if (const std::string folder = os::own_folder(); !folder.empty()) {
      names.push_back(folder + "/libbeeswax_emu.so");
      names.push_back(folder + "/../bin/libbeeswax_emu.so");
    }
    names.emplace_back("libbeeswax_emu.so");
    return open<Which::Emu>(names, "libbeeswax_emu.so, the software AMD GPU,",
                            "it is built beside the library where LLVM is installed");
  }();
  return state;
}

}  // namespace beeswax::hip
