// SPDX-License-Identifier: Apache-2.0
// Rows of lengths that are no powers of two: widths of models and of their feed-forward layers, lengths a
// little past the longest row of a kernel, a vocabulary, pictures.
#include <algorithm>

#include "bench/gpu/make.h"

namespace beeswax::bench {

std::vector<GpuCase> length_cases(Sizes sizes) {
  const int64_t n = sizes == Sizes::Large ? 64 << 20 : 1 << 16;
  constexpr DType kF16 = DType::F16, kF32 = DType::F32;
  std::vector<GpuCase> out;
  const auto add = [&](const char* name, DType dtype, int64_t length, double passes, const auto& operation) {
    const int64_t rows = std::max<int64_t>(1, n / length);
    out.push_back(over(join_text(name, " ", dtype_name(dtype), " ", rows, "x", length), {rows, length}, dtype,
                       passes, operation));
  };
  for (const int64_t length : {2560, 4095, 5120, 8200, 13'824, 50'257, 128'256, 400'000})
    for (const DType dtype : {kF16, kF32}) {
      add("sum", dtype, length, 1, [](const Tensor& x) { return x.sum(-1); });
      add("argmax", dtype, length, 1, [](const Tensor& x) { return x.argmax(-1); });
      add("softmax", dtype, length, 2, [](const Tensor& x) { return x.softmax(-1); });
      add("cumsum", dtype, length, 2, [](const Tensor& x) { return x.cumsum(-1); });
      if (length < 10'000) add("rmsnorm", dtype, length, 2, [](const Tensor& x) { return x.rms_norm(); });
    }
  return out;
}

}  // namespace beeswax::bench
