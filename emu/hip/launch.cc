// SPDX-License-Identifier: Apache-2.0
#include "emu/hip/launch.h"

#include <algorithm>
#include <cstring>
#include <mutex>

#include "emu/exec/run.h"
#include "emu/hip/device.h"
#include "emu/hip/graph.h"
#include "emu/hip/host_side.h"
#include "emu/hip/occupancy.h"
#include "emu/hip/report.h"
#include "emu/hip/runtime.h"
#include "emu/hip/tables.h"

namespace emu::hip {
namespace {

constexpr auto kExtraPointer = 1, kExtraSize = 2, kExtraEnd = 3;

// hsa_kernel_dispatch_packet_t of the HSA specification.
struct DispatchPacket {
  uint16_t header, setup;
  uint16_t workgroup_size[3], reserved0;
  uint32_t grid_size[3];  // in work-items
  uint32_t private_segment_size, group_segment_size;
  uint64_t kernel_object, kernarg_address, reserved2, completion_signal;
};
static_assert(sizeof(DispatchPacket) == 64);
constexpr uint16_t kPacketKernelDispatch = 2;

// Kernels load arguments in wider pieces than they need; the real runtime's segments are multiples of cache
// lines.
constexpr size_t kKernargStep = 64;

// A block in the device's memory for the time of one launch.
class Scratch {
 public:
  Scratch(Memory& memory, const void* bytes, size_t size)
      : memory_(memory), block_(memory.allocate(room_for(size))) {
    if (block_ == nullptr)
      throw Fault(Fault::Kind::Unsupported, "no device memory is left for a kernel's arguments");
    if (size > 0) std::memcpy(block_, bytes, size);
    const size_t room = room_for(size);
    std::memset(static_cast<std::byte*>(block_) + size, 0, room - size);
    memory.mark_initialized(reinterpret_cast<uint64_t>(block_), room);
  }
  ~Scratch() { memory_.release(block_, true); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  std::byte* get() const { return static_cast<std::byte*>(block_); }

 private:
  static size_t room_for(size_t size) {
    return std::max<size_t>(1, (size + kKernargStep - 1) / kKernargStep) * kKernargStep;
  }
  Memory& memory_;
  void* block_;
};

// The value of one hidden argument. Offsets come from the metadata, meanings from LLVM's AMDGPU usage guide.
uint64_t hidden_value(const std::string& kind, Dim3 grid, Dim3 block, uint32_t dynamic_lds) {
  if (kind == "hidden_block_count_x") return grid.x;
  if (kind == "hidden_block_count_y") return grid.y;
  if (kind == "hidden_block_count_z") return grid.z;
  if (kind == "hidden_group_size_x") return block.x;
  if (kind == "hidden_group_size_y") return block.y;
  if (kind == "hidden_group_size_z") return block.z;
  if (kind == "hidden_grid_dims") return 3;
  if (kind == "hidden_dynamic_lds_size") return dynamic_lds;
  // Remainders and global offsets are 0 under HIP; there are no queues; the rest is of a run (host_side.cc).
  return 0;
}

size_t explicit_bytes(const Kernel& kernel) {
  size_t bytes = 0;
  for (const Argument& argument : kernel.arguments)
    if (!argument.hidden()) bytes = std::max<size_t>(bytes, argument.offset + argument.size);
  return bytes;
}

void fill_from_params(const Kernel& kernel, void** params, std::vector<std::byte>& kernargs) {
  size_t index = 0;
  for (const Argument& argument : kernel.arguments) {
    if (argument.hidden()) continue;
    require(params != nullptr && params[index] != nullptr, hipErrorInvalidValue,
            "an argument's address is null");
    std::memcpy(kernargs.data() + argument.offset, params[index++], argument.size);
  }
}

void fill_from_extra(const Kernel& kernel, void** extra, std::vector<std::byte>& kernargs) {
  const void* buffer = nullptr;
  size_t size = 0;
  for (size_t i = 0;; i += 2) {
    const auto key = reinterpret_cast<uintptr_t>(extra[i]);
    if (key == kExtraEnd) break;
    if (key == kExtraPointer) {
      buffer = extra[i + 1];
    } else if (key == kExtraSize) {
      require(extra[i + 1] != nullptr, hipErrorInvalidValue, "the address of the size in `extra` is null");
      std::memcpy(&size, extra[i + 1], sizeof size);
    } else {
      throw ApiError(hipErrorInvalidValue, "`extra` holds an unknown key");
    }
  }
  const size_t needed = explicit_bytes(kernel);
  require(needed == 0 || (buffer != nullptr && size >= needed), hipErrorInvalidValue,
          "the buffer in `extra` is smaller than the kernel's arguments");
  if (buffer != nullptr) std::memcpy(kernargs.data(), buffer, std::min(size, needed));
}

void check_sizes(const Function& function, Dim3 grid, Dim3 block, uint32_t dynamic_lds) {
  const Kernel& kernel = *function.kernel;
  require(grid.x > 0 && grid.y > 0 && grid.z > 0 && block.x > 0 && block.y > 0 && block.z > 0,
          hipErrorInvalidConfiguration, "a dimension of grid or block is 0");
  require(grid.y <= kMostBlocksYZ && grid.z <= kMostBlocksYZ, hipErrorInvalidConfiguration,
          "the grid's y and z end at 65535");
  const auto items = [](uint32_t blocks, uint32_t size) { return uint64_t{blocks} * size; };
  require(items(grid.x, block.x) <= UINT32_MAX && items(grid.y, block.y) <= UINT32_MAX &&
              items(grid.z, block.z) <= UINT32_MAX,
          hipErrorInvalidConfiguration, "a dimension has 2^32 work-items or more");
  require(
      block.x <= 1024 && block.y <= 1024 && block.z <= 1024 && uint64_t{block.x} * block.y * block.z <= 1024,
      hipErrorInvalidConfiguration, "a block has more than 1024 work-items");
  if (block.x * block.y * block.z > kernel.max_flat_workgroup_size)
    throw ApiError(hipErrorLaunchFailure, kernel.name + " was compiled for blocks of " +
                                              std::to_string(kernel.max_flat_workgroup_size) + " at most");
  require(uint64_t{kernel.group_segment_bytes} + dynamic_lds <= kernel.chip->lds_bytes(),
          hipErrorInvalidValue, "more shared memory than a block can have");
}

void check_that_all_fit(const KernelCall& call) {
  const Kernel& kernel = *call.kernel;
  const uint64_t groups = uint64_t{call.grid.x} * call.grid.y * call.grid.z;
  const uint64_t fit =
      uint64_t{occupancy(kernel, call.block.x * call.block.y * call.block.z, call.dynamic_lds).groups} *
      kernel.chip->multiprocessors();
  if (groups > fit)
    throw ApiError(hipErrorCooperativeLaunchTooLarge, std::to_string(groups) + " blocks, and " +
                                                          std::to_string(fit) + " fit on the device at once");
}

}  // namespace

std::shared_ptr<const KernelCall> make_call(const Function& function, Dim3 grid, Dim3 block,
                                            uint32_t dynamic_lds, void** params, void** extra) {
  require(params == nullptr || extra == nullptr, hipErrorInvalidValue,
          "both kernelParams and extra are given");
  check_sizes(function, grid, block, dynamic_lds);
  const Kernel& kernel = *function.kernel;
  auto call = std::make_shared<KernelCall>();
  call->image = function.image;
  call->kernel = &kernel;
  call->device = function.device;
  call->grid = grid;
  call->block = block;
  call->dynamic_lds = dynamic_lds;
  call->function = &function;
  call->kernargs.resize(kernel.kernarg_bytes);
  if (extra != nullptr) {
    fill_from_extra(kernel, extra, call->kernargs);
  } else {
    fill_from_params(kernel, params, call->kernargs);
  }
  for (const Argument& argument : kernel.arguments) {
    if (!argument.hidden()) {
      call->places.push_back(call->kernargs.data() + argument.offset);
      continue;
    }
    const uint64_t value = hidden_value(argument.kind, grid, block, dynamic_lds);
    std::memcpy(call->kernargs.data() + argument.offset, &value,
                std::min<size_t>(argument.size, sizeof value));
  }
  return call;
}

void KernelCall::run() const {
  Memory& memory = device->memory();
  const Scratch arguments(memory, kernargs.data(), kernargs.size());
  DispatchPacket packet{};
  packet.header = kPacketKernelDispatch;
  packet.setup = 3;
  const uint32_t blocks[3] = {grid.x, grid.y, grid.z}, items[3] = {block.x, block.y, block.z};
  for (int i = 0; i < 3; ++i) {
    packet.workgroup_size[i] = static_cast<uint16_t>(items[i]);
    packet.grid_size[i] = blocks[i] * items[i];
  }
  packet.private_segment_size = kernel->private_segment_bytes;
  packet.group_segment_size = kernel->group_segment_bytes + dynamic_lds;
  packet.kernel_object = kernel->descriptor_address;
  packet.kernarg_address = reinterpret_cast<uint64_t>(arguments.get());
  const Scratch dispatch(memory, &packet, sizeof packet);
  RunHost host(*kernel, *device, arguments.get(), uint64_t{grid.x} * grid.y * grid.z, cooperative);
  const Launch launch{kernel,
                      {grid.x, grid.y, grid.z},
                      {block.x, block.y, block.z},
                      dynamic_lds,
                      arguments.get(),
                      reinterpret_cast<uint64_t>(dispatch.get()),
                      &host.side(),
                      cooperative,
                      &device->ending()};
  const Settings& settings = Runtime::get().settings();
  if (settings.counters.empty() && !counting_asked()) {
    emu::run(launch, memory, settings.options, nullptr);
  } else {
    Counters counters;
    emu::run(launch, memory, settings.options, &counters);
    if (!device->ending()) add_counters(*kernel, launch, counters);
  }
  if (device->ending()) return;  // perhaps in the middle of the kernel
  host.finish();
  if (!settings.launched.empty()) note_launched(*kernel);
  // What LLVM makes at its first use exists now; workers must be stopped before it goes.
  static std::once_flag once;
  std::call_once(once, register_exit);
}

void launch(const Function& function, Dim3 grid, Dim3 block, size_t dynamic_lds, Stream& stream,
            void** params, void** extra, const void* handle, bool cooperative) {
  require(&stream.device() == function.device, hipErrorInvalidHandle,
          "the stream and the kernel are of different devices");
  function.device->check();
  require(dynamic_lds <= UINT32_MAX, hipErrorInvalidValue, "more shared memory than a block can have");
  auto call = make_call(function, grid, block, static_cast<uint32_t>(dynamic_lds), params, extra);
  if (cooperative) check_that_all_fit(*call);
  const auto changed = std::const_pointer_cast<KernelCall>(call);
  changed->function = handle;
  changed->cooperative = cooperative;
  enqueue(stream, {NodeType::Kernel, [call] { call->run(); }, call});
}

}  // namespace emu::hip
