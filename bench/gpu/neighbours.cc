// SPDX-License-Identifier: Apache-2.0
// Operations that move memory, beyond the list of gpu_cases: other dtypes, shapes and strides.
#include "bench/gpu/make.h"

namespace beeswax::bench {

std::vector<GpuCase> neighbour_cases(Sizes sizes) {
  const bool is_large = sizes == Sizes::Large;
  const auto either = [is_large](int64_t large_size, int64_t small_size) {
    return is_large ? large_size : small_size;
  };
  const int64_t n = either(64 << 20, 1 << 16), side = either(8192, 256), rows = either(16384, 32);
  constexpr DType kF16 = DType::F16, kBF16 = DType::BF16, kF32 = DType::F32;
  const std::string squares = join_text(side, "x", side), count = count_text(n);
  const auto second = [](const Shape& shape, DType dtype, auto operation) {
    return [=](const Device& device) -> Body {
      const Tensor x = large(shape, dtype, device), y = large(shape, dtype, device);
      return [=] { return operation(x, y); };
    };
  };
  const double all = static_cast<double>(n), square = static_cast<double>(side * side);

  std::
      vector<GpuCase>
          out =
              {
                  // elementwise
                  over("relu bf16 " + count, {n}, kBF16, 2, [](const Tensor& x) { return x.relu(); }),
                  over("tanh f32 " + count, {n}, kF32, 2, [](const Tensor& x) { return x.tanh(); }),
                  over("sqrt f16 " + count, {n}, kF16, 2, [](const Tensor& x) { return x.sqrt(); }),
                  over("neg f64 " + count, {n}, DType::F64, 2, [](const Tensor& x) { return x.neg(); }),
                  over("add f16 and number " + count, {n}, kF16, 2,
                       [](const Tensor& x) { return x.add(1.5); }),
                  {"add f16 " + count, bytes_of(kF16, 3 * all), 0,
                   second({n}, kF16, [](const Tensor& x, const Tensor& y) { return x.add(y); })},
                  {"lt f32 " + count, bytes_of(kF32, 2 * all) + all, 0,
                   second({n}, kF32, [](const Tensor& x, const Tensor& y) { return x.lt(y); })},
                  {join_text("add f32 ", squares, " + transposed"), bytes_of(kF32, 3 * square), 0,
                   second({side, side}, kF32, [](const Tensor& x, const Tensor& y) { return x.add(y.t()); })},
                  {join_text("mul bf16 ", squares, " by column"), bytes_of(kBF16, 2 * square), 0,
                   second({side, side}, kBF16,
                          [](const Tensor& x, const Tensor& y) { return x.mul(y.narrow(1, 0, 1)); })},
                  over("cast f16 bf16 " + count, {n}, kF16, 2,
                       [](const Tensor& x) { return x.to_dtype(DType::BF16); }),
                  over("cast u8 f32 " + count, {n}, DType::U8, 5,
                       [](const Tensor& x) { return x.to_dtype(DType::F32); }),
                  {"where f16 " + count, bytes_of(kF16, 3 * all) + all, 0,
                   [=](const Device& device) -> Body {
                     const Tensor x = large({n}, kF16, device), y = large({n}, kF16, device), c = x.gt(0.0);
                     return [=] { return c.where_cond(x, y); };
                   }},
                  // copies
                  over(join_text("copy f32 half of ", squares), {side, side}, kF32, 1,
                       [=](const Tensor& x) { return x.narrow(1, 0, side / 2).contiguous(); }),
                  over(join_text("copy f16 heads of ", rows, "x32x128"), {4, rows / 4, 32, 128}, kF16, 2,
                       [](const Tensor& x) { return x.transpose(1, 2).contiguous(); }),
                  over(join_text("copy u8 ", squares, " transposed"), {side, side}, DType::U8, 2,
                       [](const Tensor& x) { return x.t().contiguous(); }),
                  {"cat f32 4 of " + count_text(n / 4), bytes_of(kF32, 2 * all), 0,
                   second({n / 4}, kF32,
                          [](const Tensor& x, const Tensor& y) { return Tensor::cat({x, y, x, y}, 0); })},
                  {join_text("cat bf16 2 of ", squares, " dim 1"), bytes_of(kBF16, 4 * square), 0,
                   second({side, side}, kBF16,
                          [](const Tensor& x, const Tensor& y) { return Tensor::cat({x, y}, 1); })},
                  over(join_text("im2col f16 3x3 ", either(8, 1), "x64x112x112"),
                       {either(8, 1), 64, 114, 114}, kF16, 10,
                       [](const Tensor& x) {
                         return x.unfold(2, 3, 1).unfold(3, 3, 1).permute({0, 1, 4, 5, 2, 3}).contiguous();
                       }),
                  // indexing
                  {"index_select f16 " + count_text(rows * 32) + " rows of 128",
                   bytes_of(kF16, 2 * 128.0 * 32 * static_cast<double>(rows)), 0,
                   [=](const Device& device) -> Body {
                     const Tensor x = large({rows * 32, 128}, kF16, device),
                                  ids = ids_below(rows * 32, {rows * 32}, device);
                     return [=] { return x.index_select(ids, 0); };
                   }},
                  {join_text("index_select f32 ", squares, " dim 1"), bytes_of(kF32, 2 * square), 0,
                   [=](const Device& device) -> Body {
                     const Tensor x = large({side, side}, kF32, device),
                                  ids = ids_below(side, {side}, device);
                     return [=] { return x.index_select(ids, 1); };
                   }},
                  {join_text("gather f16 ", rows, "x2048 dim 0"),
                   bytes_of(kF16, 4 * 2048 * static_cast<double>(rows)), 0,
                   [=](const Device& device) -> Body {
                     const Tensor x = large({rows, 2048}, kF16, device),
                                  ids = ids_below(rows, {rows, 2048}, device);
                     return [=] { return x.gather(ids, 0); };
                   }},
                  {join_text("scatter_add f32 ", rows, "x2048 last"),
                   bytes_of(kF32, 4 * 2048 * static_cast<double>(rows)), 0,
                   [=](const Device& device) -> Body {
                     const Tensor x = large({rows, 2048}, kF32, device),
                                  y = large({rows, 2048}, kF32, device);
                     const Tensor ids = ids_below(2048, {rows, 2048}, device);
                     return [=] { return x.scatter_add(ids, y, 1); };
                   }},
                  // reductions
                  over(join_text("sum bf16 ", rows, "x4096"), {rows, 4096}, kBF16, 1,
                       [](const Tensor& x) { return x.sum(-1); }),
                  over(join_text("sum f16 ", rows, "x4096 dim 0"), {rows, 4096}, kF16,
                       1, [](const Tensor& x) { return x.sum(0); }),
                  over(join_text("sum f32 64x", rows / 4, "x256 dim 1"), {64, rows / 4, 256}, kF32,
                       1, [](const Tensor& x) { return x.sum(1); }),
                  over(join_text("sum f32 ", count_text(n / 64), "x64"), {n / 64, 64}, kF32,
                       1, [](const Tensor& x) { return x.sum(-1); }),
                  over(join_text("sum f16 ", count_text(n / 64), "x64"), {n / 64, 64}, kF16,
                       1, [](const Tensor& x) { return x.sum(-1); }),
                  over(join_text("sum f32 ", count_text(n / 256), "x256"), {n / 256, 256}, kF32,
                       1, [](const Tensor& x) { return x.sum(-1); }),
                  over(join_text("sum f32 ", rows, "x4097 dim 0"), {rows, 4097}, kF32,
                       1, [](const Tensor& x) { return x.sum(0); }),
                  over("sum f32 64x64x64x256 dims 0 2", {either(64, 8), 64, either(64, 8), 256}, kF32,
                       1, [](const Tensor& x) { return x.sum({0, 2}); }),
                  over(join_text("min bf16 ", rows, "x4096"), {rows, 4096}, kBF16, 1,
                       [](const Tensor& x) { return x.min(-1); }),
                  over("mean f32 all " + count, {n}, kF32, 1, [](const Tensor& x) { return x.mean(); }),
                  over(join_text("max f32 ", rows, "x4096"), {rows, 4096}, kF32,
                       1, [](const Tensor& x) { return x.max(-1); }),
                  over(join_text("log_sum_exp f32 ", rows, "x4096"), {rows, 4096}, kF32,
                       1, [](const Tensor& x) { return x.log_sum_exp(-1); }),
                  over(join_text("var f16 ", rows, "x4096"), {rows, 4096}, kF16,
                       1, [](const Tensor& x) { return x.var(-1); }),
                  over(join_text("argmax f16 ", rows, "x4096"), {rows, 4096}, kF16,
                       1, [](const Tensor& x) { return x.argmax(-1); }),
                  over(join_text("argmax f32 ", rows, "x4096 dim 0"), {rows, 4096}, kF32,
                       1, [](const Tensor& x) { return x.argmax(0); }),
                  over(join_text("argmax f16 ", rows, "x4096 dim 0"), {rows, 4096}, kF16,
                       1, [](const Tensor& x) { return x.argmax(0); }),
                  over(join_text("softmax f16 ", rows, "x4095"), {rows, 4095}, kF16,
                       2, [](const Tensor& x) { return x.softmax(-1); }),
                  over(join_text("softmax f32 ", rows, "x4095"), {rows, 4095}, kF32,
                       2, [](const Tensor& x) { return x.softmax(-1); }),
                  {join_text("rmsnorm f16 ", rows, "x4095"),
                   bytes_of(kF16, 2 * 4095 * static_cast<double>(rows)), 0,
                   [=](const Device& device) -> Body {
                     const Tensor x = large({rows, 4095}, kF16, device), w = normal({4095}, kF16, device);
                     return [=] { return x.rms_norm(w, 1e-5); };
                   }},
                  over(join_text("softmax bf16 ", rows, "x4096"), {rows, 4096}, kBF16, 2,
                       [](const Tensor& x) { return x.softmax(-1); }),
                  over(join_text("softmax f32 ", count_text(n / 64), "x64"), {n / 64, 64}, kF32,
                       2, [](const Tensor& x) { return x.softmax(-1); }),
                  over(join_text("log_softmax f32 ", rows / 8, "x32000"), {rows / 8, 32000}, kF32,
                       2, [](const Tensor& x) { return x.log_softmax(-1); }),
                  over(join_text("softmax f8e4m3 ", rows, "x4096"), {rows, 4096}, DType::F8E4M3, 2,
                       [](const Tensor& x) { return x.softmax(-1); }),
                  {join_text("rmsnorm f8e4m3 ", rows, "x4096"),
                   bytes_of(DType::F8E4M3, 2 * 4096 * static_cast<double>(rows)), 0,
                   [=](const Device& device) -> Body {
                     const Tensor x = large({rows, 4096}, DType::F8E4M3, device),
                                  w = normal({4096}, DType::F8E4M3, device);
                     return [=] { return x.rms_norm(w, 1e-5); };
                   }},
                  {join_text("mul f8e4m3 ", squares, " by column"), bytes_of(DType::F8E4M3, 2 * square), 0,
                   second({side, side}, DType::F8E4M3,
                          [](const Tensor& x, const Tensor& y) { return x.mul(y.narrow(1, 0, 1)); })},
                  {join_text("rmsnorm bf16 ", rows * 4, "x1024"),
                   bytes_of(kBF16, 2 * 4096 * static_cast<double>(rows)), 0,
                   [=](const Device& device) -> Body {
                     const Tensor x = large({rows * 4, 1024}, kBF16, device),
                                  w = normal({1024}, kBF16, device);
                     return [=] { return x.rms_norm(w, 1e-5); };
                   }},
                  {join_text("layernorm f16 ", rows, "x4096"),
                   bytes_of(kF16, 2 * 4096 * static_cast<double>(rows)), 0,
                   [=](const Device& device) -> Body {
                     const Tensor x = large({rows, 4096}, kF16, device), w = normal({4096}, kF16, device);
                     const Tensor b = normal({4096}, kF16, device);
                     return [=] { return x.layer_norm(w, b, 1e-5); };
                   }},
                  over(join_text("cumsum f16 ", rows, "x4096"), {rows, 4096}, kF16, 2,
                       [](const Tensor& x) { return x.cumsum(1); }),
                  over(join_text("cumsum f32 ", rows, "x4096 dim 0"), {rows, 4096}, kF32, 2,
                       [](const Tensor& x) { return x.cumsum(0); }),
                  // sort
                  over("argsort f32 one row of " + count_text(n / 4), {n / 4}, kF32, 2,
                       [](const Tensor& x) { return x.arg_sort(-1); }),
                  over(join_text("argsort bf16 ", rows, "x1024"), {rows, 1024}, kBF16, 3,
                       [](const Tensor& x) { return x.arg_sort(-1); }),
                  // pictures
                  over(join_text("avg_pool2d f16 2x2 ", either(64, 1), "x64x112x112"),
                       {either(64, 1), 64, 112, 112}, kF16, 1.25,
                       [](const Tensor& x) { return x.avg_pool2d(2); }),
                  over(join_text("upsample_nearest2d f32 ", either(64, 1), "x64x56x56 by 2"),
                       {either(64, 1), 64, 56, 56}, kF32, 5,
                       [](const Tensor& x) { return x.upsample_nearest2d(112, 112); }),
                  // fill
                  {"zeros f32 " + count, bytes_of(kF32, all), 0,
                   [=](const Device& device)
                       -> Body { return [=] { return Tensor::zeros({n}, kF32, device); }; }},
                  {"randn f32 " + count, bytes_of(kF32, all), 0,
                   [=](const Device& device)
                       -> Body { return [=] { return Tensor::randn({n}, kF32, device); }; }},
              };
  return out;
}

}  // namespace beeswax::bench
