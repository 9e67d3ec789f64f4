// SPDX-License-Identifier: Apache-2.0
#include "emu/bundle.h"

#include <zstd.h>

#include <algorithm>
#include <cstring>

#include "emu/code_object.h"

namespace emu {
namespace {

constexpr std::string_view kBundleMagic = "__CLANG_OFFLOAD_BUNDLE__";
constexpr std::string_view kCompressedMagic = "CCOB";
constexpr std::string_view kElfMagic =
    "\x7f"
    "ELF";
constexpr uint64_t kMostEntries = 4096;
constexpr uint64_t kLargestUnpacked = uint64_t{2} << 30;

[[noreturn]] void invalid(const std::string& text) {
  throw LoadError(LoadError::Kind::Invalid, "bundle: " + text);
}

bool starts_with(std::span<const std::byte> bytes, std::string_view magic) {
  return bytes.size() >= magic.size() && std::memcmp(bytes.data(), magic.data(), magic.size()) == 0;
}

// Little-endian numbers and texts, one after the other.
class Cursor {
 public:
  Cursor(std::span<const std::byte> bytes, size_t at) : bytes_(bytes), at_(at) {}
  template <class T>
  T number() {
    T result;
    std::memcpy(&result, take(sizeof result).data(), sizeof result);
    return result;
  }
  std::string_view text(uint64_t size) {
    const auto part = take(size);
    return {reinterpret_cast<const char*>(part.data()), part.size()};
  }
  size_t at() const { return at_; }

 private:
  std::span<const std::byte> take(uint64_t size) {
    if (at_ > bytes_.size() || size > bytes_.size() - at_) invalid("it ends too early");
    const auto part = bytes_.subspan(at_, size);
    at_ += size;
    return part;
  }
  std::span<const std::byte> bytes_;
  size_t at_;
};

struct Compressed {
  uint64_t total = 0, unpacked = 0;  // total = 0: version 1 does not say
  uint16_t method = 0;
  size_t header = 0;
};

Compressed read_compressed_header(std::span<const std::byte> image) {
  Cursor cursor(image, kCompressedMagic.size());
  const auto version = cursor.number<uint16_t>();
  Compressed result;
  result.method = cursor.number<uint16_t>();
  switch (version) {
    case 1:
      result.unpacked = cursor.number<uint32_t>();
      break;
    case 2:
      result.total = cursor.number<uint32_t>();
      result.unpacked = cursor.number<uint32_t>();
      break;
    case 3:
      result.total = cursor.number<uint64_t>();
      result.unpacked = cursor.number<uint64_t>();
      break;
    default:
      invalid("compressed in version " + std::to_string(version) + "; 1 to 3 are known");
  }
  cursor.number<uint64_t>();  // a hash, of which the runtime makes no use either
  result.header = cursor.at();
  return result;
}

std::vector<std::byte> unpack(std::span<const std::byte> image) {
  const Compressed header = read_compressed_header(image);
  if (header.method != 1)
    invalid("compressed by method " + std::to_string(header.method) + "; only 1 (zstd) is supported");
  if (header.unpacked > kLargestUnpacked) invalid("it claims more than 2 GiB");
  auto packed = image.subspan(header.header);
  if (header.total != 0) {
    if (header.total < header.header || header.total > image.size())
      invalid("its size is not the one it claims");
    packed = image.subspan(header.header, header.total - header.header);
  } else {
    const size_t frame = ZSTD_findFrameCompressedSize(packed.data(), packed.size());
    if (ZSTD_isError(frame)) invalid("its zstd frame is broken");
    packed = packed.first(frame);
  }
  // The claim must agree with zstd's own header before memory is taken for it.
  if (ZSTD_getFrameContentSize(packed.data(), packed.size()) != header.unpacked)
    invalid("its unpacked size is not the one it claims");
  std::vector<std::byte> unpacked(header.unpacked);
  const size_t got = ZSTD_decompress(unpacked.data(), unpacked.size(), packed.data(), packed.size());
  if (ZSTD_isError(got) || got != unpacked.size()) invalid("its zstd frame is broken");
  return unpacked;
}

// "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-" -> "gfx90a:xnack-"; empty for the host's part and other kinds.
std::string_view target_of(std::string_view id) {
  if (!id.starts_with("hip-") && !id.starts_with("hipv4-")) return {};
  const size_t gfx = id.find("gfx");
  return gfx == id.npos ? std::string_view() : id.substr(gfx);
}

struct Entry {
  std::string_view id;
  uint64_t offset, bytes;
};

std::vector<Entry> read_entries(std::span<const std::byte> bundle) {
  Cursor cursor(bundle, kBundleMagic.size());
  const auto count = cursor.number<uint64_t>();
  if (count > kMostEntries) invalid("it claims " + std::to_string(count) + " entries");
  std::vector<Entry> entries;
  for (uint64_t i = 0; i < count; ++i) {
    Entry entry;
    entry.offset = cursor.number<uint64_t>();
    entry.bytes = cursor.number<uint64_t>();
    entry.id = cursor.text(cursor.number<uint64_t>());
    if (entry.offset > bundle.size() || entry.bytes > bundle.size() - entry.offset)
      invalid("an entry lies outside");
    entries.push_back(entry);
  }
  return entries;
}

std::span<const std::byte> select_entry(std::span<const std::byte> bundle, const Chip& chip) {
  std::string there;
  const Entry* best = nullptr;
  int best_fit = 0;
  const auto entries = read_entries(bundle);
  for (const Entry& entry : entries) {
    const std::string_view target = target_of(entry.id);
    if (target.empty() || entry.bytes == 0) continue;
    there += (there.empty() ? "" : ", ") + std::string(target);
    if (const int fit = target_fit(target, chip); fit > best_fit) {
      best_fit = fit;
      best = &entry;
    }
  }
  if (best == nullptr)
    throw LoadError(LoadError::Kind::WrongTarget, "bundle: no code for " + chip.target() + "; there is " +
                                                      (there.empty() ? "none" : there));
  return bundle.subspan(best->offset, best->bytes);
}

}  // namespace

int target_fit(std::string_view target, const Chip& chip) {
  std::string_view processor = target.substr(0, target.find(':'));
  int fit = 0;
  if (processor == chip.name) {
    fit = 2;
  } else if (chip.generic_mach != 0 && processor == processor_name(chip.generic_mach)) {
    fit = 1;
  } else {
    return 0;
  }
  const std::string mine = chip.target() + ":";
  for (size_t at = processor.size(); at < target.size();) {
    size_t end = target.find(':', at + 1);
    if (end == target.npos) end = target.size();
    if (mine.find(std::string(target.substr(at, end - at)) + ":") == mine.npos) return 0;
    fit += 2;
    at = end;
  }
  return fit;
}

SelectedCode select_code(std::span<const std::byte> image, const Chip& chip) {
  SelectedCode selected;
  if (starts_with(image, kCompressedMagic)) {
    selected.storage = unpack(image);
    image = selected.storage;
  }
  selected.bytes = starts_with(image, kBundleMagic) ? select_entry(image, chip) : image;
  return selected;
}

size_t image_size(const void* image) {
  const auto* start = static_cast<const std::byte*>(image);
  if (std::memcmp(start, kElfMagic.data(), kElfMagic.size()) == 0) return elf_size(image);
  if (std::memcmp(start, kCompressedMagic.data(), kCompressedMagic.size()) == 0) {
    const Compressed header = read_compressed_header({start, 32});
    if (header.total != 0) return header.total;
    const size_t frame =
        ZSTD_findFrameCompressedSize(start + header.header, header.unpacked + (size_t{1} << 20));
    return ZSTD_isError(frame) ? 0 : header.header + frame;
  }
  if (std::memcmp(start, kBundleMagic.data(), kBundleMagic.size()) != 0) return 0;
  // The entries' ends, read without a bound: the caller vouches for the image, as with the real runtime.
  size_t size = 0, at = kBundleMagic.size();
  const auto number = [&] {
    uint64_t result;
    std::memcpy(&result, start + at, sizeof result);
    at += sizeof result;
    return result;
  };
  const uint64_t count = number();
  if (count > kMostEntries) return 0;
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t offset = number(), bytes = number();
    at += number();
    size = std::max<size_t>({size, offset + bytes, at});
  }
  return size;
}

}  // namespace emu
