// SPDX-License-Identifier: Apache-2.0
#include "emu/isa/forms.h"

#include <functional>

namespace emu::isa {

unsigned Mode::bits(int generation) const {
  const unsigned codes[] = {0, 3, 1, 2};  // nearest even, toward zero, up, down
  const unsigned round = codes[unsigned(rounding)];
  return round | round << 2 | (denormals ? 0xf0u : 0) | (generation < 12 ? 0x100u | (ieee ? 0x200u : 0) : 0);
}

std::vector<LanePattern> lane_patterns(int generation, unsigned lanes) {
  std::vector<LanePattern> all;
  const auto put = [&](const std::string& name, const std::function<int(int)>& from) -> LanePattern& {
    LanePattern p;
    p.text = " " + name;
    for (int lane = 0; lane < int(lanes); ++lane) p.from.push_back(from(lane));
    all.push_back(p);
    return all.back();
  };
  const auto within = [](int lane, int to) { return lane / 16 == to / 16 && to >= 0 ? to : -1; };
  const auto masks = [](LanePattern& p, unsigned row, unsigned bank, bool zero) {
    p.row_mask = row;
    p.bank_mask = bank;
    p.bound_zero = zero;
    p.text += " row_mask:" + std::to_string(row) + " bank_mask:" + std::to_string(bank) +
              (zero ? " bound_ctrl:1" : "");
  };
  const auto inactive = [](LanePattern& p) {
    p.inactive = true;
    p.text += " fi:1";
  };
  masks(put("quad_perm:[3,1,0,2]",
            [](int i) {
              return i / 4 * 4 + (i % 4 == 0 ? 3 : i % 4 == 1 ? 1 : i % 4 == 2 ? 0 : 2);
            }),
        15, 15, false);
  masks(put("row_shl:3", [&](int i) { return within(i, i + 3); }), 15, 15, false);
  masks(put("row_shl:1", [&](int i) { return within(i, i + 1); }), 15, 15, true);
  masks(put("row_shr:5", [&](int i) { return within(i, i - 5); }), 13, 15, false);
  masks(put("row_shr:1", [&](int i) { return within(i, i < 1 ? -1 : i - 1); }), 15, 6, true);
  masks(put("row_ror:4", [](int i) { return i / 16 * 16 + (i + 12) % 16; }), 15, 15, false);
  masks(put("row_mirror", [](int i) { return i / 16 * 16 + 15 - i % 16; }), 15, 15, true);
  masks(put("row_half_mirror", [](int i) { return i / 8 * 8 + 7 - i % 8; }), 7, 15, false);
  if (generation < 10) {
    masks(put("wave_shl:1", [&](int i) { return i + 1 < int(lanes) ? i + 1 : -1; }), 15, 15, false);
    masks(put("wave_rol:1", [&](int i) { return (i + 1) % int(lanes); }), 15, 15, false);
    masks(put("wave_shr:1", [](int i) { return i - 1; }), 15, 15, true);
    masks(put("wave_ror:1", [&](int i) { return (i + int(lanes) - 1) % int(lanes); }), 15, 15, false);
    masks(put("row_bcast:15", [](int i) { return i < 16 ? -1 : i / 16 * 16 - 1; }), 10, 15, false);
    masks(put("row_bcast:31", [](int i) { return i < 32 ? -1 : 31; }), 12, 15, false);
    return all;
  }
  masks(put("row_share:6", [](int i) { return i / 16 * 16 + 6; }), 15, 15, false);
  LanePattern& shared = put("row_xmask:9", [](int i) { return i / 16 * 16 + (i % 16 ^ 9); });
  masks(shared, 15, 15, false);
  inactive(shared);
  const int eight[] = {7, 0, 2, 5, 3, 3, 1, 6};
  // Lanes that are off read as zero here, as with bound_ctrl.
  put("dpp8:[7,0,2,5,3,3,1,6]", [&](int i) { return i / 8 * 8 + eight[i % 8]; }).bound_zero = true;
  LanePattern& any = put("dpp8:[7,0,2,5,3,3,1,6]", [&](int i) { return i / 8 * 8 + eight[i % 8]; });
  any.bound_zero = true;
  inactive(any);
  return all;
}

namespace {

constexpr const char* kParts[] = {"BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD"};
int low_of(int part) { return part < 4 ? 8 * part : part == 5 ? 16 : 0; }
int width_of(int part) { return part < 4 ? 8 : part < 6 ? 16 : 32; }
u128 extended(u128 bits, int width) {
  return (bits >> (width - 1) & 1) != 0 ? bits | (ones(32) & ~ones(width)) : bits;
}

}  // namespace

u128 Selection::taken(u128 bits, unsigned index) const {
  const int part = source[index], width = width_of(part);
  const u128 chosen = bits >> low_of(part) & ones(width);
  return sign[index] ? extended(chosen, width) : chosen;
}
u128 Selection::placed(u128 result, u128 before) const {
  const int low = low_of(destination), width = width_of(destination);
  const u128 field = ones(width) << low, value = result << low & field;
  if (width == 32) return result & ones(32);
  if (unused == Unused::Preserve) return (before & ones(32) & ~field) | value;
  if (unused == Unused::Sext && (result >> (width - 1) & 1) != 0)
    return value | (ones(32) & ~ones(low + width));
  return value;
}

std::vector<Selection> selections(bool compare, unsigned sources, bool integers) {
  using Unused = Selection::Unused;
  struct Parts {
    int first, second, to;
    Unused unused;
    bool sign0, sign1;
  };
  const Parts kAll[] = {{1, 5, 6, Unused::Pad, false, true},   {5, 0, 4, Unused::Pad, true, false},
                        {4, 3, 5, Unused::Sext, false, false}, {6, 4, 2, Unused::Preserve, false, true},
                        {2, 6, 0, Unused::Sext, true, false},  {5, 5, 5, Unused::Preserve, false, false}};
  const char* const kUnused[] = {"UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE"};
  std::vector<Selection> all;
  for (const Parts& parts : kAll) {
    Selection s;
    s.source[0] = parts.first;
    s.source[1] = parts.second;
    s.sign[0] = parts.sign0 && integers;
    s.sign[1] = parts.sign1 && integers;
    if (!compare) {
      s.destination = parts.to;
      s.unused = parts.unused;
      s.text = std::string(" dst_sel:") + kParts[parts.to] + " dst_unused:" + kUnused[unsigned(parts.unused)];
    }
    s.text += std::string(" src0_sel:") + kParts[parts.first];
    if (sources > 1) s.text += std::string(" src1_sel:") + kParts[parts.second];
    all.push_back(s);
  }
  return all;
}

}  // namespace emu::isa
