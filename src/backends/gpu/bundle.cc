// SPDX-License-Identifier: Apache-2.0
#include "backends/gpu/bundle.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <functional>

#include "backends/gpu/unpack.h"
#include "core/embed.h"
#include "core/fail.h"

BW_EMBED(bw_kernels, BW_KERNELS_FILE)

namespace beeswax::gpu {

struct Bundle::Target {
  std::array<char, 16> name;
  uint32_t first_module, modules, first_kernel, kernels, first_stamp, stamps;
};
struct Bundle::Module {
  uint64_t offset;
  uint32_t packed_bytes, bytes, name, unused;
};
struct Bundle::Kernel {
  uint32_t name, module, argument_bytes, shared_bytes;
};
struct Bundle::Stamp {
  uint32_t module, offset, byte;
};

namespace {

struct Header {
  std::array<char, 4> magic;
  uint32_t targets, modules, kernels, stamps, name_bytes;
};

[[noreturn]] void damaged(std::string_view what) {
  fail(ErrorKind::Format, "kernels", "the library's GPU kernels are damaged: ", what);
}

}  // namespace

template <class T>
T Bundle::row(size_t offset, size_t index) const {
  T value;
  std::memcpy(&value, file_.data() + offset + index * sizeof(T), sizeof(T));
  return value;
}

std::string_view Bundle::name_at(uint32_t offset) const {
  const char* names = reinterpret_cast<const char*>(file_.data() + names_at_);
  return names + offset;
}

Bundle::Bundle(std::span<const std::byte> file) : file_(file) {
  if (file.size() < sizeof(Header)) damaged("no header");
  const auto header = row<Header>(0, 0);
  if (header.magic != std::array{'B', 'W', 'K', '2'}) damaged("not a kernel bundle");
  target_count_ = header.targets;
  modules_at_ = sizeof(Header) + target_count_ * sizeof(Target);
  kernels_at_ = modules_at_ + size_t{header.modules} * sizeof(Module);
  stamps_at_ = kernels_at_ + size_t{header.kernels} * sizeof(Kernel);
  names_at_ = stamps_at_ + size_t{header.stamps} * sizeof(Stamp);
  name_bytes_ = header.name_bytes;
  if (names_at_ + name_bytes_ > file.size()) damaged("its tables are longer than it is");
  if (name_bytes_ > 0 && file[names_at_ + name_bytes_ - 1] != std::byte{0}) damaged("a name does not end");
  for (size_t i = 0; i < header.modules; ++i) {
    const auto module = row<Module>(modules_at_, i);
    if (module.offset > file.size() || module.packed_bytes > file.size() - module.offset ||
        module.name >= name_bytes_)
      damaged("a module lies outside of it");
  }
  for (size_t i = 0; i < header.kernels; ++i)
    if (row<Kernel>(kernels_at_, i).name >= name_bytes_) damaged("a kernel's name lies outside of it");
  for (size_t i = 0; i < target_count_; ++i) {
    const auto target = row<Target>(sizeof(Header), i);
    if (uint64_t{target.first_module} + target.modules > header.modules ||
        uint64_t{target.first_kernel} + target.kernels > header.kernels ||
        uint64_t{target.first_stamp} + target.stamps > header.stamps || target.name.back() != 0)
      damaged("a target lies outside of it");
    for (size_t stamp = 0; stamp < target.stamps; ++stamp) {
      const auto at = row<Stamp>(stamps_at_, target.first_stamp + stamp);
      if (at.module >= target.modules ||
          at.offset >= row<Module>(modules_at_, target.first_module + at.module).bytes || at.byte > 0xff)
        damaged("a chip's own bytes lie outside of its modules");
    }
  }
}

const Bundle& Bundle::embedded() {
  static const Bundle bundle({bw_kernels_begin, bw_kernels_end});
  return bundle;
}

std::string_view Bundle::target_name(size_t target) const {
  const char* name = reinterpret_cast<const char*>(file_.data()) + sizeof(Header) + target * sizeof(Target);
  return name;
}

std::vector<std::string> Bundle::targets() const {
  std::vector<std::string> out;
  for (size_t i = 0; i < target_count_; ++i) out.emplace_back(target_name(i));
  return out;
}

namespace {
// Code with what only one architecture has is called so: "ptx_90a".
bool is_exact(std::string_view name) { return name.ends_with('a'); }
// "sm_90" and "ptx_80" are major * 10 + minor; -1 for other names.
int capability(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return -1;
  int value = -1;
  const std::string_view digits =
      name.substr(prefix.size(), name.size() - prefix.size() - (is_exact(name) ? 1 : 0));
  const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return error == std::errc() && stop == digits.data() + digits.size() ? value : -1;
}
}  // namespace

std::optional<size_t> Bundle::target_for(std::string_view arch, int skip) const {
  std::vector<std::pair<int, size_t>> found;  // how near, target
  const int device = capability(arch, "sm_");
  for (size_t i = 0; i < target_count_; ++i) {
    const std::string_view name = target_name(i);
    if (name == arch) {
      found.emplace_back(2000, i);
    } else if (const int cubin = capability(name, "sm_"); cubin >= 0) {
      if (device >= 0 && cubin / 10 == device / 10 && cubin <= device) found.emplace_back(1000 + cubin, i);
    } else if (const int ptx = capability(name, "ptx_");
               ptx >= 0 && (is_exact(name) ? device == ptx : device >= ptx)) {
      found.emplace_back(ptx, i);
    }
  }
  std::sort(found.begin(), found.end(), std::greater<>());
  if (static_cast<size_t>(skip) >= found.size()) return std::nullopt;
  return found[static_cast<size_t>(skip)].second;
}

bool Bundle::is_for(std::string_view target, std::string_view arch) {
  return target == arch || (is_exact(target) && capability(target, "ptx_") == capability(arch, "sm_"));
}

bool Bundle::waits(std::string_view target) { return capability(target, "sm_") >= 90; }

size_t Bundle::module_count(size_t target) const { return row<Target>(sizeof(Header), target).modules; }

std::string_view Bundle::module_name(size_t target, size_t module) const {
  return name_at(row<Module>(modules_at_, row<Target>(sizeof(Header), target).first_module + module).name);
}

size_t Bundle::packed_bytes(size_t target, size_t module) const {
  return row<Module>(modules_at_, row<Target>(sizeof(Header), target).first_module + module).packed_bytes;
}

size_t Bundle::unpacked_bytes(size_t target, size_t module) const {
  return row<Module>(modules_at_, row<Target>(sizeof(Header), target).first_module + module).bytes;
}

std::vector<std::byte> Bundle::unpack(size_t target, size_t module) const {
  const auto rows = row<Target>(sizeof(Header), target);
  const auto entry = row<Module>(modules_at_, rows.first_module + module);
  std::vector<std::byte> image = unpack_zstd(file_.subspan(entry.offset, entry.packed_bytes), entry.bytes);
  for (size_t i = 0; i < rows.stamps; ++i)
    if (const auto stamp = row<Stamp>(stamps_at_, rows.first_stamp + i); stamp.module == module)
      image[stamp.offset] = static_cast<std::byte>(stamp.byte);
  return image;
}

std::optional<Bundle::KernelRow> Bundle::find(size_t target, std::string_view kernel) const {
  const auto rows = row<Target>(sizeof(Header), target);
  size_t low = rows.first_kernel, high = low + rows.kernels;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    const auto at = row<Kernel>(kernels_at_, middle);
    const int order = name_at(at.name).compare(kernel);
    if (order == 0) return KernelRow{at.module, at.argument_bytes, at.shared_bytes};
    if (order < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return std::nullopt;
}

std::vector<std::string_view> Bundle::kernel_names(size_t target) const {
  const auto rows = row<Target>(sizeof(Header), target);
  std::vector<std::string_view> out;
  for (size_t i = 0; i < rows.kernels; ++i)
    out.push_back(name_at(row<Kernel>(kernels_at_, rows.first_kernel + i).name));
  return out;
}

}  // namespace beeswax::gpu
