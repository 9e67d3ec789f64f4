// SPDX-License-Identifier: Apache-2.0
// Packing: strided operands of any dtype into dense panels of the compute type, and rounding results back.
#include "backends/cpu/kernels/gemm.h"
#include "backends/cpu/kernels/gemm_simd.h"

namespace beeswax::cpu::BW_ISA {
namespace {

BW_FN int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

// One panel: `lanes` lanes of the source into [k][wide], the lanes past `lanes` zero.
template <class Src>
struct Panel {
  using T = Compute<Src>;
  const Src* from;
  int64_t lane_stride, k_stride;
  int64_t lanes, k;
  int64_t wide;
  int64_t reach;  // lanes that may be read from the first line of k on (neighbouring panels included)
  T* to;
};

// Lanes are dense in the source: copy line by line.
template <class Src>
BW_FN void pack_lines(const Panel<Src>& panel) {
  using T = Compute<Src>;
  constexpr int n = kLanes<T>;
  for (int64_t p = 0; p < panel.k; ++p) {
    const Src* line = panel.from + p * panel.k_stride;
    T* to = panel.to + p * panel.wide;
    // Memory that may be read behind `line`: up to the end of the last line.
    const int64_t readable = (panel.k - 1 - p) * panel.k_stride + panel.reach;
    int64_t i = 0;
    for (; i + n <= panel.lanes; i += n) store(to + i, widen_load<T>(line + i));
    if (i == panel.wide) continue;
    const int64_t rest = panel.lanes - i;
    Vec<T> v = readable >= i + n ? widen_load<T>(line + i) : widen_load_first<T>(line + i, rest);
    if (panel.wide == panel.lanes) {
      store_first(to + i, v, rest);
    } else {
      store(to + i, first_lanes<T>(v, rest));
    }
  }
}

// Lines that are requested ahead: they lie too far apart for the processor to foresee them.
constexpr int64_t kLinesAhead = 16;
constexpr int64_t kCacheLine = 64;

// The same for as many whole panels side by side: long pieces of a line are read together.
template <class Src>
BW_FN int64_t pack_lines_of_panels(const GemmPack& g, const Src* from, Compute<Src>* to) {
  using T = Compute<Src>;
  constexpr int n = kLanes<T>;
  constexpr int together = 4;
  if (g.width % n != 0) return 0;
  int64_t first = 0;
  for (; first + together * g.width <= g.lanes; first += together * g.width) {
    for (int64_t p = 0; p < g.k; ++p) {
      const Src* line = from + p * g.k_stride + first;
      for (int64_t i = 0; i < together * g.width; i += kCacheLine / static_cast<int64_t>(sizeof(Src)))
        __builtin_prefetch(line + kLinesAhead * g.k_stride + i);
      T* out = to + first * g.k + p * g.width;
#pragma GCC unroll 4
      for (int panel = 0; panel < together; ++panel)
        for (int64_t i = 0; i < g.width; i += n)
          store(out + panel * g.width * g.k + i, widen_load<T>(line + panel * g.width + i));
    }
  }
  return first;
}

// Vectors of a lane that are requested ahead while squares are transposed.
constexpr int64_t kSquaresAhead = 8;

// k is dense in the source: transpose squares.
template <class Src>
BW_FN void pack_columns(const Panel<Src>& panel) {
  using T = Compute<Src>;
  constexpr int n = kLanes<T>;
  for (int64_t i = 0; i < panel.wide; i += n) {
    const int64_t lanes = smaller(n, panel.lanes - i);
    // Whole vectors may spill into lines of the panel that are written later.
    const int64_t width = smaller(n, panel.wide - i);
    const Src* line[n];  // lanes past the last repeat it; the stores drop them
    for (int r = 0; r < n; ++r) line[r] = panel.from + (i + smaller(r, lanes - 1)) * panel.lane_stride;
    T* to = panel.to + i;
    for (int64_t p = 0; p < panel.k; p += n, to += n * panel.wide) {
      const int64_t steps = smaller(n, panel.k - p);
      Vec<T> v[n];
      if (steps == n) {
        // The same lanes further on, or, near their end, those of the next panel.
        constexpr int64_t ahead = kSquaresAhead * n;
        const int64_t later =
            p + (p + ahead < panel.k ? ahead : panel.lanes * panel.lane_stride + ahead - panel.k);
#pragma GCC unroll 16
        for (int r = 0; r < n; ++r) {
          v[r] = widen_load<T>(line[r] + p);
          __builtin_prefetch(line[r] + later);
        }
      } else {
        for (int r = 0; r < n; ++r) v[r] = widen_load_first<T>(line[r] + p, steps);
      }
      transpose<T>(v);
      if (lanes < width)
        for (int r = 0; r < n; ++r) v[r] = first_lanes<T>(v[r], lanes);
      const bool spills = width < n && i == 0 && (panel.k - p - n) * panel.wide >= n - width;
      if (steps == n && (width == n || spills)) {
#pragma GCC unroll 16
        for (int r = 0; r < n; ++r) store(to + r * panel.wide, v[r]);
      } else {
        for (int64_t r = 0; r < steps; ++r) store_first(to + r * panel.wide, v[r], width);
      }
    }
  }
}

template <class Src>
BW_FN void pack_any(const Panel<Src>& panel) {
  using T = Compute<Src>;
  for (int64_t p = 0; p < panel.k; ++p) {
    const Src* line = panel.from + p * panel.k_stride;
    T* to = panel.to + p * panel.wide;
    for (int64_t i = 0; i < panel.lanes; ++i) to[i] = static_cast<T>(line[i * panel.lane_stride]);
    for (int64_t i = panel.lanes; i < panel.wide; ++i) to[i] = T{};
  }
}

template <class Src>
static void pack(const GemmPack& g) {
  using T = Compute<Src>;
  T* to = static_cast<T*>(g.to);
  const Src* from = static_cast<const Src*>(g.from);
  int64_t first = g.lane_stride == 1 ? pack_lines_of_panels<Src>(g, from, to) : 0;
  for (; first < g.lanes; first += g.width) {
    const int64_t lanes = smaller(g.width, g.lanes - first);
    const int64_t wide = (lanes + g.pad - 1) / g.pad * g.pad;
    const Panel<Src> panel{from + first * g.lane_stride,
                           g.lane_stride,
                           g.k_stride,
                           lanes,
                           g.k,
                           wide,
                           g.lanes - first,
                           to + first * g.k};
    if (g.lane_stride == 1 || g.lanes == 1) {
      pack_lines(panel);
    } else if (g.k_stride == 1 || g.k == 1) {
      pack_columns(panel);
    } else {
      pack_any(panel);
    }
  }
}

template <class Dst>
static void round(const void* from, void* to, int64_t count) {
  const auto* x = static_cast<const Compute<Dst>*>(from);
  auto* y = static_cast<Dst*>(to);
  for (int64_t i = 0; i < count; ++i) y[i] = static_cast<Dst>(x[i]);
}

constexpr GemmPacks kTable = {{
#define BW_DTYPE(Name, name, ctype, ...) &pack<ctype>,
#define BW_STORAGE_DTYPE(...) nullptr,
#include "tables/dtypes.def"
                              },
                              {
#define BW_DTYPE(Name, name, ctype, ...) &round<ctype>,
#define BW_STORAGE_DTYPE(...) nullptr,
#include "tables/dtypes.def"
                              }};

}  // namespace

const GemmPacks& gemm_packs() { return kTable; }

}  // namespace beeswax::cpu::BW_ISA
