// SPDX-License-Identifier: Apache-2.0
#include "emu/isa/inputs.h"

#include <random>

namespace emu::isa {
namespace {

using Edges = std::vector<uint64_t>;

/// The more telling values come first: three-source instructions use only those.
Edges edges_of(const Element& e) {
  if (e.floating && e.width == 64)
    return {0,
            0x8000000000000000,
            0x3ff0000000000000,
            0x7ff0000000000000,
            0x7ff8000000000123,
            0xbff8000000000000,
            1,
            0x7fefffffffffffff,
            0xfff0000000000000,
            0x7ff0000000000001,
            0xffefffffffffffff,
            0x000fffffffffffff,
            0x0010000000000000,
            0x8010000000000000,
            0x4004000000000000,
            0xc004000000000000,
            0x41dfffffffe00000,
            0xc1e0000000200000,
            0x41f0000000000000,
            0x3fe0000000000000,
            0x4330000000000001,
            0xffffffffffffffff};
  if (e.floating && e.width == 32)
    return {0,          0x80000000, 0x3f800000, 0x7f800000, 0x7fc00123, 0xbfc00000, 1,          0x7f7fffff,
            0xff800000, 0x7f800001, 0xff7fffff, 0x007fffff, 0x00800000, 0x80800000, 0x40200000, 0xc0200000,
            0x4f000000, 0xcf000001, 0x4f800000, 0x3f000000, 0x4b000001, 0xffffffff};
  if (e.bfloat)
    return {0,      0x8000, 0x3f80, 0x7f80, 0x7fc1, 0xbfc0, 1,      0x7f7f, 0xff80, 0x7f81, 0xff7f,
            0x007f, 0x0080, 0x8080, 0x4020, 0xc020, 0x4f00, 0xcf01, 0x4f80, 0x3f00, 0x4b01, 0xffff};
  if (e.floating && e.width == 16)
    return {0,      0x8000, 0x3c00, 0x7c00, 0x7e12, 0xbe00, 1,      0x7bff, 0xfc00, 0x7c01, 0xfbff,
            0x03ff, 0x0400, 0x8400, 0x4100, 0xc100, 0x7800, 0xf801, 0x6401, 0x3800, 0x77ff, 0xffff};
  const uint64_t top = uint64_t(1) << (e.width - 1);
  Edges edges = {0,
                 1,
                 ~uint64_t(0),
                 top,
                 top - 1,
                 2,
                 31,
                 ~uint64_t(0) - 1,
                 7,
                 32,
                 63,
                 64,
                 15,
                 16,
                 24,
                 top + 1,
                 0xff,
                 0xffff,
                 0x10000,
                 0x80,
                 0x5555555555555555,
                 0xaaaaaaaaaaaaaaaa};
  return edges;
}

class Source {
 public:
  Source(const std::string& format, unsigned seed)
      : element_(element_of(format)), edges_(edges_of(element_)), random_(seed) {}
  /// A whole register: each element takes an edge value, the first one the value asked for.
  u128 edge(size_t index) {
    u128 bits = 0;
    for (int low = 0; low < 128; low += element_.width) {
      bits |= u128(edges_[index % edges_.size()] & uint64_t(ones(element_.width))) << low;
      index = random_();
    }
    return bits;
  }
  u128 draw() {
    u128 bits = 0;
    const unsigned kind = unsigned(random_() % 8);
    for (int low = 0; low < 128; low += element_.width)
      bits |= u128(one(kind) & uint64_t(ones(element_.width))) << low;
    return bits;
  }
  size_t edges() const { return edges_.size(); }

 private:
  uint64_t one(unsigned kind) {
    const uint64_t bits = random_();
    if (kind == 0) return edges_[bits % edges_.size()];
    if (!element_.floating) return kind < 4 ? bits >> (bits & 63) : bits;
    if (kind < 3) return bits;
    // Numbers near 1, where sums and products of several are neither lost nor infinite.
    const int mantissa = element_.bfloat ? 7 : element_.width == 64 ? 52 : element_.width == 32 ? 23 : 10;
    const uint64_t bias = element_.bfloat        ? 127
                          : element_.width == 64 ? 1023
                          : element_.width == 32 ? 127
                                                 : 15;
    const uint64_t exponent = bias - 6 + random_() % 13;
    return (bits >> 63) << (element_.width - 1) | exponent << mantissa | (bits & uint64_t(ones(mantissa)));
  }
  Element element_;
  Edges edges_;
  std::mt19937_64 random_;
};

}  // namespace

Element element_of(const std::string& format) {
  static const std::pair<const char*, Element> kEnds[] = {
      {"BF16", {16, true, true}}, {"F16", {16, true, false}}, {"F32", {32, true, false}},
      {"F64", {64, true, false}}, {"FP8", {8, false, false}}, {"BF8", {8, false, false}},
      {"8", {8, false, false}},   {"U4", {4, false, false}},  {"I4", {4, false, false}},
      {"16", {16, false, false}}, {"64", {64, false, false}}};
  for (const auto& [end, element] : kEnds)
    if (format.ends_with(end)) return element;
  return {32, false, false};
}

std::vector<Item> make_items(const std::array<std::string, 3>& sources, const std::string& destination) {
  size_t count = 0;
  for (const std::string& s : sources) count += s.empty() ? 0 : 1;
  std::vector<Source> s;
  for (unsigned i = 0; i < 3; ++i) s.emplace_back(sources[i].empty() ? "B32" : sources[i], 100 + i);
  Source d(destination, 200);
  std::mt19937_64 random(300);
  std::vector<Item> items(kItems);
  for (size_t i = 0; i < kItems; ++i) {
    Item& item = items[i];
    const size_t side = count >= 3 ? 8 : s[0].edges();
    const bool edge = i < (count <= 1 ? side : count == 2 ? side * s[1].edges() : size_t(512));
    const size_t index[3] = {i % side, count >= 3 ? i / 8 % 8 : i / side, i / 64};
    for (size_t k = 0; k < 3; ++k) item.source[k] = edge ? s[k].edge(index[k]) : s[k].draw();
    item.destination = random() % 4 == 0 ? d.edge(random()) : d.draw();
    item.vcc = (random() & 1) != 0;
    item.active = i / 64 % 4 != 3 || (random() & 1) != 0;
  }
  return items;
}

}  // namespace emu::isa
