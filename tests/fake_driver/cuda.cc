// SPDX-License-Identifier: Apache-2.0
// The fake libcuda: every row of cuda_api.def, with the row's parameters. A row without an answer here does
// not link.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "fake_driver/machine.h"

#define BW_CUDA(name, symbol, need, parameters) BW_FAKE_EXPORT int symbol parameters;
#include "backends/cuda/cuda_api.def"

using fake::call;
using fake::Kind;
using fake::Machine;
using fake::Rule;

__attribute__((used)) void* const kFakeExports[] = {
#define BW_CUDA(name, symbol, need, parameters) reinterpret_cast<void*>(&symbol),
#include "backends/cuda/cuda_api.def"
};

namespace {

// "sm_90": 90.
int capability() {
  const char* arch = Machine::get().control.arch;
  return arch[0] == 0 ? 80 : std::atoi(arch + 3);
}

// Shared memory that a block has at most, and without being allowed it.
constexpr int kSharedOptIn = 227 << 10, kSharedUsual = 48 << 10;

int attribute_of(int attribute) {
  switch (attribute) {
    case 10:  // CU_DEVICE_ATTRIBUTE_WARP_SIZE
      return 32;
    case 16:  // _MULTIPROCESSOR_COUNT
      return 4;
    case 75:  // _COMPUTE_CAPABILITY_MAJOR and _MINOR
      return capability() / 10;
    case 76:
      return capability() % 10;
    case 97:  // _MAX_SHARED_MEMORY_PER_BLOCK_OPTIN
      return kSharedOptIn;
    default:
      return 0;
  }
}

template <class T>
int answer(T* out, T value) {
  *out = value;
  return 0;
}

// CUlaunchConfig, and CUlaunchAttribute: a cluster's dimensions (4), programmatic stream serialization (6).
struct Attribute {
  int id;
  char padding[4];
  unsigned value[16];
};
struct Config {
  unsigned grid[3], block[3], shared_bytes;
  void* stream;
  const Attribute* attributes;
  unsigned count;
};

// What a launch asks for beyond its shape; no cluster where a driver would refuse it.
struct Asked {
  unsigned cluster = 1;
  bool programmatic = false;
};
Asked asked_for(const Config& config) {
  Asked asked;
  for (unsigned i = 0; i < config.count; ++i) {
    const Attribute& attribute = config.attributes[i];
    if (attribute.id == 6 && attribute.value[0] == 1) {
      asked.programmatic = true;
      continue;
    }
    const unsigned* size = attribute.value;
    const bool fits = attribute.id == 4 && size[0] >= 1 && size[0] <= 8 && size[1] == 1 && size[2] == 1 &&
                      config.grid[0] % size[0] == 0;
    if (!fits) return {0, false};
    asked.cluster = size[0];
  }
  return asked;
}

// A launch gets the usual amount unless its function was allowed more.
bool may_share(const Machine& m, const void* function, unsigned bytes) {
  const auto allowed = m.allowed_shared.find(function);
  return bytes + m.control.static_shared <= unsigned{kSharedUsual} ||
         (allowed != m.allowed_shared.end() && bytes <= allowed->second);
}

int contexts[64];  // their addresses are the devices' primary contexts
int device_of(void* context) { return static_cast<int>(static_cast<int*>(context) - contexts); }

}  // namespace

int cuGetErrorString(int error, const char** text) { return answer(text, fake::error_words(error)); }
int cuInit(unsigned) {
  return call(__func__, [&](Machine&) { return 0; });
}
int cuDriverGetVersion(int* version) {
  return call(__func__, [&](Machine& m) {
    return answer(version, m.control.version == 0 ? 12040 : m.control.version);
  });
}
int cuDeviceGetCount(int* count) {
  return call(__func__, [&](Machine& m) { return answer(count, m.control.devices); });
}
int cuDeviceGet(int* device, int ordinal) {
  return call(__func__, [&](Machine& m) {
    *device = ordinal;
    return m.only_device(ordinal);
  });
}
int cuDeviceGetName(char* name, int bytes, int) {
  return call(__func__, [&](Machine&) {
    std::snprintf(name, static_cast<size_t>(bytes), "Fake CUDA device");
    return 0;
  });
}
int cuDeviceGetAttribute(int* value, int attribute, int) {
  return call(__func__, [&](Machine&) { return answer(value, attribute_of(attribute)); });
}
int cuDeviceTotalMem_v2(size_t* bytes, int) {
  return call(__func__, [&](Machine& m) { return answer(bytes, m.control.memory_bytes); });
}
int cuDevicePrimaryCtxRetain(void** out, int device) {
  return call(__func__, [&](Machine&) { return answer<void*>(out, &contexts[device]); });
}
int cuCtxSetCurrent(void* current) {
  return call(__func__, [&](Machine& m) { return m.use(device_of(current)); });
}
int cuCtxSynchronize() {
  return call(__func__, [&](Machine&) { return 0; }, Rule::NotWhileCapturing);
}
int cuMemGetInfo_v2(size_t* free_bytes, size_t* total_bytes) {
  return call(__func__, [&](Machine& m) {
    return answer(free_bytes, m.free_bytes()) + answer(total_bytes, m.control.memory_bytes);
  });
}
int cuMemAlloc_v2(void** data, size_t bytes) {
  return call(
      __func__, [&](Machine& m) { return m.allocate(Kind::Allocation, data, bytes); },
      Rule::NotWhileCapturing);
}
int cuMemFree_v2(void* data) {
  return call(
      __func__, [&](Machine& m) { return m.release(Kind::Allocation, data); }, Rule::NotWhileCapturing);
}
int cuMemHostAlloc(void** data, size_t bytes, unsigned) {
  return call(
      __func__, [&](Machine& m) { return m.allocate(Kind::Pinned, data, bytes); }, Rule::NotWhileCapturing);
}
int cuMemFreeHost(void* data) {
  return call(__func__, [&](Machine& m) { return m.release(Kind::Pinned, data); }, Rule::ReleasesMemory);
}
int cuMemHostGetDevicePointer_v2(void** device, void* host, unsigned) {
  return call(__func__, [&](Machine& m) {
    return m.find(Kind::Pinned, host) == nullptr ? fake::kInvalid : answer(device, host);
  });
}
int cuMemcpyHtoDAsync_v2(void* to, const void* from, size_t bytes, void* stream) {
  return call(__func__, [&](Machine& m) { return m.copy(to, from, bytes, true, false, stream); });
}
int cuMemcpyDtoHAsync_v2(void* to, const void* from, size_t bytes, void* stream) {
  return call(__func__, [&](Machine& m) { return m.copy(to, from, bytes, false, true, stream); });
}
int cuMemcpyDtoDAsync_v2(void* to, const void* from, size_t bytes, void* stream) {
  return call(__func__, [&](Machine& m) { return m.copy(to, from, bytes, true, true, stream); });
}
int cuDeviceCanAccessPeer(int* can, int device, int peer) {
  return call(__func__, [&](Machine& m) { return m.can_reach(can, device, peer); });
}
int cuCtxEnablePeerAccess(void* peer, unsigned) {
  return call(__func__, [&](Machine& m) { return m.reach(device_of(peer)); });
}
int cuMemcpyPeerAsync(void* to, void* to_context, const void* from, void* from_context, size_t bytes,
                      void* stream) {
  return call(__func__, [&](Machine& m) {
    return m.copy_between(to, device_of(to_context), from, device_of(from_context), bytes, stream);
  });
}
int cuMemsetD8Async(void* to, unsigned char value, size_t bytes, void* stream) {
  return call(__func__, [&](Machine& m) { return m.fill(to, value, bytes, stream); });
}
int cuStreamCreate(void** stream, unsigned) {
  return call(__func__, [&](Machine& m) { return answer(stream, m.make(Kind::Stream)); });
}
int cuStreamDestroy_v2(void* stream) {
  return call(__func__, [&](Machine& m) { return m.release(Kind::Stream, stream); }, Rule::Releases);
}
int cuStreamSynchronize(void* stream) {
  return call(__func__, [&](Machine& m) { return m.wait(stream); }, Rule::NotWhileCapturing);
}
int cuStreamQuery(void* stream) {
  return call(__func__, [&](Machine& m) { return m.query(stream); }, Rule::NotWhileCapturing);
}
int cuStreamWaitEvent(void* stream, void* event, unsigned) {
  return call(__func__, [&](Machine& m) { return m.make_wait(stream, event); });
}
int cuEventCreate(void** event, unsigned) {
  return call(__func__, [&](Machine& m) { return answer(event, m.make(Kind::Event)); });
}
int cuEventDestroy_v2(void* event) {
  return call(__func__, [&](Machine& m) { return m.release(Kind::Event, event); }, Rule::Releases);
}
int cuEventRecord(void* event, void* stream) {
  return call(__func__, [&](Machine& m) { return m.record(event, stream); });
}
int cuEventSynchronize(void* event) {
  return call(
      __func__, [&](Machine& m) { return m.find(Kind::Event, event) == nullptr ? fake::kInvalid : 0; },
      Rule::NotWhileCapturing);
}
int cuEventQuery(void* event) {
  return call(
      __func__, [&](Machine& m) { return m.find(Kind::Event, event) == nullptr ? fake::kInvalid : 0; },
      Rule::NotWhileCapturing);
}
int cuEventElapsedTime(float* milliseconds, void* from, void* to) {
  return call(__func__, [&](Machine& m) { return m.elapsed(milliseconds, from, to); });
}
int cuModuleLoadData(void** module, const void* image) {
  return call(__func__, [&](Machine& m) { return m.load(module, image); }, Rule::NotWhileCapturing);
}
int cuModuleUnload(void* module) {
  return call(__func__, [&](Machine& m) { return m.release(Kind::Module, module); }, Rule::Releases);
}
int cuModuleGetFunction(void** function, void* module, const char* name) {
  return call(__func__, [&](Machine& m) { return m.function(function, module, name); });
}
int cuFuncGetAttribute(int* value, int attribute, void*) {
  return call(__func__, [&](Machine& m) {
    return attribute == 1 ? answer(value, static_cast<int>(m.control.static_shared)) : fake::kInvalid;
  });
}
int cuFuncSetAttribute(void* function, int attribute, int value) {
  return call(__func__, [&](Machine& m) {
    if (attribute != 8 || value < 0 ||
        static_cast<unsigned>(value) + m.control.static_shared > unsigned{kSharedOptIn})
      return fake::kInvalid;
    m.allowed_shared[function] = static_cast<unsigned>(value);
    return 0;
  });
}
int cuTensorMapEncodeTiled(void*, int, unsigned, void*, const uint64_t*, const uint64_t*, const unsigned*,
                           const unsigned*, int, int, int, int) {
  return call(__func__, [&](Machine&) { return 0; });
}
int cuStreamBeginCapture_v2(void* stream, int mode) {
  return call(__func__, [&](Machine& m) { return m.begin_capture(stream, mode); });
}
int cuStreamEndCapture(void* stream, void** graph) {
  return call(__func__, [&](Machine& m) { return m.end_capture(stream, graph); });
}
int cuGraphInstantiateWithFlags(void** exec, void* graph, unsigned long long) {
  return call(__func__, [&](Machine& m) { return m.instantiate(exec, graph); });
}
int cuGraphLaunch(void* exec, void* stream) { return fake::call_launch_graph(__func__, exec, stream); }
int cuGraphDestroy(void* graph) {
  return call(__func__, [&](Machine& m) { return m.release(Kind::Graph, graph); }, Rule::Releases);
}
int cuGraphExecDestroy(void* exec) {
  return call(__func__, [&](Machine& m) { return m.release(Kind::Instance, exec); }, Rule::Releases);
}
int cuLaunchKernel(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                   unsigned bz, unsigned shared, void* stream, void** parameters, void**) {
  return call(__func__, [&](Machine& m) {
    if (!may_share(m, function, shared)) return fake::kInvalid;
    if (gx > INT32_MAX || gy > UINT16_MAX || gz > UINT16_MAX) return m.misuse("a grid of too many blocks");
    return m.launch(function, {gx, gy, gz}, bx * by * bz, parameters[0], 0, stream);
  });
}
int cuLaunchKernelEx(const void* config, void* function, void** parameters, void**) {
  const Config& c = *static_cast<const Config*>(config);
  return call(__func__, [&](Machine& m) {
    const Asked asked = asked_for(c);
    if (asked.cluster == 0 || !may_share(m, function, c.shared_bytes)) return 1;
    return m.launch(function, {c.grid[0], c.grid[1], c.grid[2]}, c.block[0] * c.block[1] * c.block[2],
                    parameters[0], 0, c.stream, asked.programmatic);
  });
}
int cuOccupancyMaxActiveClusters(int* count, void*, const void* config) {
  return call(__func__, [&](Machine& m) {
    const unsigned cluster = asked_for(*static_cast<const Config*>(config)).cluster;
    if (m.control.cluster_blocks == 0) return 801;
    return cluster == 0 ? 1 : answer(count, m.control.cluster_blocks / static_cast<int>(cluster));
  });
}
