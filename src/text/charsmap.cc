// SPDX-License-Identifier: Apache-2.0
#include "text/charsmap.h"

#include <memory>

#include "core/fail.h"
#include "text/grapheme.h"
#include "text/utf8.h"

namespace beeswax::text {
namespace {

constexpr uint32_t kByteBits = 0x800000ff;  // those of an end never are a byte
constexpr uint32_t kEnds = 1u << 8, kFar = 1u << 9, kPlaceBits = 0x7fffffff;

size_t offset_of(uint32_t unit) { return static_cast<size_t>(unit >> 10) << ((unit & kFar) != 0 ? 8 : 0); }

uint32_t read_u32(std::span<const std::byte> bytes) {
  uint32_t out = 0;
  for (size_t i = 4; i-- > 0;) out = (out << 8) | std::to_integer<uint32_t>(bytes[i]);
  return out;
}

template <class... Parts>
[[noreturn]] void refuse(const Parts&... parts) {
  fail(ErrorKind::Format, "tokenizer", "the precompiled charsmap ", parts...);
}

}  // namespace

Charsmap::Charsmap(std::span<const std::byte> bytes) {
  if (bytes.size() < 4) refuse("has ", bytes.size(), " bytes");
  const uint32_t size = read_u32(bytes);
  if (size == 0 || size % 4 != 0 || size > bytes.size() - 4)
    refuse("claims a trie of ", size, " bytes in ", bytes.size());
  for (size_t at = 4; at < 4 + size_t{size}; at += 4) units_.push_back(read_u32(bytes.subspan(at)));
  const auto rest = bytes.subspan(4 + size_t{size});
  texts_.assign(reinterpret_cast<const char*>(rest.data()), rest.size());
  if (valid_utf8(texts_) != texts_) refuse("has texts that are not UTF-8");
  check();
}

// Every end that some text leads to. Places are visited once, so a trie that turns back on itself ends too.
void Charsmap::check() const {
  std::vector<bool> seen(units_.size());
  std::vector<size_t> left = {offset_of(units_[0])};
  while (!left.empty()) {
    const size_t from = left.back();
    left.pop_back();
    for (unsigned byte = 1; byte < 256; ++byte) {
      size_t at = from;
      const auto unit = step(at, static_cast<unsigned char>(byte));
      if (!unit || seen[from ^ byte]) continue;
      seen[from ^ byte] = true;
      left.push_back(at);
      if ((*unit & kEnds) == 0) continue;
      if (at >= units_.size()) refuse("has an end at ", at, " of ", units_.size());
      const size_t place = units_[at] & kPlaceBits;
      if (place >= texts_.size() || (static_cast<unsigned char>(texts_[place]) & 0xc0) == 0x80)
        refuse("leads to ", place, ", where none of its ", texts_.size(), " bytes of texts begins");
    }
  }
}

std::optional<uint32_t> Charsmap::step(size_t& at, unsigned char byte) const {
  const size_t place = at ^ byte;
  if (place >= units_.size() || (units_[place] & kByteBits) != byte) return std::nullopt;
  at = place ^ offset_of(units_[place]);
  return units_[place];
}

std::optional<std::string_view> Charsmap::find(std::string_view text) const {
  size_t at = offset_of(units_[0]);
  for (const char c : text) {
    if (c == 0) break;
    const auto unit = step(at, static_cast<unsigned char>(c));
    if (!unit) break;
    if ((*unit & kEnds) == 0) continue;
    const std::string_view found = std::string_view(texts_).substr(units_[at] & kPlaceBits);
    return found.substr(0, found.find('\0'));
  }
  return std::nullopt;
}

TextStep charsmap_step(std::span<const std::byte> bytes) {
  constexpr size_t kLongCluster = 6;
  return [map = std::make_shared<const Charsmap>(bytes)](std::string_view text, bool&) {
    std::string out;
    while (!text.empty()) {
      std::string_view cluster = text.substr(0, cluster_length(text));
      text.remove_prefix(cluster.size());
      const auto whole = cluster.size() < kLongCluster ? map->find(cluster) : std::nullopt;
      if (whole) {
        out += *whole;
        continue;
      }
      while (!cluster.empty()) {
        const std::string_view character = cluster.substr(0, utf8_decode(cluster).length);
        out += map->find(character).value_or(character);
        cluster.remove_prefix(character.size());
      }
    }
    return out;
  };
}

}  // namespace beeswax::text
