// SPDX-License-Identifier: Apache-2.0
// Reading: every count and offset is checked against the file before it is used.
#include "emu/code_object.h"

#include <elf.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "emu/msgpack.h"

namespace emu {
namespace {

constexpr uint16_t kMachineAmdgpu = 224;
constexpr uint8_t kAbiHsa = 64;
constexpr uint32_t kNoteMetadata = 32;
constexpr size_t kDescriptorBytes = 64;
// No kernel needs more; a broken file may claim anything.
constexpr uint64_t kLargestImage = uint64_t{1} << 32;

[[noreturn]] void invalid(const std::string& text) {
  throw LoadError(LoadError::Kind::Invalid, "code object: " + text);
}

std::span<const std::byte> part(std::span<const std::byte> file, uint64_t offset, uint64_t bytes,
                                const char* what) {
  if (offset > file.size() || bytes > file.size() - offset)
    invalid(std::string(what) + " lies outside the file");
  return file.subspan(offset, bytes);
}

template <class T>
T load(std::span<const std::byte> bytes, size_t offset = 0) {
  T result;
  std::memcpy(&result, bytes.data() + offset, sizeof result);
  return result;
}

template <class T>
T item(std::span<const std::byte> table, size_t index) {
  return load<T>(table, index * sizeof(T));
}

Elf64_Ehdr read_header(std::span<const std::byte> file) {
  if (file.size() < sizeof(Elf64_Ehdr)) invalid("shorter than an ELF header");
  const auto header = load<Elf64_Ehdr>(file);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) invalid("not an ELF file");
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB)
    invalid("not a 64-bit little-endian ELF file");
  if (header.e_machine != kMachineAmdgpu)
    invalid("machine " + std::to_string(header.e_machine) + ", not AMDGPU (224)");
  if (header.e_ident[EI_OSABI] != kAbiHsa) invalid("not for the HSA runtime");
  if (header.e_type != ET_DYN) invalid("not linked (a shared object is needed)");
  const unsigned abi = header.e_ident[EI_ABIVERSION];
  if (abi < 2 || abi > 4) invalid("ABI version " + std::to_string(abi) + "; versions 4 to 6 are 2 to 4");
  return header;
}

std::string text_at(std::span<const std::byte> strings, uint64_t offset) {
  if (offset >= strings.size()) invalid("a name lies outside its string table");
  const auto* at = reinterpret_cast<const char*>(strings.data()) + offset;
  const auto* end = static_cast<const char*>(std::memchr(at, 0, strings.size() - offset));
  if (end == nullptr) invalid("a name does not end");
  return {at, end};
}

void read_segments(std::span<const std::byte> file, const Elf64_Ehdr& header, CodeObject& object,
                   std::span<const std::byte>& notes) {
  if (header.e_phentsize != sizeof(Elf64_Phdr)) invalid("program headers of a strange size");
  const auto table =
      part(file, header.e_phoff, uint64_t{header.e_phnum} * sizeof(Elf64_Phdr), "the program headers");
  for (size_t i = 0; i < header.e_phnum; ++i) {
    const auto program = item<Elf64_Phdr>(table, i);
    if (program.p_type == PT_NOTE) notes = part(file, program.p_offset, program.p_filesz, "the notes");
    if (program.p_type != PT_LOAD) continue;
    if (program.p_filesz > program.p_memsz) invalid("a segment larger in the file than in memory");
    if (program.p_vaddr > kLargestImage || program.p_memsz > kLargestImage) invalid("a segment beyond 4 GiB");
    object.segments.push_back({program.p_vaddr, program.p_memsz,
                               part(file, program.p_offset, program.p_filesz, "a segment"),
                               (program.p_flags & PF_X) != 0});
    object.memory_bytes = std::max(object.memory_bytes, program.p_vaddr + program.p_memsz);
  }
  if (object.segments.empty()) invalid("no segment to load");
}

std::vector<CodeObject::Symbol> read_symbols(std::span<const std::byte> file,
                                             std::span<const std::byte> sections, const Elf64_Shdr& section) {
  if (section.sh_link >= sections.size() / sizeof(Elf64_Shdr)) invalid("the symbols have no string table");
  const auto strings_header = item<Elf64_Shdr>(sections, section.sh_link);
  const auto strings = part(file, strings_header.sh_offset, strings_header.sh_size, "the string table");
  const auto symbols = part(file, section.sh_offset, section.sh_size, "the symbols");
  std::vector<CodeObject::Symbol> found;
  for (size_t s = 0; s < symbols.size() / sizeof(Elf64_Sym); ++s) {
    const auto symbol = item<Elf64_Sym>(symbols, s);
    found.push_back({text_at(strings, symbol.st_name), symbol.st_value, symbol.st_size,
                     static_cast<uint8_t>(ELF64_ST_TYPE(symbol.st_info)), symbol.st_shndx != SHN_UNDEF});
  }
  return found;
}

void read_sections(std::span<const std::byte> file, const Elf64_Ehdr& header, CodeObject& object) {
  if (header.e_shentsize != sizeof(Elf64_Shdr)) invalid("section headers of a strange size");
  const auto table =
      part(file, header.e_shoff, uint64_t{header.e_shnum} * sizeof(Elf64_Shdr), "the section headers");
  for (size_t i = 0; i < header.e_shnum; ++i) {
    const auto section = item<Elf64_Shdr>(table, i);
    if (section.sh_type == SHT_DYNSYM) object.symbols = read_symbols(file, table, section);
    if (section.sh_type == SHT_SYMTAB) {
      object.functions = read_symbols(file, table, section);
      std::erase_if(object.functions,
                    [](const auto& symbol) { return !symbol.defined || symbol.type != STT_FUNC; });
    }
    if (section.sh_type == SHT_RELA && (section.sh_flags & SHF_ALLOC) != 0) {
      const auto relocations = part(file, section.sh_offset, section.sh_size, "the relocations");
      for (size_t r = 0; r < relocations.size() / sizeof(Elf64_Rela); ++r) {
        const auto relocation = item<Elf64_Rela>(relocations, r);
        object.relocations.push_back(
            {relocation.r_offset, static_cast<uint32_t>(ELF64_R_TYPE(relocation.r_info)),
             static_cast<uint32_t>(ELF64_R_SYM(relocation.r_info)), relocation.r_addend});
      }
    }
  }
}

// The contents of the metadata note; empty when there is none.
std::span<const std::byte> find_metadata(std::span<const std::byte> notes) {
  while (notes.size() >= sizeof(Elf64_Nhdr)) {
    const auto note = load<Elf64_Nhdr>(notes);
    const uint64_t name_room = (uint64_t{note.n_namesz} + 3) / 4 * 4,
                   bytes_room = (uint64_t{note.n_descsz} + 3) / 4 * 4;
    const uint64_t start = sizeof note + name_room;
    if (start > notes.size() || note.n_descsz > notes.size() - start)
      invalid("a note lies outside the notes");
    if (note.n_type == kNoteMetadata && note.n_namesz == 7 &&
        std::memcmp(&notes[sizeof note], "AMDGPU", 7) == 0)
      return notes.subspan(start, note.n_descsz);
    notes = notes.subspan(std::min<uint64_t>(notes.size(), start + bytes_room));
  }
  return {};
}

// File contents at an image address; the bytes must lie in one segment.
std::span<const std::byte> at_address(const CodeObject& object, uint64_t address, uint64_t bytes,
                                      const char* what) {
  for (const auto& segment : object.segments)
    if (address >= segment.address && address - segment.address <= segment.bytes.size() &&
        bytes <= segment.bytes.size() - (address - segment.address))
      return segment.bytes.subspan(address - segment.address, bytes);
  invalid(std::string(what) + " lies in no segment");
}

const CodeObject::Symbol* find_symbol(const CodeObject& object, std::string_view name) {
  const auto found = std::find_if(object.symbols.begin(), object.symbols.end(),
                                  [&](const auto& symbol) { return symbol.defined && symbol.name == name; });
  return found == object.symbols.end() ? nullptr : &*found;
}

uint32_t small(const MsgValue& map, std::string_view key, uint64_t otherwise, uint64_t largest = UINT32_MAX) {
  const uint64_t number = map.number_or(key, otherwise);
  if (number > largest) invalid("metadata: " + std::string(key) + " is " + std::to_string(number));
  return static_cast<uint32_t>(number);
}

// Fills in the fields of the 64-byte kernel descriptor.
void read_descriptor(const CodeObject& object, uint64_t address, Kernel& kernel) {
  const auto bytes = at_address(object, address, kDescriptorBytes, "a kernel descriptor");
  kernel.descriptor_address = address;
  kernel.group_segment_bytes = load<uint32_t>(bytes, 0);
  kernel.private_segment_bytes = load<uint32_t>(bytes, 4);
  kernel.kernarg_bytes = load<uint32_t>(bytes, 8);
  const uint64_t entry = address + static_cast<uint64_t>(load<int64_t>(bytes, 16));
  kernel.rsrc3 = load<uint32_t>(bytes, 44);
  kernel.rsrc1 = load<uint32_t>(bytes, 48);
  kernel.rsrc2 = load<uint32_t>(bytes, 52);
  kernel.properties = load<uint16_t>(bytes, 56);
  kernel.kernarg_preload = load<uint16_t>(bytes, 58);
  for (const auto& segment : object.segments) {
    if (!segment.executable || entry < segment.address || entry - segment.address >= segment.bytes.size())
      continue;
    // Relative for now: Image adds its base.
    kernel.code = reinterpret_cast<const std::byte*>(entry);
    kernel.code_bytes = segment.bytes.size() - (entry - segment.address);
    if (entry % 256 != 0) invalid("kernel " + kernel.name + ": the entry point is not aligned to 256 bytes");
    return;
  }
  invalid("kernel " + kernel.name + ": the entry point lies in no executable segment");
}

Kernel read_kernel(const CodeObject& object, const MsgValue& map) {
  Kernel kernel;
  kernel.name = map.text_or(".name", "");
  const std::string symbol_name(map.text_or(".symbol", ""));
  const auto* descriptor = find_symbol(object, symbol_name);
  if (kernel.name.empty() || descriptor == nullptr)
    invalid("metadata: kernel '" + kernel.name + "' has no descriptor");
  read_descriptor(object, descriptor->value, kernel);
  const auto* function = find_symbol(
      object, symbol_name.substr(0, symbol_name.size() - std::min<size_t>(3, symbol_name.size())));
  if (function != nullptr && function->type == STT_FUNC &&
      function->value == reinterpret_cast<uint64_t>(kernel.code) && function->size > 0)
    kernel.code_bytes = std::min<uint64_t>(kernel.code_bytes, function->size);
  kernel.kernarg_bytes = std::max(kernel.kernarg_bytes, small(map, ".kernarg_segment_size", 0, 1 << 20));
  if (kernel.kernarg_bytes > 1 << 20)
    invalid("kernel " + kernel.name + ": arguments of more than a mebibyte");
  kernel.sgpr_count = small(map, ".sgpr_count", 0);
  kernel.vgpr_count = small(map, ".vgpr_count", 0);
  kernel.agpr_count = small(map, ".agpr_count", 0);
  kernel.wavefront_size = small(map, ".wavefront_size", 64, 64);
  if (kernel.wavefront_size != 32 && kernel.wavefront_size != 64)
    invalid("kernel " + kernel.name + ": strange wave size");
  kernel.max_flat_workgroup_size = small(map, ".max_flat_workgroup_size", 1024, 1 << 20);
  kernel.uses_dynamic_stack = map.number_or(".uses_dynamic_stack", 0) != 0;
  if (const MsgValue* args = map.find(".args"); args != nullptr && args->type == MsgValue::Type::Array)
    for (const MsgValue& arg : args->items) {
      Argument argument{small(arg, ".offset", 0), small(arg, ".size", 0),
                        std::string(arg.text_or(".value_kind", "")), std::string(arg.text_or(".name", ""))};
      if (uint64_t{argument.offset} + argument.size > kernel.kernarg_bytes)
        invalid("kernel " + kernel.name + ": an argument lies outside its segment");
      kernel.arguments.push_back(std::move(argument));
    }
  return kernel;
}

// "0:0:HASH,FORMAT", the hash in hexadecimal; what other languages put there has no comma behind the third
// field.
void read_print_formats(const MsgValue& metadata, CodeObject& object) {
  const MsgValue* formats = metadata.find("amdhsa.printf");
  if (formats == nullptr || formats->type != MsgValue::Type::Array) return;
  for (const MsgValue& entry : formats->items) {
    const std::string_view text = entry.text;
    const size_t first = text.find(':'), second = first == text.npos ? first : text.find(':', first + 1);
    if (second == text.npos) continue;
    uint64_t hash = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data() + second + 1, end, hash, 16);
    if (error == std::errc() && stop != end && *stop == ',')
      object.print_formats[hash] = std::string(stop + 1, end);
  }
}

void read_kernels(std::span<const std::byte> notes, CodeObject& object) {
  const auto bytes = find_metadata(notes);
  if (bytes.empty()) invalid("no metadata note");
  const auto metadata = read_msgpack(bytes);
  if (!metadata || metadata->type != MsgValue::Type::Map) invalid("the metadata is not a MessagePack map");
  read_print_formats(*metadata, object);
  const MsgValue* kernels = metadata->find("amdhsa.kernels");
  if (kernels == nullptr) return;  // a module may hold variables only
  if (kernels->type != MsgValue::Type::Array) invalid("metadata: amdhsa.kernels is not an array");
  for (const MsgValue& kernel : kernels->items) object.kernels.push_back(read_kernel(object, kernel));
}

}  // namespace

CodeObject CodeObject::read(std::span<const std::byte> file) {
  const Elf64_Ehdr header = read_header(file);
  CodeObject object;
  object.version = header.e_ident[EI_ABIVERSION] + 2u;
  object.flags = header.e_flags;
  object.mach = header.e_flags & 0xff;
  std::span<const std::byte> notes;
  read_segments(file, header, object, notes);
  read_sections(file, header, object);
  read_kernels(notes, object);
  return object;
}

bool CodeObject::runs_on(const Chip& chip, std::string& why) const {
  if (mach != chip.mach && (version < 6 || chip.generic_mach == 0 || mach != chip.generic_mach)) {
    why = "built for " + target() + ", the device is " + chip.target();
    return false;
  }
  // Two bits each: 1 = any, 2 = off, 3 = on.
  const uint32_t xnack = flags >> 8 & 3, sramecc = flags >> 10 & 3;
  const bool has_features = chip.target() != chip.name;
  if (has_features && (xnack == 3 || sramecc == 2)) {
    why =
        "built for " + target() + (xnack == 3 ? ":xnack+" : ":sramecc-") + ", the device is " + chip.target();
    return false;
  }
  return true;
}

size_t elf_size(const void* file) {
  Elf64_Ehdr header;
  std::memcpy(&header, file, sizeof header.e_ident);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64) return 0;
  std::memcpy(&header, file, sizeof header);
  return header.e_shoff + size_t{header.e_shnum} * header.e_shentsize;
}

}  // namespace emu
