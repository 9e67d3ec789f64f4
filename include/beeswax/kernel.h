// SPDX-License-Identifier: Apache-2.0
// Kernel: a GPU kernel of one's own, compiled at run time from CUDA or HIP source, or from the dialect that
// the library's kernels are written in (#include "kernels/gpu.h"), and launched on tensors.
//
//     const Kernel scale = Kernel::compile(device, R"(
//       __global__ void scale(const float* x, float* y, float factor, int n) {
//         const int i = blockIdx.x * blockDim.x + threadIdx.x;
//         if (i < n) y[i] = factor * x[i];
//       })", "scale");
//     scale.launch({.grid = {(n + 255u) / 256}, .block = {256}}, x, output(y), 2.0f, n);
//
// NVIDIA's NVRTC or AMD's hiprtc compiles it, or else an installed clang++ (19 or newer), which needs no
// toolkit of a vendor's. Compiled code is kept in beeswax/code of the user's cache folder, or in
// BEESWAX_CODE_CACHE.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "beeswax/device.h"
#include "beeswax/export.h"
#include "beeswax/tensor.h"

namespace beeswax {

/// Who compiles: the vendor's library and then clang, or only one of them.
enum class KernelCompiler : uint8_t { Any, Vendor, Clang };

/// A text that the source includes by a name.
struct KernelHeader {
  std::string name;
  std::string text;
};

struct KernelOptions {
  std::vector<std::string> defines{};  ///< "TILE=16" or "FAST", each in one line
  /// The source finds these, the dialect's headers and those that docs/gpu.md names, such as <cstdint>,
  /// <cmath> and <cuda_fp16.h>; files on the disk it does not, but by absolute paths with clang.
  std::vector<KernelHeader> headers{};
  KernelCompiler compiler = KernelCompiler::Any;
  std::string source_name{};  ///< what messages call the source; the kernel's name where empty
};

/// Blocks of a grid, or threads of a block.
struct LaunchSize {
  uint32_t x = 1, y = 1, z = 1;
};

struct LaunchOptions {
  LaunchSize grid{};
  LaunchSize block{};
  uint32_t shared_bytes = 0;  ///< of dynamic shared memory
};

/// Marks a tensor that a kernel writes.
struct KernelOutput {
  const Tensor* tensor;
};
inline KernelOutput output(const Tensor& tensor) { return {&tensor}; }

/// Where a contiguous tensor's first element lies on its device, for structs that a kernel takes; output()
/// counts as a write. RequiresContiguous.
BW_API const void* device_address(const Tensor& tensor);
BW_API void* device_address(const KernelOutput& output);

/// What one parameter of a kernel is given: the address of a tensor's first element, or the bytes of a value.
/// Refers to what it was made of, which must outlive the launch.
class KernelArgument {
 public:
  // NOLINTBEGIN(google-explicit-constructor): arguments are given as they are
  KernelArgument(const Tensor& tensor) : tensor_(&tensor) {}
  KernelArgument(const KernelOutput& output) : tensor_(output.tensor), written_(true) {}
  template <class T>
    requires(std::is_trivially_copyable_v<T> && !std::is_pointer_v<T> && !std::is_array_v<T> &&
             !std::convertible_to<T, Tensor>)
  KernelArgument(const T& value) : value_(&value), bytes_(sizeof(T)) {}
  // NOLINTEND(google-explicit-constructor)

  const Tensor* tensor() const { return tensor_; }  ///< null for a value
  bool written() const { return written_; }
  const void* value() const { return value_; }
  size_t bytes() const { return bytes_; }

 private:
  const Tensor* tensor_ = nullptr;
  const void* value_ = nullptr;
  size_t bytes_ = sizeof(void*);
  bool written_ = false;
};

/// A kernel on one device. Copies are the same kernel; they may be launched from many threads.
class BW_API Kernel {
 public:
  /// Compiles a source for a device and loads it; the same source is compiled and loaded once per device and
  /// process, and stays loaded. `name` is the kernel as the source has it ("scale", "image::blur",
  /// "blur<float>" where the source instantiates it) or its mangled symbol. Throws InvalidArgument with the
  /// compiler's log, or naming the kernels that there are, and Unsupported on the CPU and where no compiler
  /// is installed.
  static Kernel compile(const Device& device, std::string_view source, std::string_view name,
                        const KernelOptions& options = {});
  // Copies are the same kernel, and moving copies: no object is without one.
  Kernel(const Kernel&) = default;
  Kernel& operator=(const Kernel&) = default;

  const std::string& name() const;
  const Device& device() const;
  const std::string& compiler() const;  ///< who compiled it: "NVRTC 13.0"
  bool from_disk() const;               ///< its code was kept by an earlier process
  /// The bytes of each parameter.
  std::vector<uint32_t> parameter_bytes() const;
  uint32_t most_threads() const;  ///< of a block

  /// Submits the kernel; work on a device runs in the order it was submitted. Tensors must be contiguous and
  /// on the kernel's device, those it writes marked by output(). Throws InvalidArgument for a wrong number
  /// or size of arguments, a grid or block that is empty or too large, and more shared memory than a block of
  /// the device can have, DeviceMismatch, RequiresContiguous.
  template <class... Arguments>
  void launch(const LaunchOptions& options, const Arguments&... arguments) const {
    const std::array<KernelArgument, sizeof...(Arguments)> list = {KernelArgument(arguments)...};
    launch_list(options, list);
  }
  void launch_list(const LaunchOptions& options, std::span<const KernelArgument> arguments) const;

 private:
  struct Impl;
  explicit Kernel(std::shared_ptr<const Impl> impl);
  std::shared_ptr<const Impl> impl_;
};

}  // namespace beeswax
