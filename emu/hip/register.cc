// SPDX-License-Identifier: Apache-2.0
// What the compiler puts into programs: fat binaries register before main, `<<< >>>` pushes a configuration,
// calls the host stub, and that pops it and launches by the stub's address. Code is loaded for a device at
// its first use.
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "emu/bundle.h"
#include "emu/hip/copy.h"
#include "emu/hip/device.h"
#include "emu/hip/graph.h"
#include "emu/hip/module.h"
#include "emu/hip/registered.h"
#include "emu/hip/runtime.h"
#include "emu/hip/tables.h"

namespace emu::hip {
namespace {

constexpr uint32_t kWrapperMagic = 0x48495046;  // "HIPF", as clang writes it

struct Wrapper {
  uint32_t magic, version;
  const void* binary;
  void* unused;
};

struct Managed {
  void** host_pointer;
  const void* initial;
  std::string name;
  size_t bytes;
};

struct FatBinary {
  const void* binary = nullptr;
  std::map<const Device*, std::unique_ptr<Module>> modules;
  std::vector<Managed> managed;
};

struct Name {
  FatBinary* binary;
  std::string name;
};

struct Configuration {
  Dim3 grid, block;
  size_t shared;
  StreamHandle stream;
};

// All of these must be there before main, and after the last program's destructor: plain globals. A forked
// child's end leaves the modules alone.
std::mutex registry_mutex;
auto& binaries = *new std::map<FatBinary*, std::unique_ptr<FatBinary>>;
std::map<const void*, Name> functions, variables;
thread_local std::vector<Configuration> configurations;

// The device's variables of these names hold the addresses of the memory that both sides share.
void set_managed(const FatBinary& binary, const Image& image) {
  for (const Managed& managed : binary.managed) {
    const auto* global = image.find_global(managed.name);
    if (global != nullptr && global->bytes >= sizeof(void*))
      std::memcpy(reinterpret_cast<void*>(global->address), static_cast<const void*>(managed.host_pointer),
                  sizeof(void*));
  }
}

// The binary's module on a device; registry_mutex is held. Throws LoadError.
Module& module_on(FatBinary& binary, Device& device) {
  auto& module = binary.modules[&device];
  if (!module) {
    device.check();
    const size_t size = image_size(binary.binary);
    require(size > 0, hipErrorInvalidKernelFile, "the program's fat binary is none");
    module = std::make_unique<Module>(std::span(static_cast<const std::byte*>(binary.binary), size), device);
    set_managed(binary, module->image());
  }
  return *module;
}

}  // namespace

void clear_fat_binaries() {
  const std::lock_guard lock(registry_mutex);
  for (const auto& [handle, binary] : binaries) binary->modules.clear();
}

void reset_fat_binaries(Device& device) {
  const std::lock_guard lock(registry_mutex);
  for (const auto& [handle, binary] : binaries) {
    const auto found = binary->modules.find(&device);
    if (found == binary->modules.end() || !found->second) continue;
    found->second->image().restore();
    set_managed(*binary, found->second->image());
  }
}

Function* find_registered_function(const void* host_address, Device& device) {
  const std::lock_guard lock(registry_mutex);
  const auto found = functions.find(host_address);
  if (found == functions.end()) return nullptr;
  try {
    Function* function = module_on(*found->second.binary, device).function(found->second.name);
    if (function == nullptr)
      throw ApiError(hipErrorInvalidDeviceFunction, "the code has no kernel " + found->second.name);
    return function;
  } catch (const LoadError& error) {
    // The real runtime's answer to a program that was built for other chips.
    throw ApiError(error.kind == LoadError::Kind::WrongTarget ? hipErrorInvalidDeviceFunction
                                                              : hipErrorInvalidKernelFile,
                   error.what());
  }
}

Image::Global find_registered_variable(const void* host_address, Device& device) {
  const std::lock_guard lock(registry_mutex);
  const auto found = variables.find(host_address);
  require(found != variables.end(), hipErrorInvalidSymbol, "the address is no device variable's");
  const auto* global = module_on(*found->second.binary, device).image().find_global(found->second.name);
  if (global == nullptr)
    throw ApiError(hipErrorInvalidSymbol, "the code has no variable " + found->second.name);
  return *global;
}

}  // namespace emu::hip

using namespace emu::hip;

EMU_API void** __hipRegisterFatBinary(const void* data) {
  const auto* wrapper = static_cast<const Wrapper*>(data);
  if (wrapper == nullptr || wrapper->magic != kWrapperMagic || wrapper->version != 1) return nullptr;
  auto binary = std::make_unique<FatBinary>();
  binary->binary = wrapper->binary;
  FatBinary* handle = binary.get();
  const std::lock_guard lock(registry_mutex);
  binaries[handle] = std::move(binary);
  return reinterpret_cast<void**>(handle);
}

EMU_API void __hipRegisterFunction(void** binary, const void* host, char*, const char* name, unsigned, void*,
                                   void*, void*, void*, int*) {
  const std::lock_guard lock(registry_mutex);
  if (binary != nullptr) functions[host] = {reinterpret_cast<FatBinary*>(binary), name};
}

EMU_API void __hipRegisterVar(void** binary, void* host, char*, const char* name, int, size_t, int, int) {
  const std::lock_guard lock(registry_mutex);
  if (binary != nullptr) variables[host] = {reinterpret_cast<FatBinary*>(binary), name};
}

EMU_API void __hipRegisterManagedVar(void* binary, void** pointer, void* initial, const char* name,
                                     size_t bytes, unsigned) {
  if (binary == nullptr) return;
  api("__hipRegisterManagedVar", [&] {
    void* shared = Runtime::get().host().pinned().allocate(bytes);
    require(shared != nullptr, hipErrorOutOfMemory);
    std::memcpy(shared, initial, bytes);
    *pointer = shared;
    const std::lock_guard lock(registry_mutex);
    static_cast<FatBinary*>(binary)->managed.push_back({pointer, initial, name, bytes});
    variables[static_cast<const void*>(pointer)] = {static_cast<FatBinary*>(binary), name};
  });
}

EMU_API void __hipUnregisterFatBinary(void** handle) {
  if (forked()) return;
  auto* binary = reinterpret_cast<FatBinary*>(handle);
  std::unique_ptr<FatBinary> gone;
  const std::lock_guard lock(registry_mutex);
  const auto found = binaries.find(binary);
  if (found == binaries.end()) return;
  gone = std::move(found->second);
  binaries.erase(found);
  const auto mine = [&](const auto& entry) { return entry.second.binary == binary; };
  std::erase_if(functions, mine);
  std::erase_if(variables, mine);
}

EMU_API int __hipPushCallConfiguration(Dim3 grid, Dim3 block, size_t shared, StreamHandle stream) {
  return api("__hipPushCallConfiguration", [&] { configurations.push_back({grid, block, shared, stream}); });
}

EMU_API int __hipPopCallConfiguration(Dim3* grid, Dim3* block, size_t* shared, StreamHandle* stream) {
  return api("__hipPopCallConfiguration", [&] {
    require(!configurations.empty(), hipErrorMissingConfiguration, "no launch configuration");
    *grid = configurations.back().grid;
    *block = configurations.back().block;
    *shared = configurations.back().shared;
    *stream = configurations.back().stream;
    configurations.pop_back();
  });
}

EMU_API int hipConfigureCall(Dim3 grid, Dim3 block, size_t shared, StreamHandle stream) {
  return __hipPushCallConfiguration(grid, block, shared, stream);
}

namespace {
int launch_call(const char* name, const void* host, Dim3 grid, Dim3 block, void** params, size_t shared,
                StreamHandle stream, bool cooperative) {
  return api(name, [&] {
    Stream& used = find_stream(stream);
    // A stream of another device takes the kernel there.
    Function* function = host == nullptr ? nullptr : find_registered_function(host, used.device());
    require(function != nullptr, hipErrorInvalidDeviceFunction, "the address is no kernel's");
    launch(*function, grid, block, shared, used, params, nullptr, host, cooperative);
  });
}
}  // namespace

EMU_API int hipLaunchKernel(const void* host, Dim3 grid, Dim3 block, void** params, size_t shared,
                            StreamHandle stream) {
  return launch_call("hipLaunchKernel", host, grid, block, params, shared, stream, false);
}
EMU_API int hipLaunchCooperativeKernel(const void* host, Dim3 grid, Dim3 block, void** params,
                                       unsigned shared, StreamHandle stream) {
  return launch_call("hipLaunchCooperativeKernel", host, grid, block, params, shared, stream, true);
}

EMU_API int hipGetSymbolAddress(void** address, const void* symbol) {
  return api("hipGetSymbolAddress", [&] {
    require(address != nullptr, hipErrorInvalidValue);
    *address = reinterpret_cast<void*>(find_registered_variable(symbol, Runtime::get().current()).address);
  });
}
EMU_API int hipGetSymbolSize(size_t* bytes, const void* symbol) {
  return api("hipGetSymbolSize", [&] {
    require(bytes != nullptr, hipErrorInvalidValue);
    *bytes = find_registered_variable(symbol, Runtime::get().current()).bytes;
  });
}

namespace {

int symbol_copy(const char* name, const void* symbol, void* other, size_t bytes, size_t offset, int kind,
                StreamHandle handle, bool to_symbol, bool wait) {
  return api(name, [&] {
    Stream& stream = find_stream(handle);
    const auto global = find_registered_variable(symbol, stream.device());
    require(offset <= global.bytes && bytes <= global.bytes - offset, hipErrorInvalidValue,
            "beyond the variable's end");
    if (bytes == 0) return;
    auto* place = reinterpret_cast<void*>(global.address + offset);
    copy_flat(to_symbol ? place : other, to_symbol ? other : place, bytes, kind, stream, wait);
  });
}

}  // namespace

EMU_API int hipMemcpyToSymbol(const void* symbol, const void* from, size_t bytes, size_t offset, int kind) {
  return symbol_copy("hipMemcpyToSymbol", symbol, const_cast<void*>(from), bytes, offset, kind, nullptr, true,
                     true);
}
EMU_API int hipMemcpyToSymbolAsync(const void* symbol, const void* from, size_t bytes, size_t offset,
                                   int kind, StreamHandle stream) {
  return symbol_copy("hipMemcpyToSymbolAsync", symbol, const_cast<void*>(from), bytes, offset, kind, stream,
                     true, false);
}
EMU_API int hipMemcpyFromSymbol(void* to, const void* symbol, size_t bytes, size_t offset, int kind) {
  return symbol_copy("hipMemcpyFromSymbol", symbol, to, bytes, offset, kind, nullptr, false, true);
}
EMU_API int hipMemcpyFromSymbolAsync(void* to, const void* symbol, size_t bytes, size_t offset, int kind,
                                     StreamHandle stream) {
  return symbol_copy("hipMemcpyFromSymbolAsync", symbol, to, bytes, offset, kind, stream, false, false);
}
