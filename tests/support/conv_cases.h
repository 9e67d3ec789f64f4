// SPDX-License-Identifier: Apache-2.0
// Convolutions to try and their plain definition, in long double and in wrapping 64-bit integers.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "beeswax/tensor.h"
#include "support/numbers.h"

namespace beeswax::test {

/// Channels are per group. A 1-D convolution has flat = true and heights of 1.
struct ConvCase {
  bool transposed, flat;
  int64_t b, groups, c_in, c_out, h, w, kh, kw;
  ConvOptions options;

  static int64_t size(const ConvCase& c, int64_t in, int64_t k, bool one) {
    if (one) return 1;
    const ConvOptions& o = c.options;
    if (c.transposed)
      return (in - 1) * o.stride - 2 * o.padding + o.dilation * (k - 1) + o.output_padding + 1;
    const int64_t room = in + 2 * o.padding - o.dilation * (k - 1) - 1;
    return room < 0 ? 0 : room / o.stride + 1;
  }
  int64_t h_out() const { return size(*this, h, kh, flat); }
  int64_t w_out() const { return size(*this, w, kw, false); }
  int64_t terms() const { return c_in * kh * kw; }
  Shape x_shape() const { return flat ? Shape{b, groups * c_in, w} : Shape{b, groups * c_in, h, w}; }
  Shape kernel_shape() const {
    const int64_t first = groups * (transposed ? c_in : c_out), second = transposed ? c_out : c_in;
    return flat ? Shape{first, second, kw} : Shape{first, second, kh, kw};
  }
  Shape out_shape() const {
    return flat ? Shape{b, groups * c_out, w_out()} : Shape{b, groups * c_out, h_out(), w_out()};
  }
  std::string describe() const {
    return std::string(transposed ? "transposed " : "") + x_shape().to_string() + " * " +
           kernel_shape().to_string() + " padding " + std::to_string(options.padding) + " stride " +
           std::to_string(options.stride) + " dilation " + std::to_string(options.dilation) + " groups " +
           std::to_string(groups) + " output_padding " + std::to_string(options.output_padding);
  }
  Tensor run(const Tensor& x, const Tensor& kernel) const {
    ConvOptions o = options;
    o.groups = groups;
    if (transposed) return flat ? x.conv_transpose1d(kernel, o) : x.conv_transpose2d(kernel, o);
    return flat ? x.conv1d(kernel, o) : x.conv2d(kernel, o);
  }

  /// Calls term(output, input, weight) with flat indices for every product of the definition.
  template <class F>
  void each_term(F&& term) const {
    const int64_t ho = h_out(), wo = w_out();
    const int64_t sy = flat ? 1 : options.stride, py = flat ? 0 : options.padding,
                  dy = flat ? 1 : options.dilation;
    const int64_t sx = options.stride, px = options.padding, dx = options.dilation;
    for (int64_t n = 0; n < b; ++n)
      for (int64_t g = 0; g < groups; ++g)
        for (int64_t co = 0; co < c_out; ++co)
          for (int64_t ci = 0; ci < c_in; ++ci)
            for (int64_t ky = 0; ky < kh; ++ky)
              for (int64_t kx = 0; kx < kw; ++kx) {
                const int64_t row = transposed ? (g * c_in + ci) * c_out + co : (g * c_out + co) * c_in + ci;
                const int64_t weight = (row * kh + ky) * kw + kx;
                const int64_t x_plane = (n * groups + g) * c_in + ci,
                              out_plane = (n * groups + g) * c_out + co;
                // Walk over the side that the stride spreads out.
                const int64_t rows = transposed ? h : ho, columns = transposed ? w : wo;
                for (int64_t r = 0; r < rows; ++r)
                  for (int64_t c = 0; c < columns; ++c) {
                    const int64_t far_r = r * sy - py + ky * dy, far_c = c * sx - px + kx * dx;
                    const int64_t far_rows = transposed ? ho : h, far_columns = transposed ? wo : w;
                    if (far_r < 0 || far_r >= far_rows || far_c < 0 || far_c >= far_columns) continue;
                    const int64_t near = r * columns + c, far = far_r * far_columns + far_c;
                    term(out_plane * ho * wo + (transposed ? far : near),
                         x_plane * h * w + (transposed ? near : far), weight);
                  }
              }
  }

  struct Exact {
    std::vector<long double> sum, magnitude;
  };
  Exact exact(const std::vector<double>& x, const std::vector<double>& kernel) const {
    const auto count = static_cast<size_t>(out_shape().elem_count());
    Exact e{std::vector<long double>(count), std::vector<long double>(count)};
    each_term([&](int64_t o, int64_t i, int64_t k) {
      const long double product =
          static_cast<long double>(x[static_cast<size_t>(i)]) * kernel[static_cast<size_t>(k)];
      e.sum[static_cast<size_t>(o)] += product;
      e.magnitude[static_cast<size_t>(o)] += std::fabs(product);
    });
    return e;
  }
  std::vector<uint64_t> wrapped(const std::vector<int64_t>& x, const std::vector<int64_t>& kernel) const {
    std::vector<uint64_t> sum(static_cast<size_t>(out_shape().elem_count()));
    each_term([&](int64_t o, int64_t i, int64_t k) {
      sum[static_cast<size_t>(o)] += static_cast<uint64_t>(x[static_cast<size_t>(i)]) *
                                     static_cast<uint64_t>(kernel[static_cast<size_t>(k)]);
    });
    return sum;
  }
};

/// Small cases that between them have every option, odd sizes and windows longer than the input.
inline std::vector<ConvCase> conv_cases() {
  std::vector<ConvCase> out;
  const auto add = [&](int64_t b, int64_t g, int64_t ci, int64_t co, int64_t h, int64_t w, int64_t kh,
                       int64_t kw, int64_t p, int64_t s, int64_t d) {
    for (const bool transposed : {false, true})
      for (const bool flat : {false, true})
        for (int64_t op = 0; op < (transposed ? std::min<int64_t>(std::max(s, d), 2) : 1); ++op) {
          ConvCase c{transposed, flat, b, g, ci, co, flat ? 1 : h, w, flat ? 1 : kh, kw, {p, s, d, g, op}};
          if (c.h_out() > 0 && c.w_out() > 0) out.push_back(c);
        }
  };
  add(1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 1);
  add(2, 1, 3, 5, 7, 9, 3, 3, 1, 1, 1);
  add(2, 1, 5, 3, 9, 7, 3, 3, 1, 2, 1);
  add(1, 2, 3, 6, 8, 11, 2, 4, 0, 1, 1);  // even windows
  add(1, 3, 2, 2, 6, 13, 3, 2, 2, 2, 2);
  add(2, 4, 1, 1, 9, 17, 3, 3, 1, 1, 1);  // depthwise
  add(1, 5, 1, 3, 10, 8, 5, 3, 2, 3, 1);
  add(2, 1, 4, 9, 5, 6, 1, 1, 0, 1, 1);  // pointwise
  add(2, 2, 4, 7, 5, 6, 1, 1, 0, 2, 1);
  add(2, 1, 4, 7, 5, 6, 1, 1, 2, 1, 1);
  add(1, 1, 2, 6, 3, 2, 5, 6, 3, 1, 1);  // longer than the input
  add(1, 1, 2, 1, 4, 5, 3, 3, 6, 4, 5);
  add(3, 1, 2, 8, 4, 5, 4, 5, 0, 1, 1);   // the whole image
  add(1, 1, 30, 6, 4, 5, 3, 3, 1, 1, 1);  // many terms
  add(1, 1, 87, 6, 4, 5, 3, 3, 1, 1, 1);  // more than one chain of terms
  add(1, 1, 29, 2, 6, 5, 3, 3, 1, 2, 3);
  add(1, 1, 2, 5, 20, 19, 17, 17, 3, 1, 1);  // one channel of many terms
  add(1, 1, 2, 5, 30, 29, 28, 28, 1, 1, 1);  // one channel of more than one chain
  add(1, 1, 3, 2, 7, 40, 1, 7, 2, 3, 2);
  add(1, 1, 1, 6, 12, 33, 3, 3, 0, 5, 1);  // the stride skips input
  add(1, 2, 3, 5, 6, 7, 2, 3, 1, 3, 2);
  add(1, 1, 2, 5, 4, 4, 3, 3, 4, 2, 4);
  return out;
}

}  // namespace beeswax::test
