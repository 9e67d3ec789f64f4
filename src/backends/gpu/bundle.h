// SPDX-License-Identifier: Apache-2.0
// The kernels that travel inside the library, as tools/kernels/pack.py packs them: for each target some
// modules, each compressed by itself, and an index of kernels by name. AMD chips of one class run the same
// code, but each takes only objects that bear its own name: they are targets that share modules, each with
// the few bytes that are its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace beeswax::gpu {

class Bundle {
 public:
  struct KernelRow {
    uint32_t module;  ///< number of its module in the target
    uint32_t argument_bytes;
    uint32_t shared_bytes;  ///< static
  };

  /// Throws Format for bytes that are not a whole bundle.
  explicit Bundle(std::span<const std::byte> file);
  /// The one in the library.
  static const Bundle& embedded();

  std::vector<std::string> targets() const;
  /// Number of the target whose code runs on a device of `arch` and needs the least of its driver: the same
  /// AMD chip, a cubin of the same major version, or PTX. `skip` of the candidates are left out: they were
  /// refused.
  std::optional<size_t> target_for(std::string_view arch, int skip = 0) const;
  std::string_view target_name(size_t target) const;
  /// Whether a target has the modules that are an architecture's own: those of "sm_90" are in the targets
  /// sm_90 and ptx_90a.
  static bool is_for(std::string_view target, std::string_view arch);
  /// Whether a target's kernels wait themselves for the launch before them, as tools/kernels/compile.py makes
  /// finished code of sm_90 and newer do.
  static bool waits(std::string_view target);
  size_t module_count(size_t target) const;
  std::string_view module_name(size_t target, size_t module) const;
  /// Of a module in the file, and once it is unpacked.
  size_t packed_bytes(size_t target, size_t module) const;
  size_t unpacked_bytes(size_t target, size_t module) const;
  /// An unpacked module, ready for the driver. Throws Format where its bytes are damaged.
  std::vector<std::byte> unpack(size_t target, size_t module) const;
  std::optional<KernelRow> find(size_t target, std::string_view kernel) const;
  std::vector<std::string_view> kernel_names(size_t target) const;

 private:
  struct Target;
  struct Module;
  struct Kernel;
  struct Stamp;
  template <class T>
  T row(size_t offset, size_t index) const;
  std::string_view name_at(uint32_t offset) const;

  std::span<const std::byte> file_;
  size_t target_count_ = 0, modules_at_ = 0, kernels_at_ = 0, stamps_at_ = 0, names_at_ = 0, name_bytes_ = 0;
};

}  // namespace beeswax::gpu
