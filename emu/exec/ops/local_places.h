// SPDX-License-Identifier: Apache-2.0
// Where LDS instructions find their elements.
#pragma once
#include <cstdio>

#include "emu/exec/ops/lane_memory.h"

namespace emu::exec {
namespace EMU_ISA {
namespace {

/// Of the lanes that are wanted, those whose bytes lie in the work-group's LDS: the ones not `outside`. The
/// others fault when checked, else they read zero and write nothing, as hardware does.
EMU_FN void keep_inside(Wave& w, const Op* op, uint64_t outside, uint32_t bytes, Access access,
                        Places<uint32_t>& p) {
  p.there = p.wanted & ~outside;
  if (!w.checker) return;
  if (p.wanted & outside) [[unlikely]] {
    const int lane = __builtin_ctzll(p.wanted & outside);
    char text[96];
    std::snprintf(text, sizeof(text), "%u bytes at %u of an LDS of %u bytes", bytes, p.at[lane],
                  w.group->lds_bytes);
    raise(w, op, Fault::Kind::LdsOutOfRange, lane, p.at[lane], text);
  }
  check_local(w, op, p.at, p.there, bytes, access);
}

/// The enabled lanes' places; p.at[lane] = offset(lane).
template <class Offset>
EMU_FN void places_at(Wave& w, const Op* op, uint32_t bytes, Access access, Places<uint32_t>& p,
                      Offset offset) {
  p.base = reinterpret_cast<uint64_t>(w.group->lds);
  p.wanted = enabled_of(w);
  uint64_t outside = 0;
  for (unsigned i = 0; i < w.lanes; ++i) {
    p.at[i] = offset(i);
    if (uint64_t(p.at[i]) + bytes > w.group->lds_bytes) outside |= uint64_t(1) << i;
  }
  keep_inside(w, op, outside, bytes, access, p);
}

}  // namespace
}  // namespace EMU_ISA
}  // namespace emu::exec
