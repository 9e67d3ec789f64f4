// SPDX-License-Identifier: Apache-2.0
// A code object in a device's memory: segments copied, relocations applied, names resolved to addresses.
#include <elf.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "emu/code_object.h"

namespace emu {
namespace {

enum RelocationType : uint32_t {
  kNone = 0,
  kAbs32Lo = 1,
  kAbs32Hi = 2,
  kAbs64 = 3,
  kRel32 = 4,
  kRel64 = 5,
  kAbs32 = 6,
  kRelative64 = 13
};

bool ends_with_kd(const std::string& name) { return name.ends_with(".kd"); }

}  // namespace

Image::Image(std::span<const std::byte> file, const Chip& chip, Memory& memory)
    : chip_(chip), memory_(memory) {
  const CodeObject object = CodeObject::read(file);
  if (std::string why; !object.runs_on(chip, why))
    throw LoadError(LoadError::Kind::WrongTarget, "code object: " + why);
  bytes_ = object.memory_bytes;
  // Blocks start at multiples of 256 bytes, which is what code needs; larger alignments of segments are for
  // page tables.
  base_ = static_cast<std::byte*>(memory.allocate(bytes_));
  if (base_ == nullptr)
    throw LoadError(LoadError::Kind::NoMemory,
                    "code object: no device memory for " + std::to_string(bytes_) + " bytes");
  try {
    std::memset(base_, 0, bytes_);
    for (const auto& segment : object.segments) {
      if (!segment.bytes.empty())
        std::memcpy(base_ + segment.address, segment.bytes.data(), segment.bytes.size());
      if (!segment.executable) continue;
      // From the first executable byte to the last; there is one such segment in what compilers make.
      const std::byte* start = base_ + segment.address;
      const std::byte* end = start + segment.bytes.size();
      if (text_ != nullptr) {
        end = std::max(end, text_ + text_bytes_);
        start = std::min(start, text_);
      }
      text_ = start;
      text_bytes_ = static_cast<size_t>(end - start);
    }
    memory.mark_initialized(reinterpret_cast<uint64_t>(base_), bytes_);
    relocate(object);
    remember(object);
  } catch (...) {
    memory.release(base_);
    throw;
  }
  const auto base = reinterpret_cast<uint64_t>(base_);
  kernels_ = object.kernels;
  for (Kernel& kernel : kernels_) {
    kernel.chip = &chip_;
    kernel.image = this;
    kernel.code = base_ + reinterpret_cast<uint64_t>(kernel.code);
    kernel.descriptor_address += base;
  }
  for (const auto& symbol : object.symbols) {
    if (!symbol.defined || symbol.value > bytes_ || symbol.size > bytes_ - symbol.value) continue;
    if (symbol.type == STT_OBJECT && !ends_with_kd(symbol.name))
      globals_[symbol.name] = {base + symbol.value, symbol.size};
    if (symbol.type == STT_FUNC) functions_[base + symbol.value] = {symbol.name, symbol.size};
  }
  for (const auto& symbol : object.functions)
    if (symbol.value <= bytes_ && symbol.size <= bytes_ - symbol.value)
      functions_.try_emplace(base + symbol.value, symbol.name, symbol.size);
  print_formats_ = object.print_formats;
}

Image::~Image() { memory_.release(base_); }

void Image::relocate(const CodeObject& object) {
  const auto base = reinterpret_cast<uint64_t>(base_);
  for (const auto& relocation : object.relocations) {
    const bool wide =
        relocation.type == kAbs64 || relocation.type == kRel64 || relocation.type == kRelative64;
    if (relocation.address > bytes_ || bytes_ - relocation.address < (wide ? 8u : 4u))
      throw LoadError(LoadError::Kind::Invalid, "code object: a relocation lies outside the image");
    uint64_t value = static_cast<uint64_t>(relocation.addend) + base;
    if (relocation.type == kNone) continue;
    if (relocation.type != kRelative64) {
      if (relocation.symbol >= object.symbols.size())
        throw LoadError(LoadError::Kind::Invalid, "code object: a relocation's symbol does not exist");
      const auto& symbol = object.symbols[relocation.symbol];
      if (!symbol.defined)
        throw LoadError(LoadError::Kind::Invalid, "code object: undefined symbol '" + symbol.name + "'");
      value += symbol.value;
    }
    const uint64_t place = base + relocation.address;
    switch (relocation.type) {
      case kAbs32Hi:
        value >>= 32;
        break;
      case kRel32:
      case kRel64:
        value -= place;
        break;
      case kAbs32Lo:
      case kAbs32:
      case kAbs64:
      case kRelative64:
        break;
      default:
        throw LoadError(LoadError::Kind::Invalid,
                        "code object: unknown relocation type " + std::to_string(relocation.type));
    }
    std::memcpy(reinterpret_cast<void*>(place), &value, wide ? 8 : 4);
  }
}

void Image::remember(const CodeObject& object) {
  for (const auto& segment : object.segments) {
    if (segment.executable) continue;
    std::byte* start = base_ + segment.address;
    data_.push_back({start, segment.memory_bytes, {start, start + segment.bytes.size()}});
  }
}

void Image::restore() const {
  for (const Data& data : data_) {
    std::copy(data.bytes.begin(), data.bytes.end(), data.start);
    std::memset(data.start + data.bytes.size(), 0, data.memory_bytes - data.bytes.size());
  }
}

const Kernel* Image::find_kernel(const std::string& name) const {
  for (const Kernel& kernel : kernels_)
    if (kernel.name == name) return &kernel;
  return nullptr;
}

const Image::Global* Image::find_global(const std::string& name) const {
  const auto found = globals_.find(name);
  return found == globals_.end() ? nullptr : &found->second;
}

uint64_t Image::find_function(const std::string& name) const {
  const auto found = std::find_if(functions_.begin(), functions_.end(),
                                  [&](const auto& function) { return function.second.first == name; });
  return found == functions_.end() ? 0 : found->first;
}

std::string Image::where(uint64_t address) const {
  const auto after = functions_.upper_bound(address);
  if (after == functions_.begin()) return "";
  const auto& [start, function] = *std::prev(after);
  if (address - start >= function.second) return "";
  char offset[32];
  std::snprintf(offset, sizeof offset, "+0x%llx", static_cast<unsigned long long>(address - start));
  return function.first + offset;
}

}  // namespace emu
