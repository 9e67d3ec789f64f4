// SPDX-License-Identifier: Apache-2.0
// Upsampling: rows of outputs as tasks. Output rows that come from the same input rows share their work.
#include <algorithm>
#include <cmath>
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

// One axis of nearest: floor(i * in / out), exactly and without the product.
Scratch<int32_t> nearest(int64_t in, int64_t out) {
  Scratch<int32_t> at(out);
  int64_t whole = 0, rest = 0;
  for (int64_t i = 0; i < out; ++i) {
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
  int64_t size;
  Scratch<int32_t> low, high;
  Scratch<double> weight;

  Blend(int64_t in, int64_t out, bool align_corners, double factor)
      : size(out), low(out), high(out), weight(out) {
    const auto size_in = static_cast<double>(in), size_out = static_cast<double>(out);
    double scale = factor > 0 ? 1 / factor : size_in / size_out;
    if (align_corners) scale = out > 1 ? (size_in - 1) / (size_out - 1) : 0;
    for (int64_t i = 0; i < out; ++i) {
      const auto o = static_cast<double>(i);
      const double at = align_corners ? scale * o : std::max(scale * (o + 0.5) - 0.5, 0.0);
      const auto first = static_cast<int64_t>(std::min(std::floor(at), size_in - 1));
      const int64_t second = std::min(first + 1, in - 1);
      low[i] = static_cast<int32_t>(first);
      high[i] = static_cast<int32_t>(second);
      weight[i] = first == second ? 0 : std::min(at - static_cast<double>(first), 1.0);
    }
  }
  /// Whether these are the positions of UpsampleKernels::across_twice.
  bool is_twice(int64_t in) const {
    if (size != 2 * in) return false;
    for (int64_t i = 0; i < 2 * in; ++i) {
      const int64_t first = std::max<int64_t>(i - 1, 0) / 2;
      const bool end = i == 0 || i == 2 * in - 1;
      if (low[i] != (i == 0 ? 0 : first) || weight[i] != (end ? 0 : i % 2 == 0 ? 0.75 : 0.25)) return false;
    }
    return true;
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
  size_t row_bytes() const { return static_cast<size_t>(w_out * element); }
  void write(int64_t row, const std::byte* from) const {
    std::byte* to = out + row * w_out * element;
    if (past_caches) {
      copy_kernels().stream(to, from, row_bytes());
    } else {
      std::memcpy(to, from, row_bytes());
    }
  }
};

// Calls rows(begin, end) for ranges of the output's rows, all planes together.
template <class F>
void each_range(const UpsampleShape& s, F&& rows) {
  parallel_ranges(s.batch * s.channels * s.h_out, std::max<int64_t>(1, kTaskElements / s.w_out),
                  [&](int64_t begin, int64_t end) {
                    rows(begin, end);
                    copy_kernels().fence();
                  });
}

void upsample_nearest(const UpsampleShape& s, const Operand& x, const Target& target) {
  const Planes planes(s, x, target);
  const Scratch<int32_t> rows = nearest(s.h_in, s.h_out);
  const Scratch<int32_t> columns = nearest(s.w_in, s.w_out);
  const size_t size = size_class(static_cast<size_t>(planes.element));
  each_range(s, [&](int64_t begin, int64_t end) {
    auto* line = static_cast<std::byte*>(gemm_scratch(GemmScratch::local, planes.row_bytes()));
    const std::byte* held = nullptr;
    for (int64_t r = begin; r < end; ++r) {
      const std::byte* from = planes.row(r / s.h_out, rows[r % s.h_out]);
      if (s.w_in == s.w_out) {
        planes.write(r, from);
        continue;
      }
      if (from != held) {
        if (s.w_out == 2 * s.w_in) {
          upsample_kernels().twice[size](from, s.w_in, line);
        } else {
          upsample_kernels().expand[size](from, columns.data(), s.w_out, line);
        }
      }
      held = from;
      planes.write(r, line);
    }
  });
}

void upsample_bilinear(const UpsampleShape& s, const Operand& x, const Target& target) {
  const Planes planes(s, x, target);
  const bool wide = x.dtype == DType::F64;
  const size_t type = wide ? 1 : 0;
  const int64_t word = wide ? 8 : 4;
  const Blend rows(s.h_in, s.h_out, s.align_corners, s.scale_h);
  const Blend columns(s.w_in, s.w_out, s.align_corners, s.scale_w);
  const Scratch<float> weights(s.w_out);
  for (int64_t i = 0; i < s.w_out; ++i) weights[i] = static_cast<float>(columns.weight[i]);
  const void* weight = wide ? static_cast<const void*>(columns.weight.data()) : weights.data();
  const DType compute = compute_dtype(x.dtype);
  const CastLoop widen = conversion(x.dtype, compute), narrow = conversion(compute, x.dtype);

  const bool twice = columns.is_twice(s.w_in);

  const int64_t line = (s.w_out * word + 63) / 64 * 64;
  const int64_t bytes =
      4 * line + s.w_in * word;  // two blended input rows, a result, its narrow form, an input row
  each_range(s, [&](int64_t begin, int64_t end) {
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
      const std::byte* values = from;
      if (widen != nullptr) {
        widen(from, widened, s.w_in);
        values = widened;
      }
      if (twice) {
        upsample_kernels().across_twice[type](values, s.w_in, lines[to]);
      } else {
        upsample_kernels().across[type](values, columns.low.data(), columns.high.data(), weight, s.w_out,
                                        lines[to]);
      }
      held[to] = from;
      return to;
    };
    for (int64_t r = begin; r < end; ++r) {
      const int64_t plane = r / s.h_out;
      const int64_t at = r % s.h_out;
      const std::byte* bottom = planes.row(plane, rows.high[at]);
      // The line that the lower row may already be in is kept.
      const size_t top = blended(planes.row(plane, rows.low[at]), held[0] == bottom ? 0 : 1);
      const size_t low = blended(bottom, top);
      upsample_kernels().down[type](lines[top], lines[low], rows.weight[at], s.w_out, result);
      if (narrow != nullptr) narrow(result, narrowed, s.w_out);
      planes.write(r, narrow != nullptr ? narrowed : result);
    }
  });
}

}  // namespace

void CpuBackend::upsample(const UpsampleShape& s, const Operand& x, const Target& out) {
  if (s.bilinear) {
    upsample_bilinear(s, x, out);
  } else {
    upsample_nearest(s, x, out);
  }
}

}  // namespace beeswax::cpu
