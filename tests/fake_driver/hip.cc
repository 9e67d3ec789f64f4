// SPDX-License-Identifier: Apache-2.0
// The fake libamdhip64: every row of hip_api.def, with the row's parameters. A row without an answer here
// does not link.
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "fake_driver/machine.h"

#define BW_HIP(name, need, parameters) BW_FAKE_EXPORT int name parameters;
#include "backends/hip/hip_api.def"

using fake::call;
using fake::Kind;
using fake::Machine;
using fake::Rule;

__attribute__((used)) void* const kFakeExports[] = {
#define BW_HIP(name, need, parameters) reinterpret_cast<void*>(&name),
#include "backends/hip/hip_api.def"
};

namespace {

template <class T>
int answer(T* out, T value) {
  *out = value;
  return 0;
}

// hipDeviceProp_t as bytes: where AMD's headers of ROCm 5 and 6 have what is read of it.
struct Places {
  size_t memory, shared, wave, units, arch;
};
int write_properties(void* out, const Places& places) {
  const fake::Control& control = Machine::get().control;
  char* bytes = static_cast<char*>(out);
  const auto put = [&](size_t place, auto value) { std::memcpy(bytes + place, &value, sizeof(value)); };
  std::snprintf(bytes, 256, "Fake HIP device");
  const char* arch = control.arch[0] == 0 ? "gfx1100" : control.arch;
  std::snprintf(bytes + places.arch, 64, "%s:sramecc-:xnack-", arch);
  put(places.memory, control.memory_bytes);
  put(places.shared, size_t{65536});
  put(places.wave, std::strncmp(arch, "gfx9", 4) == 0 ? 64 : 32);
  put(places.units, 4);
  return 0;
}

}  // namespace

BW_FAKE_EXPORT const char* hipGetErrorName(int) { return "hipErrorOnRequest"; }
BW_FAKE_EXPORT const char* hipGetErrorString(int error) { return fake::error_words(error); }
int hipInit(unsigned) {
  return call(__func__, [&](Machine&) { return 0; });
}
int hipRuntimeGetVersion(int* version) {
  return call(__func__, [&](Machine& m) {
    return answer(version, m.control.version == 0 ? 60342134 : m.control.version);
  });
}
int hipGetDeviceCount(int* count) {
  return call(__func__, [&](Machine& m) { return answer(count, m.control.devices); });
}
int hipSetDevice(int device) {
  return call(__func__, [&](Machine& m) { return m.use(device); });
}
int hipDeviceSynchronize() {
  return call(__func__, [&](Machine&) { return 0; }, Rule::NotWhileCapturing);
}
int hipGetDevicePropertiesR0600(void* properties, int device) {
  return call(__func__, [&](Machine& m) {
    return m.only_device(device) + write_properties(properties, {288, 296, 308, 388, 1160});
  });
}
int hipGetDeviceProperties(void* properties, int device) {
  return call(__func__, [&](Machine& m) {
    return m.only_device(device) + write_properties(properties, {256, 264, 276, 336, 396});
  });
}
int hipMemGetInfo(size_t* free_bytes, size_t* total_bytes) {
  return call(__func__, [&](Machine& m) {
    return answer(free_bytes, m.free_bytes()) + answer(total_bytes, m.control.memory_bytes);
  });
}
int hipMalloc(void** data, size_t bytes) {
  return call(
      __func__, [&](Machine& m) { return m.allocate(Kind::Allocation, data, bytes); },
      Rule::NotWhileCapturing);
}
int hipFree(void* data) {
  return call(
      __func__, [&](Machine& m) { return m.release(Kind::Allocation, data); }, Rule::NotWhileCapturing);
}
int hipHostMalloc(void** data, size_t bytes, unsigned) {
  return call(
      __func__, [&](Machine& m) { return m.allocate(Kind::Pinned, data, bytes); }, Rule::NotWhileCapturing);
}
int hipHostFree(void* data) {
  return call(__func__, [&](Machine& m) { return m.release(Kind::Pinned, data); }, Rule::ReleasesMemory);
}
int hipHostGetDevicePointer(void** device, void* host, unsigned) {
  return call(__func__, [&](Machine& m) {
    return m.find(Kind::Pinned, host) == nullptr ? fake::kInvalid : answer(device, host);
  });
}
int hipMemcpyAsync(void* to, const void* from, size_t bytes, int kind, void* stream) {
  return call(__func__, [&](Machine& m) { return m.copy(to, from, bytes, kind != 2, kind != 1, stream); });
}
int hipDeviceCanAccessPeer(int* can, int device, int peer) {
  return call(__func__, [&](Machine& m) { return m.can_reach(can, device, peer); });
}
int hipDeviceEnablePeerAccess(int peer, unsigned) {
  return call(__func__, [&](Machine& m) { return m.reach(peer); });
}
int hipMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, size_t bytes,
                       void* stream) {
  return call(__func__,
              [&](Machine& m) { return m.copy_between(to, to_device, from, from_device, bytes, stream); });
}
int hipMemsetAsync(void* to, int value, size_t bytes, void* stream) {
  return call(__func__, [&](Machine& m) { return m.fill(to, value, bytes, stream); });
}
int hipStreamCreateWithFlags(void** stream, unsigned) {
  return call(__func__, [&](Machine& m) { return answer(stream, m.make(Kind::Stream)); });
}
int hipStreamDestroy(void* stream) {
  return call(__func__, [&](Machine& m) { return m.release(Kind::Stream, stream); }, Rule::Releases);
}
int hipStreamSynchronize(void* stream) {
  return call(__func__, [&](Machine& m) { return m.wait(stream); }, Rule::NotWhileCapturing);
}
int hipStreamQuery(void* stream) {
  return call(__func__, [&](Machine& m) { return m.query(stream); }, Rule::NotWhileCapturing);
}
int hipStreamWaitEvent(void* stream, void* event, unsigned) {
  return call(__func__, [&](Machine& m) { return m.make_wait(stream, event); });
}
int hipEventCreateWithFlags(void** event, unsigned) {
  return call(__func__, [&](Machine& m) { return answer(event, m.make(Kind::Event)); });
}
int hipEventDestroy(void* event) {
  return call(__func__, [&](Machine& m) { return m.release(Kind::Event, event); }, Rule::Releases);
}
int hipEventRecord(void* event, void* stream) {
  return call(__func__, [&](Machine& m) { return m.record(event, stream); });
}
int hipEventSynchronize(void* event) {
  return call(
      __func__, [&](Machine& m) { return m.find(Kind::Event, event) == nullptr ? fake::kInvalid : 0; },
      Rule::NotWhileCapturing);
}
int hipEventQuery(void* event) {
  return call(
      __func__, [&](Machine& m) { return m.find(Kind::Event, event) == nullptr ? fake::kInvalid : 0; },
      Rule::NotWhileCapturing);
}
int hipEventElapsedTime(float* milliseconds, void* from, void* to) {
  return call(__func__, [&](Machine& m) { return m.elapsed(milliseconds, from, to); });
}
int hipModuleLoadData(void** module, const void* image) {
  return call(__func__, [&](Machine& m) { return m.load(module, image); }, Rule::NotWhileCapturing);
}
int hipModuleUnload(void* module) {
  return call(__func__, [&](Machine& m) { return m.release(Kind::Module, module); }, Rule::Releases);
}
int hipModuleGetFunction(void** function, void* module, const char* name) {
  return call(__func__, [&](Machine& m) { return m.function(function, module, name); });
}
int hipFuncSetAttribute(const void*, int, int) {
  return call(__func__, [&](Machine&) { return 0; });
}
int hipStreamBeginCapture(void* stream, int mode) {
  return call(__func__, [&](Machine& m) { return m.begin_capture(stream, mode); });
}
int hipStreamEndCapture(void* stream, void** graph) {
  return call(__func__, [&](Machine& m) { return m.end_capture(stream, graph); });
}
int hipGraphInstantiate(void** exec, void* graph, void**, char*, size_t) {
  return call(__func__, [&](Machine& m) { return m.instantiate(exec, graph); });
}
int hipGraphLaunch(void* exec, void* stream) { return fake::call_launch_graph(__func__, exec, stream); }
int hipGraphDestroy(void* graph) {
  return call(__func__, [&](Machine& m) { return m.release(Kind::Graph, graph); }, Rule::Releases);
}
int hipGraphExecDestroy(void* exec) {
  return call(__func__, [&](Machine& m) { return m.release(Kind::Instance, exec); }, Rule::Releases);
}
int hipModuleLaunchKernel(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                          unsigned bz, unsigned, void* stream, void** parameters, void** extra) {
  return call(__func__, [&](Machine& m) {
    for (const uint64_t threads : {uint64_t{gx} * bx, uint64_t{gy} * by, uint64_t{gz} * bz})
      if (threads > UINT32_MAX) return m.misuse("a launch of 2^32 threads or more along one axis");
    if (extra == nullptr) return m.launch(function, {gx, gy, gz}, bx * by * bz, parameters[0], 0, stream);
    // HIP_LAUNCH_PARAM_BUFFER_POINTER, its value, _SIZE, its value, _END.
    return m.launch(function, {gx, gy, gz}, bx * by * bz, extra[1], *static_cast<const size_t*>(extra[3]),
                    stream);
  });
}
