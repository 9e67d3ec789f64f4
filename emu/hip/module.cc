// SPDX-License-Identifier: Apache-2.0
#include "emu/hip/module.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "emu/bundle.h"
#include "emu/hip/device.h"
#include "emu/hip/occupancy.h"
#include "emu/hip/runtime.h"
#include "emu/hip/tables.h"

namespace emu::hip {
namespace {

Handles<Module> live_modules;

// hipFunction_attribute, in its published order.
enum Attribute {
  kMaxThreadsPerBlock,
  kSharedBytes,
  kConstBytes,
  kLocalBytes,
  kRegisters,
  kPtxVersion,
  kBinaryVersion,
  kCacheMode,
  kMaxDynamicShared,
  kPreferredCarveout,
  kAttributeCount
};

int binary_version(const Chip& chip) {
  // 1100 -> 110: as far as digits go, which is what the real runtime gives too.
  return static_cast<int>(std::strtol(chip.name + 3, nullptr, 16));
}

int attribute(const Kernel& kernel, int which) {
  switch (which) {
    case kMaxThreadsPerBlock:
      return static_cast<int>(kernel.max_flat_workgroup_size);
    case kSharedBytes:
      return static_cast<int>(kernel.group_segment_bytes);
    case kConstBytes:
      return 0;
    case kLocalBytes:
      return static_cast<int>(kernel.private_segment_bytes);
    case kRegisters:
      return static_cast<int>(kernel.vgpr_count);
    case kPtxVersion:
    case kBinaryVersion:
      return binary_version(*kernel.chip);
    case kCacheMode:
    case kPreferredCarveout:
      return 0;
    case kMaxDynamicShared:
      return static_cast<int>(kernel.chip->lds_bytes() - kernel.group_segment_bytes);
    default:
      throw ApiError(hipErrorInvalidValue, "no such attribute");
  }
}

struct FunctionAttributes {
  int binaryVersion, cacheModeCA;
  size_t constSizeBytes, localSizeBytes;
  int maxDynamicSharedSizeBytes, maxThreadsPerBlock, numRegs, preferredShmemCarveout, ptxVersion;
  size_t sharedSizeBytes;
};
static_assert(sizeof(FunctionAttributes) == 56);

// The largest block of whole waves with the most resident waves; ties go to the larger block.
void best_block(const Kernel& kernel, uint32_t dynamic_lds, uint32_t limit, int* blocks, int* block) {
  uint32_t best = 0, best_waves = 0;
  if (limit == 0 || limit > kernel.max_flat_workgroup_size) limit = kernel.max_flat_workgroup_size;
  for (uint32_t size = kernel.wavefront_size; size <= limit; size += kernel.wavefront_size) {
    const uint32_t waves = occupancy(kernel, size, dynamic_lds).groups * (size / kernel.wavefront_size);
    if (waves >= best_waves && waves > 0) {
      best_waves = waves;
      best = size;
    }
  }
  require(best > 0, hipErrorInvalidValue, "no block size fits");
  *block = static_cast<int>(best);
  *blocks = static_cast<int>(occupancy(kernel, best, dynamic_lds).groups * kernel.chip->multiprocessors());
}

int active_blocks_call(const char* name, int* blocks, const void* function, int block, size_t dynamic_lds) {
  return api(name, [&] {
    require(blocks != nullptr && block > 0 && dynamic_lds <= UINT32_MAX, hipErrorInvalidValue);
    const auto found = occupancy(*find_function(function).kernel, static_cast<uint32_t>(block),
                                 static_cast<uint32_t>(dynamic_lds));
    *blocks = static_cast<int>(found.groups);
  });
}

int best_block_call(const char* name, int* blocks, int* block, const void* function, size_t dynamic_lds,
                    int limit) {
  return api(name, [&] {
    require(blocks != nullptr && block != nullptr && limit >= 0 && dynamic_lds <= UINT32_MAX,
            hipErrorInvalidValue);
    best_block(*find_function(function).kernel, static_cast<uint32_t>(dynamic_lds),
               static_cast<uint32_t>(limit), blocks, block);
  });
}

}  // namespace

template <>
Handles<Module>& handles<Module>() {
  return live_modules;
}
void clear_modules() { live_modules.clear(); }
void reset_modules(Device& device) {
  for (const Module* module : live_modules.all())
    if (&module->device() == &device) module->image().restore();
}

Module::Module(std::span<const std::byte> image, Device& device) : device_(device) {
  image_ = std::make_shared<Image>(select_code(image, device.chip()).bytes, device.chip(), device.memory());
}

Function* Module::function(const std::string& name) {
  const std::lock_guard lock(mutex_);
  auto& function = functions_[name];
  if (!function) {
    const Kernel* kernel = image_->find_kernel(name);
    if (kernel == nullptr) {
      functions_.erase(name);
      return nullptr;
    }
    function = std::make_unique<Function>(Function{image_, kernel, &device_});
  }
  return function.get();
}

bool Module::owns(const Function* function) const {
  const std::lock_guard lock(mutex_);
  for (const auto& [name, mine] : functions_)
    if (mine.get() == function) return true;
  return false;
}

Function& find_module_function(Function* handle) {
  for (const Module* module : live_modules.all())
    if (module->owns(handle)) return *handle;
  throw ApiError(hipErrorInvalidHandle, "no such function, or its module is unloaded");
}

Function& find_function(const void* handle) {
  require(handle != nullptr, hipErrorInvalidDeviceFunction, "no function");
  if (Function* function = find_registered_function(handle, Runtime::get().current())) return *function;
  for (const Module* module : live_modules.all())
    if (module->owns(static_cast<const Function*>(handle)))
      return *static_cast<Function*>(const_cast<void*>(handle));
  throw ApiError(hipErrorInvalidDeviceFunction, "the address is no kernel's");
}

}  // namespace emu::hip

using namespace emu::hip;

EMU_API int hipModuleLoadData(Module** module, const void* image) {
  return api("hipModuleLoadData", [&] {
    require(module != nullptr && image != nullptr, hipErrorInvalidValue, "a null pointer");
    forbid_while_capturing();
    Device& device = Runtime::get().current();
    device.check();
    const size_t size = emu::image_size(image);
    require(size > 0, hipErrorInvalidImage, "neither a code object nor a bundle of them");
    *module = handles<Module>().add(
        std::make_unique<Module>(std::span(static_cast<const std::byte*>(image), size), device));
  });
}
EMU_API int hipModuleLoadDataEx(Module** module, const void* image, unsigned, int*, void**) {
  return hipModuleLoadData(module, image);
}

EMU_API int hipModuleLoad(Module** module, const char* path) {
  return api("hipModuleLoad", [&] {
    require(module != nullptr && path != nullptr, hipErrorInvalidValue, "a null pointer");
    forbid_while_capturing();
    Device& device = Runtime::get().current();
    device.check();
    std::ifstream file(path, std::ios::binary);
    std::error_code ignored;
    require(file.good() && !std::filesystem::is_directory(path, ignored), hipErrorFileNotFound, path);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    *module = handles<Module>().add(std::make_unique<Module>(std::as_bytes(std::span(bytes)), device));
  });
}

EMU_API int hipModuleUnload(Module* handle) {
  return api("hipModuleUnload", [&] {
    forbid_while_capturing();
    // Work that is still queued keeps the image alive.
    handles<Module>().take(handle);
  });
}

EMU_API int hipModuleGetFunction(Function** function, Module* handle, const char* name) {
  return api("hipModuleGetFunction", [&] {
    require(function != nullptr && name != nullptr, hipErrorInvalidValue, "a null pointer");
    *function = handles<Module>().check(handle).function(name);
    if (*function == nullptr)
      throw ApiError(hipErrorNotFound, std::string("the module has no kernel ") + name);
  });
}

EMU_API int hipModuleGetGlobal(void** address, size_t* bytes, Module* handle, const char* name) {
  return api("hipModuleGetGlobal", [&] {
    require(name != nullptr, hipErrorInvalidValue, "a null pointer");
    const auto* global = handles<Module>().check(handle).image().find_global(name);
    if (global == nullptr)
      throw ApiError(hipErrorNotFound, std::string("the module has no variable ") + name);
    if (address != nullptr) *address = reinterpret_cast<void*>(global->address);
    if (bytes != nullptr) *bytes = global->bytes;
  });
}

EMU_API int hipModuleLaunchKernel(Function* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                  unsigned by, unsigned bz, unsigned shared, StreamHandle stream,
                                  void** params, void** extra) {
  return api("hipModuleLaunchKernel", [&] {
    launch(find_module_function(function), {gx, gy, gz}, {bx, by, bz}, shared, find_stream(stream), params,
           extra, function);
  });
}

EMU_API int hipModuleLaunchCooperativeKernel(Function* function, unsigned gx, unsigned gy, unsigned gz,
                                             unsigned bx, unsigned by, unsigned bz, unsigned shared,
                                             StreamHandle stream, void** params) {
  return api("hipModuleLaunchCooperativeKernel", [&] {
    launch(find_module_function(function), {gx, gy, gz}, {bx, by, bz}, shared, find_stream(stream), params,
           nullptr, function, true);
  });
}

EMU_API int hipFuncGetAttribute(int* value, int which, Function* function) {
  return api("hipFuncGetAttribute", [&] {
    require(value != nullptr, hipErrorInvalidValue);
    *value = attribute(*find_module_function(function).kernel, which);
  });
}

EMU_API int hipFuncGetAttributes(FunctionAttributes* values, const void* function) {
  return api("hipFuncGetAttributes", [&] {
    require(values != nullptr, hipErrorInvalidValue);
    const emu::Kernel& kernel = *find_function(function).kernel;
    *values = {attribute(kernel, kBinaryVersion),
               0,
               0,
               kernel.private_segment_bytes,
               attribute(kernel, kMaxDynamicShared),
               attribute(kernel, kMaxThreadsPerBlock),
               attribute(kernel, kRegisters),
               0,
               attribute(kernel, kPtxVersion),
               kernel.group_segment_bytes};
  });
}

EMU_API int hipFuncSetAttribute(const void* function, int which, int value) {
  return api("hipFuncSetAttribute", [&] {
    const emu::Kernel& kernel = *find_function(function).kernel;
    require(which == kMaxDynamicShared || which == kPreferredCarveout, hipErrorInvalidValue,
            "this attribute cannot be set");
    // AMD hands out shared memory at the launch; the call only learns whether there is so much.
    require(which != kMaxDynamicShared || (value >= 0 && value <= attribute(kernel, kMaxDynamicShared)),
            hipErrorInvalidValue, "more shared memory than a block can have");
  });
}
EMU_API int hipFuncSetCacheConfig(const void* function, int) {
  return api("hipFuncSetCacheConfig", [&] { find_function(function); });
}
EMU_API int hipFuncSetSharedMemConfig(const void* function, int) {
  return api("hipFuncSetSharedMemConfig", [&] { find_function(function); });
}

EMU_API int hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Function* function, int block,
                                                               size_t shared) {
  return active_blocks_call("hipModuleOccupancyMaxActiveBlocksPerMultiprocessor", blocks, function, block,
                            shared);
}
EMU_API int hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, Function* function,
                                                                        int block, size_t shared, unsigned) {
  return active_blocks_call("hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", blocks, function,
                            block, shared);
}
EMU_API int hipOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function, int block,
                                                         size_t shared) {
  return active_blocks_call("hipOccupancyMaxActiveBlocksPerMultiprocessor", blocks, function, block, shared);
}
EMU_API int hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* function,
                                                                  int block, size_t shared, unsigned) {
  return active_blocks_call("hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", blocks, function, block,
                            shared);
}
EMU_API int hipModuleOccupancyMaxPotentialBlockSize(int* blocks, int* block, Function* function,
                                                    size_t shared, int limit) {
  return best_block_call("hipModuleOccupancyMaxPotentialBlockSize", blocks, block, function, shared, limit);
}
EMU_API int hipModuleOccupancyMaxPotentialBlockSizeWithFlags(int* blocks, int* block, Function* function,
                                                             size_t shared, int limit, unsigned) {
  return best_block_call("hipModuleOccupancyMaxPotentialBlockSizeWithFlags", blocks, block, function, shared,
                         limit);
}
EMU_API int hipOccupancyMaxPotentialBlockSize(int* blocks, int* block, const void* function, size_t shared,
                                              int limit) {
  return best_block_call("hipOccupancyMaxPotentialBlockSize", blocks, block, function, shared, limit);
}
