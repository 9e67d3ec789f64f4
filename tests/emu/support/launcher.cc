// SPDX-License-Identifier: Apache-2.0
#include "emu/support/launcher.h"

#include <stdexcept>

namespace emu::test {

Device::Device(const std::string& chip, const std::vector<std::byte>& object) : memory_(uint64_t(1) << 30) {
  const Chip* found = find_chip(chip);
  if (found == nullptr) throw std::runtime_error("no chip " + chip);
  image_ = std::make_unique<Image>(object, *found, memory_);
}

void Device::launch(const std::string& name, Shape shape, const std::vector<std::vector<std::byte>>& values) {
  const Kernel* kernel = image_->find_kernel(name);
  if (kernel == nullptr) throw std::runtime_error("no kernel " + name);
  std::vector<std::byte> segment(kernel->kernarg_bytes + 64);
  const auto put = [&](uint32_t offset, uint64_t value, uint32_t size) {
    std::memcpy(segment.data() + offset, &value, size);
  };
  size_t next = 0;
  for (const Argument& a : kernel->arguments) {
    if (!a.hidden()) {
      if (next >= values.size() || values[next].size() != a.size)
        throw std::runtime_error("arguments of " + name);
      std::memcpy(segment.data() + a.offset, values[next].data(), a.size);
      ++next;
    } else if (a.kind == "hidden_block_count_x") {
      put(a.offset, shape.grid, 4);
    } else if (a.kind == "hidden_block_count_y") {
      put(a.offset, shape.grid_y, 4);
    } else if (a.kind == "hidden_block_count_z") {
      put(a.offset, 1, 4);
    } else if (a.kind == "hidden_group_size_x") {
      put(a.offset, shape.block, 2);
    } else if (a.kind == "hidden_group_size_y") {
      put(a.offset, shape.block_y, 2);
    } else if (a.kind == "hidden_group_size_z") {
      put(a.offset, 1, 2);
    } else if (a.kind == "hidden_grid_dims") {
      put(a.offset, shape.grid_y * shape.block_y > 1 ? 2 : 1, 2);
    }
  }
  if (next != values.size()) throw std::runtime_error("too many arguments for " + name);
  std::byte* kernargs = upload(segment);
  std::vector<std::byte> packet_bytes(64);
  const uint16_t workgroup[3] = {uint16_t(shape.block), uint16_t(shape.block_y), 1};
  const uint32_t items[3] = {shape.grid * shape.block, shape.grid_y * shape.block_y, 1};
  std::memcpy(packet_bytes.data() + 4, workgroup, 6);
  std::memcpy(packet_bytes.data() + 12, items, 12);
  std::byte* packet = upload(packet_bytes);
  Launch launch{};
  launch.kernel = kernel;
  launch.grid[0] = shape.grid;
  launch.grid[1] = shape.grid_y;
  launch.grid[2] = 1;
  launch.block[0] = shape.block;
  launch.block[1] = shape.block_y;
  launch.block[2] = 1;
  launch.dynamic_lds = shape.dynamic_lds;
  launch.kernargs = kernargs;
  launch.dispatch_packet = reinterpret_cast<uint64_t>(packet);
  struct Release {
    Memory& memory;
    void* a;
    void* b;
    ~Release() {
      memory.release(a);
      memory.release(b);
    }
  } release{memory_, kernargs, packet};
  emu::run(launch, memory_, options, counting ? &counters : nullptr);
}

}  // namespace emu::test
