// SPDX-License-Identifier: Apache-2.0
// Upsampling: rows of outputs as tasks. Output rows that come from the same input rows share their work. Very
// long rows are written in parts, so that tables of places stay small.
#include <algorithm>
#include <cstring>

#include "backends/cpu/chunks.h"
#include "backends/cpu/conv_tile.h"
#include "backends/cpu/gemm_scratch.h"
#include "backends/cpu/kernels/upsample.h"
#include "backends/cpu/scratch.h"
#include "backends/cpu/streaming.h"

namespace beeswax::cpu {
namespace {

constexpr int64_t kTaskElements = 1 << 15;  // outputs of one task of the pool, about
// Of rows that are written in one pass, with tables of their places.
constexpr int64_t kMostColumns = 1 << 18;

// One axis of nearest: floor(i * in / out) for `count` outputs from `begin` on, without a division for each.
Scratch<int32_t> nearest(int64_t in, int64_t out, int64_t begin, int64_t count) {
  Scratch<int32_t> at(count);
  int64_t whole = begin * in / out, rest = begin * in % out;  // both sizes are below 2^31
  for (int64_t i = 0; i < count; ++i) {
    at[i] = static_cast<int32_t>(whole);
    whole += in / out;
    rest += in % out;
    if (rest >= out) {
      rest -= out;
      ++whole;
    }
  }
  return at;
}

// One axis of bilinear: the two input positions of each output, and the weight of the second.
struct Blend {
  struct Place {
    int64_t low, high;
    double weight;
  };
  int64_t in, out;
  bool align_corners;
  double scale;

  Blend(int64_t size_in, int64_t size_out, bool align, double factor)
      : in(size_in), out(size_out), align_corners(align) {
    const auto from = static_cast<double>(in), to = static_cast<double>(out);
    scale = factor > 0 ? 1 / factor : from / to;
    if (align_corners) scale = out > 1 ? (from - 1) / (to - 1) : 0;
  }
  Place at(int64_t i) const {
    const auto o = static_cast<double>(i);
    const double place = align_corners ? scale * o : std::max(scale * (o + 0.5) - 0.5, 0.0);
    const int64_t low = std::min(static_cast<int64_t>(place), in - 1);  // place is not negative
    const int64_t high = std::min(low + 1, in - 1);
    return {low, high, low == high ? 0 : std::min(place - static_cast<double>(low), 1.0)};
  }
  /// Whether these are the positions of UpsampleKernels::across_twice.
  bool is_twice() const {
    if (out != 2 * in) return false;
    for (int64_t i = 0; i < 2 * in; ++i) {
      const int64_t first = std::max<int64_t>(i - 1, 0) / 2;
      const bool end = i == 0 || i == 2 * in - 1;
      const auto [low, high, weight] = at(i);
      if (low != (i == 0 ? 0 : first) || weight != (end ? 0 : i % 2 == 0 ? 0.75 : 0.25)) return false;
    }
    return true;
  }
};

// The places of `count` outputs from `begin` on, counted from input position `first`; none where they are not
// `wanted`.
struct BlendTable {
  int64_t first, size_in;  // the input positions that they take
  Scratch<int32_t> low, high;
  Scratch<double> weight;
  Scratch<float> narrow;  // weights

  BlendTable(const Blend& blend, int64_t begin, int64_t count, bool wanted)
      : first(blend.at(begin).low),
        size_in(blend.at(begin + count - 1).high + 1 - first),
        low(wanted ? count : 0),
        high(wanted ? count : 0),
        weight(wanted ? count : 0),
        narrow(wanted ? count : 0) {
    int32_t *lows = low.data(), *highs = high.data();
    double* weights = weight.data();
    float* narrows = narrow.data();
    for (int64_t i = 0; wanted && i < count; ++i) {
      const auto place = blend.at(begin + i);
      lows[i] = static_cast<int32_t>(place.low - first);
      highs[i] = static_cast<int32_t>(place.high - first);
      weights[i] = place.weight;
      narrows[i] = static_cast<float>(place.weight);
    }
  }
};

// The planes of x and the rows of the output.
struct Planes {
  ConvInput input{};
  Copied copied;
  int64_t channels, element, h_out, w_out;
  std::byte* out;
  bool past_caches;

  Planes(const UpsampleShape& s, const Operand& x, const Target& target)
      : channels(s.channels),
        element(dtype_bits(x.dtype) / 8),
        h_out(s.h_out),
        w_out(s.w_out),
        out(target.data()),
        past_caches(beyond_caches(static_cast<size_t>(s.batch * s.channels * s.h_out * s.w_out * element))) {
    set_input(input, x, copied);
  }
  const std::byte* row(int64_t plane, int64_t index) const {
    return input.in +
           (plane / channels * input.in_batch + plane % channels * input.in_channel + index * input.in_row) *
               element;
  }
  /// Writes `count` outputs of a row from `column` on.
  void write(int64_t row, int64_t column, int64_t count, const std::byte* from) const {
    std::byte* to = out + (row * w_out + column) * element;
    const auto bytes = static_cast<size_t>(count * element);
    if (past_caches) {
      copy_kernels().stream(to, from, bytes);
    } else {
      std::memcpy(to, from, bytes);
    }
  }
};

// Calls rows(begin, end) for ranges of the output's rows, all planes together, of which `width` outputs are
// written.
template <class F>
void each_range(const UpsampleShape& s, int64_t width, F&& rows) {
  parallel_ranges(s.batch * s.channels * s.h_out, std::max<int64_t>(1, kTaskElements / width),
                  [&](int64_t begin, int64_t end) {
                    rows(begin, end);
                    copy_kernels().fence();
                  });
}

// `width` columns of all rows, from `column` on.
void nearest_part(const UpsampleShape& s, const Planes& planes, int64_t column, int64_t width) {
  const bool same = s.w_in == s.w_out, twice = s.w_out == 2 * s.w_in && width == s.w_out;
  const Scratch<int32_t> columns = nearest(s.w_in, s.w_out, column, same || twice ? 0 : width);
  const size_t size = size_class(static_cast<size_t>(planes.element));
  each_range(s, width, [&](int64_t begin, int64_t end) {
    auto* line = static_cast<std::byte*>(
        gemm_scratch(GemmScratch::local, static_cast<size_t>(width * planes.element)));
    const std::byte* held = nullptr;
    for (int64_t r = begin; r < end; ++r) {
      const std::byte* from = planes.row(r / s.h_out, r % s.h_out * s.h_in / s.h_out);
      if (same) {
        planes.write(r, column, width, from + column * planes.element);
        continue;
      }
      if (from != held) {
        if (twice) {
          upsample_kernels().twice[size](from, s.w_in, line);
        } else {
          upsample_kernels().expand[size](from, columns.data(), width, line);
        }
      }
      held = from;
      planes.write(r, column, width, line);
    }
  });
}

void bilinear_part(const UpsampleShape& s, const Planes& planes, DType dtype, const Blend& rows,
                   const Blend& blend, int64_t column, int64_t width) {
  const bool wide = dtype == DType::F64;
  const size_t type = wide ? 1 : 0;
  const int64_t word = wide ? 8 : 4;
  const bool twice = width == s.w_out && blend.is_twice();
  const BlendTable columns(blend, column, width, !twice);
  const void* weight = wide ? static_cast<const void*>(columns.weight.data()) : columns.narrow.data();
  const DType compute = compute_dtype(dtype);
  const CastLoop widen = conversion(dtype, compute), narrow = conversion(compute, dtype);

  const int64_t line = (width * word + 63) / 64 * 64;
  const int64_t bytes =
      4 * line + columns.size_in * word;  // two blended input rows, a result, its narrow form, an input row
  each_range(s, width, [&](int64_t begin, int64_t end) {
    auto* scratch = static_cast<std::byte*>(gemm_scratch(GemmScratch::local, static_cast<size_t>(bytes)));
    std::byte* lines[2] = {scratch, scratch + line};
    std::byte* result = scratch + 2 * line;
    std::byte* narrowed = scratch + 3 * line;
    std::byte* widened = scratch + 4 * line;
    const std::byte* held[2] = {nullptr, nullptr};
    // The row blended across, from the last two or anew; `keep` is not to be overwritten.
    const auto blended = [&](const std::byte* from, size_t keep) {
      for (size_t i = 0; i < 2; ++i)
        if (held[i] == from) return i;
      const size_t to = 1 - keep;
      const std::byte* values = from + columns.first * planes.element;
      if (widen != nullptr) {
        widen(values, widened, columns.size_in);
        values = widened;
      }
      if (twice) {
        upsample_kernels().across_twice[type](values, s.w_in, lines[to]);
      } else {
        upsample_kernels().across[type](values, columns.low.data(), columns.high.data(), weight, width,
                                        lines[to]);
      }
      held[to] = from;
      return to;
    };
    for (int64_t r = begin; r < end; ++r) {
      const int64_t plane = r / s.h_out;
      const Blend::Place at = rows.at(r % s.h_out);
      const std::byte* bottom = planes.row(plane, at.high);
      // The line that the lower row may already be in is kept.
      const size_t top = blended(planes.row(plane, at.low), held[0] == bottom ? 0 : 1);
      const size_t low = blended(bottom, top);
      upsample_kernels().down[type](lines[top], lines[low], at.weight, width, result);
      if (narrow != nullptr) narrow(result, narrowed, width);
      planes.write(r, column, width, narrow != nullptr ? narrowed : result);
    }
  });
}

}  // namespace

void CpuBackend::upsample(const UpsampleShape& s, const Operand& x, const Target& out) {
  const Planes planes(s, x, out);
  const Blend rows(s.h_in, s.h_out, s.align_corners, s.scale_h);
  const Blend columns(s.w_in, s.w_out, s.align_corners, s.scale_w);
  for (int64_t column = 0; column < s.w_out; column += kMostColumns) {
    const int64_t width = std::min(kMostColumns, s.w_out - column);
    if (s.bilinear) {
      bilinear_part(s, planes, x.dtype, rows, columns, column, width);
    } else {
      nearest_part(s, planes, column, width);
    }
  }
}

}  // namespace beeswax::cpu
