// SPDX-License-Identifier: Apache-2.0
// Kernels of AMD's code objects: an ELF file with a note of msgpack.
#include "backends/gpu/rtc/code_object.h"

#include <cstring>
#include <optional>

#include "core/fail.h"

namespace beeswax::gpu::rtc {
namespace {

constexpr uint32_t kSectionNote = 7, kNoteMetadata = 32;
constexpr int kDeepest = 32;

[[noreturn]] void damaged(std::string_view what) {
  fail(ErrorKind::Format, "compile", "the code object is damaged: ", what);
}

// Reads numbers from bytes, refusing to leave them.
template <class T>
T number_at(std::span<const std::byte> bytes, uint64_t at) {
  T value{};
  if (at > bytes.size() || bytes.size() - at < sizeof(T)) damaged("it ends early");
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}

std::span<const std::byte> part(std::span<const std::byte> bytes, uint64_t at, uint64_t size) {
  if (at > bytes.size() || bytes.size() - at < size) damaged("a part lies outside of it");
  return bytes.subspan(at, size);
}

// A walk over msgpack: what is wanted is read, the rest is skipped.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  // The number of pairs of a map, of elements of an array; the text of a string; a number.
  uint64_t map() { return count(0x80, 0xde); }
  uint64_t array() { return count(0x90, 0xdc); }
  std::string_view text() {
    const uint8_t tag = byte();
    if (tag >= 0xa0 && tag < 0xc0) return chars(tag & 31u);
    if (tag >= 0xd9 && tag <= 0xdb) return chars(big_endian(1u << (tag - 0xd9)));
    damaged("its metadata has no text where one belongs");
  }
  uint64_t number() {
    const uint8_t tag = byte();
    if (tag < 0x80) return tag;
    if (tag >= 0xcc && tag <= 0xcf) return big_endian(1u << (tag - 0xcc));
    if (tag >= 0xd0 && tag <= 0xd3) return big_endian(1u << (tag - 0xd0));  // no sizes are below zero
    damaged("its metadata has no number where one belongs");
  }
  void skip(int depth = 0) {
    if (depth > kDeepest) damaged("its metadata is nested too deeply");
    const uint8_t tag = peek();
    if (tag < 0x80 || (tag >= 0xcc && tag <= 0xd3)) {
      number();
    } else if (tag < 0x90 || tag == 0xde || tag == 0xdf) {
      for (uint64_t left = 2 * map(); left > 0; --left) skip(depth + 1);
    } else if (tag < 0xa0 || tag == 0xdc || tag == 0xdd) {
      for (uint64_t left = array(); left > 0; --left) skip(depth + 1);
    } else if (tag < 0xc0 || (tag >= 0xd9 && tag <= 0xdb)) {
      text();
    } else if (tag == 0xc0 || tag == 0xc2 || tag == 0xc3 || tag >= 0xe0) {
      byte();  // nil, a boolean, a small number below zero
    } else {
      damaged("its metadata has an unknown kind of value");
    }
  }

 private:
  uint8_t peek() const { return number_at<uint8_t>(bytes_, at_); }
  uint8_t byte() {
    const uint8_t value = peek();
    ++at_;
    return value;
  }
  uint64_t big_endian(unsigned size) {
    uint64_t value = 0;
    for (unsigned i = 0; i < size; ++i) value = value << 8 | byte();
    return value;
  }
  std::string_view chars(uint64_t size) {
    const auto bytes = part(bytes_, at_, size);
    at_ += size;
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  uint64_t count(uint8_t small, uint8_t large) {
    const uint8_t tag = byte();
    if (tag >= small && tag < small + 16) return tag & 15u;
    if (tag == large || tag == large + 1) return big_endian(2u << (tag - large));
    damaged("its metadata has no list where one belongs");
  }
  std::span<const std::byte> bytes_;
  uint64_t at_ = 0;
};

// Calls take(key) for each pair of a map; it reads the value, or says false and the value is skipped.
template <class Take>
void read_map(Reader& reader, Take take) {
  for (uint64_t left = reader.map(); left > 0; --left) {
    const std::string_view key = reader.text();
    if (!take(key)) reader.skip();
  }
}

void read_argument(Reader& reader, KernelInfo& kernel) {
  Parameter parameter;
  std::string_view kind;
  read_map(reader, [&](std::string_view key) {
    if (key == ".size") {
      parameter.bytes = static_cast<uint32_t>(reader.number());
    } else if (key == ".value_kind") {
      kind = reader.text();
    } else {
      return false;
    }
    return true;
  });
  if (kind.starts_with("hidden_")) return;  // the runtime's own
  parameter.kind = kind == "global_buffer" ? Parameter::Kind::Pointer : Parameter::Kind::Value;
  kernel.parameters.push_back(parameter);
}

KernelInfo read_kernel(Reader& reader) {
  KernelInfo kernel;
  read_map(reader, [&](std::string_view key) {
    if (key == ".name") {
      kernel.symbol = reader.text();
    } else if (key == ".max_flat_workgroup_size") {
      kernel.most_threads = static_cast<uint32_t>(reader.number());
    } else if (key == ".group_segment_fixed_size") {
      kernel.shared_bytes = static_cast<uint32_t>(reader.number());
    } else if (key == ".args") {
      for (uint64_t left = reader.array(); left > 0; --left) read_argument(reader, kernel);
    } else {
      return false;
    }
    return true;
  });
  return kernel;
}

// The metadata note of an ELF file.
std::span<const std::byte> metadata(std::span<const std::byte> file) {
  const auto sections = number_at<uint64_t>(file, 40);
  const auto entry = number_at<uint16_t>(file, 58), count = number_at<uint16_t>(file, 60);
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t section = sections + i * entry;
    if (number_at<uint32_t>(file, section + 4) != kSectionNote) continue;
    const auto notes =
        part(file, number_at<uint64_t>(file, section + 24), number_at<uint64_t>(file, section + 32));
    for (uint64_t at = 0; at + 12 <= notes.size();) {
      const auto name = number_at<uint32_t>(notes, at), size = number_at<uint32_t>(notes, at + 4);
      const uint64_t content = at + 12 + (uint64_t{name} + 3) / 4 * 4;
      if (number_at<uint32_t>(notes, at + 8) == kNoteMetadata) return part(notes, content, size);
      at = content + (uint64_t{size} + 3) / 4 * 4;
    }
  }
  damaged("it has no metadata");
}

}  // namespace

std::vector<KernelInfo> code_object_kernels(std::span<const std::byte> file) {
  std::vector<KernelInfo> out;
  Reader reader(metadata(file));
  read_map(reader, [&](std::string_view key) {
    if (key != "amdhsa.kernels") return false;
    for (uint64_t left = reader.array(); left > 0; --left) out.push_back(read_kernel(reader));
    return true;
  });
  return out;
}

}  // namespace beeswax::gpu::rtc
