// SPDX-License-Identifier: Apache-2.0
// Runs kernels of a code object without the HIP API: memory, arguments (hidden ones too), one launch.
#pragma once

#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "emu/chips.h"
#include "emu/code_object.h"
#include "emu/exec/run.h"
#include "emu/memory.h"

namespace emu::test {

struct Shape {
  uint32_t grid = 1, block = 1, grid_y = 1, block_y = 1, dynamic_lds = 0;
};

class Device {
 public:
  Device(const std::string& chip, const std::vector<std::byte>& object);

  /// A device block with a copy of these values.
  template <class T>
  T* upload(const std::vector<T>& values) {
    T* block = static_cast<T*>(memory_.allocate(values.size() * sizeof(T)));
    std::memcpy(block, values.data(), values.size() * sizeof(T));
    memory_.mark_initialized(reinterpret_cast<uint64_t>(block), values.size() * sizeof(T));
    return block;
  }
  /// A block that was never written.
  template <class T>
  T* allocate(size_t count) {
    return static_cast<T*>(memory_.allocate(count * sizeof(T)));
  }
  template <class T>
  std::vector<T> download(const T* block, size_t count) {
    return std::vector<T>(block, block + count);
  }

  /// Arguments by value in order; each must have the size that the kernel's metadata gives.
  template <class... A>
  void run(const std::string& kernel, Shape shape, const A&... arguments) {
    std::vector<std::vector<std::byte>> values;
    (values.push_back(bytes_of(arguments)), ...);
    launch(kernel, shape, values);
  }

  Memory& memory() { return memory_; }
  const Image& image() const { return *image_; }
  Options options;
  Counters counters;
  bool counting = true;  // into `counters`; it costs time

 private:
  template <class T>
  static std::vector<std::byte> bytes_of(const T& value) {
    const std::span<const std::byte> bytes = std::as_bytes(std::span(&value, 1));
    return {bytes.begin(), bytes.end()};
  }
  void launch(const std::string& name, Shape shape, const std::vector<std::vector<std::byte>>& values);

  Memory memory_;
  std::unique_ptr<Image> image_;
};

}  // namespace emu::test
