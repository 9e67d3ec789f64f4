// SPDX-License-Identifier: Apache-2.0
// Code objects: the ELF files that AMD's compilers make, versions 4 to 6. CodeObject checks and reads one;
// Image is one in a device's memory, with relocations applied. The format is described in LLVM's AMDGPU usage
// guide.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "emu/chips.h"
#include "emu/memory.h"

namespace emu {

/// What cannot be loaded: no code object, a broken one, or one for another chip.
class LoadError : public std::runtime_error {
 public:
  enum class Kind { Invalid, WrongTarget, NoMemory };
  LoadError(Kind what_kind, const std::string& text) : std::runtime_error(text), kind(what_kind) {}
  Kind kind;
};

struct Argument {
  uint32_t offset, size;  // in the kernarg segment
  std::string kind;       // .value_kind of the metadata: "by_value", "global_buffer", "hidden_block_count_x"
  std::string name;
  bool hidden() const { return kind.starts_with("hidden_"); }
};

/// One kernel of a loaded image; addresses are host addresses.
struct Kernel {
  std::string name;
  const Chip* chip = nullptr;
  const std::byte* code = nullptr;
  size_t code_bytes = 0;  // from the entry point to the end of its symbol
  uint64_t descriptor_address = 0;
  uint32_t group_segment_bytes = 0, private_segment_bytes = 0, kernarg_bytes = 0;
  uint32_t rsrc1 = 0, rsrc2 = 0, rsrc3 = 0;
  uint16_t properties = 0, kernarg_preload = 0;
  uint32_t sgpr_count = 0, vgpr_count = 0, agpr_count = 0, wavefront_size = 0, max_flat_workgroup_size = 0;
  bool uses_dynamic_stack = false;
  std::vector<Argument> arguments;
  const class Image* image = nullptr;
};

/// A code object as read; views the bytes it was read from. All offsets were checked against them.
struct CodeObject {
  struct Segment {
    uint64_t address, memory_bytes;
    std::span<const std::byte> bytes;
    bool executable;
  };
  struct Symbol {
    std::string name;
    uint64_t value, size;
    uint8_t type;  // STT_OBJECT, STT_FUNC
    bool defined;
  };
  struct Relocation {
    uint64_t address;
    uint32_t type, symbol;
    int64_t addend;
  };

  uint32_t version = 0;  // 4, 5 or 6
  uint32_t mach = 0;     // EF_AMDGPU_MACH
  uint32_t flags = 0;    // e_flags, whole
  uint64_t memory_bytes = 0;
  std::vector<Segment> segments;
  std::vector<Symbol> symbols;                    // of .dynsym, in its order
  std::vector<Symbol> functions;                  // of .symtab, which may have been stripped: local ones too
  std::map<uint64_t, std::string> print_formats;  // of printf, by hash
  std::vector<Relocation> relocations;
  std::vector<Kernel> kernels;  // what metadata and descriptors say; addresses relative to the image's start

  /// Throws LoadError(Invalid).
  static CodeObject read(std::span<const std::byte> file);
  /// Whether the chip runs it; `why` gets the reason when it does not.
  bool runs_on(const Chip& chip, std::string& why) const;
  std::string target() const { return processor_name(mach); }
};

/// The size of an ELF file by its own header (hipModuleLoadData is told none); 0 when it is none.
size_t elf_size(const void* file);

class Image {
 public:
  struct Global {
    uint64_t address;
    size_t bytes;
  };

  /// Throws LoadError. The bytes are not needed afterwards.
  Image(std::span<const std::byte> file, const Chip& chip, Memory& memory);
  ~Image();
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;

  const Kernel* find_kernel(const std::string& name) const;
  const Global* find_global(const std::string& name) const;
  const std::vector<Kernel>& kernels() const { return kernels_; }
  const std::map<std::string, Global>& globals() const { return globals_; }
  const Chip& chip() const { return chip_; }
  /// Gives variables the values that they had when the image was loaded.
  void restore() const;
  /// The executable part, where s_setpc and s_swappc may lead.
  const std::byte* text() const { return text_; }
  size_t text_bytes() const { return text_bytes_; }
  /// The function symbol around a text address, for reports: "name+0x40"; empty when there is none.
  std::string where(uint64_t address) const;
  /// The address of a function by its name, local ones too; 0 when there is none.
  uint64_t find_function(const std::string& name) const;
  /// Format strings of printf, by the hash that kernels give in their stead (`-mprintf-kind=buffered`).
  const std::map<uint64_t, std::string>& print_formats() const { return print_formats_; }

 private:
  void relocate(const CodeObject& object);
  void remember(const CodeObject& object);

  // What was loaded where no code is; zeros follow up to `memory_bytes`.
  struct Data {
    std::byte* start;
    uint64_t memory_bytes;
    std::vector<std::byte> bytes;
  };

  const Chip& chip_;
  Memory& memory_;
  std::byte* base_ = nullptr;
  uint64_t bytes_ = 0;
  const std::byte* text_ = nullptr;
  size_t text_bytes_ = 0;
  std::vector<Data> data_;
  std::vector<Kernel> kernels_;
  std::map<std::string, Global> globals_;
  std::map<uint64_t, std::pair<std::string, uint64_t>> functions_;  // address -> name, size
  std::map<uint64_t, std::string> print_formats_;
};

}  // namespace emu
