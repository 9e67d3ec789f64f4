// SPDX-License-Identifier: Apache-2.0
// Matrix products beside the multiply-add peak, and matrix times vector beside the speed of reading the
// matrix.
#include "core/fail.h"
#include "harness.h"
#include "inputs.h"

namespace beeswax::bench {
namespace {

Ceiling peak_for(DType dtype) {
  if (dtype == DType::F64) return Ceiling::FmaF64;
  return dtype_is_float(dtype) ? Ceiling::FmaF32 : Ceiling::None;
}

void add_product(CaseList& list, const std::string& what, DType dtype, const Shape& a, const Shape& b,
                 bool transposed, double target) {
  const std::string name(dtype_name(dtype));
  const double k = static_cast<double>(a[a.rank() - 1]);
  const Shape left = a;
  const Shape right = b;
  double out = static_cast<double>(a.elem_count()) / k * static_cast<double>(b[b.rank() - 1]);
  list.add({.name = "matmul/" + what + "/" + name,
            .dtype = name,
            .shape = a.to_string() + " x " + b.to_string(),
            .bytes = bytes_of(dtype, a.elem_count()) + bytes_of(dtype, b.elem_count()) +
                     bytes_of(dtype, static_cast<int64_t>(out)),
            .flops = 2 * out * k,
            .ceiling = peak_for(dtype),
            .target = target,
            .make = [=]() -> Body {
              const bool whole = dtype_is_int(dtype);
              const Tensor x = random_tensor(left, dtype, whole ? 0 : -1, whole ? 50 : 1);
              Shape stored = right;
              const int last = right.rank() - 1;
              if (transposed) {
                stored.set(last, right[last - 1]);
                stored.set(last - 1, right[last]);
              }
              const Tensor y = random_tensor(stored, dtype, whole ? 0 : -1, whole ? 50 : 1);
              return [x, y = transposed ? y.t() : y] { static_cast<void>(x.matmul(y)); };
            }});
}

}  // namespace

BW_BENCH_GROUP(matmul, list, sizes) {
  using enum DType;
  for (const DType dtype : {F32, F64, F16, BF16, I32, U8})
    for (const int64_t n : {256, 384, 512, 768, 1024, 1536, 2048}) {
      if (dtype_is_int(dtype) && n > 1024) continue;  // seconds each, and the rate is flat by then
      const double target = dtype != F32 ? 0 : n >= 1024 ? 0.85 : n >= 384 ? 0.80 : 0;
      add_product(list, std::to_string(n), dtype, {n, n}, {n, n}, false, target);
    }
  add_product(list, "1024_b_transposed", F32, {1024, 1024}, {1024, 1024}, true, 0.85);
  add_product(list, "batch_64", F32, {64, 128, 64}, {64, 64, 128}, false, 0);
  add_product(list, "tall", F32, {4096, 64}, {64, 4096}, false, 0);
  add_product(list, "deep", F32, {64, 4096}, {4096, 64}, false, 0);
  add_product(list, "rows_8", F32, {8, 4096}, {4096, 4096}, true, 0);
}

BW_BENCH_GROUP(matvec, list, sizes) {
  for (const DType dtype : {DType::F32, DType::F16, DType::BF16, DType::F64}) {
    const int64_t k = 4096;
    const int64_t rows = sizes.memory_elements(dtype) / k;
    const std::string name(dtype_name(dtype));
    const auto add = [&](const char* what, const Shape& matrix, bool transposed) {
      list.add({.name = join_text("matvec/", what, "/", name),
                .dtype = name,
                .shape = transposed ? join_text("[", k, "] x ", matrix.to_string(), "^T")
                                    : join_text(matrix.to_string(), " x [", k, "]"),
                .bytes = bytes_of(dtype, rows * k),
                .flops = 2.0 * static_cast<double>(rows * k),
                .ceiling = Ceiling::Read,
                .target = dtype == DType::F32 ? 0.85 : 0,
                .make = [=]() -> Body {
                  const Tensor m = shared_input(matrix, dtype);
                  if (transposed)
                    return [m = m.t(), x = random_tensor({1, k}, dtype)] { static_cast<void>(x.matmul(m)); };
                  return [m, x = random_tensor({k}, dtype)] { static_cast<void>(m.mv(x)); };
                }});
    };
    add("mv", {rows, k}, false);
    add("one_row", {rows, k}, true);
  }
}

}  // namespace beeswax::bench
