// SPDX-License-Identifier: Apache-2.0
#include "bench/gpu/cases.h"

#include "bench/gpu/make.h"

namespace beeswax::bench {

Tensor large(const Shape& shape, DType dtype, const Device& device) {
  constexpr int64_t kBlock = 1 << 19;
  const int64_t count = shape.elem_count();
  if (count % kBlock != 0) return normal(shape, dtype, device);
  return normal({1, kBlock}, dtype, device)
      .broadcast_as({count / kBlock, kBlock})
      .contiguous()
      .reshape(shape);
}

Tensor ids_below(int64_t bound, const Shape& shape, const Device& device) {
  std::vector<uint32_t> ids(static_cast<size_t>(shape.elem_count()));
  uint64_t state = 7;
  for (uint32_t& id : ids) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    id = static_cast<uint32_t>((state >> 33) % static_cast<uint64_t>(bound));
  }
  return Tensor::from_vec(ids, shape, device);
}

std::string count_text(int64_t count) {
  constexpr int64_t kMega = 1 << 20, kKilo = 1 << 10;
  if (count % kMega == 0 && count > kMega) return std::to_string(count / kMega) + "M";
  if (count % kKilo == 0 && count >= 16 * kKilo) return std::to_string(count / kKilo) + "K";
  return std::to_string(count);
}

GpuCase over(std::string name, const Shape& shape, DType dtype, double passes,
             std::function<Tensor(const Tensor&)> operation) {
  return {std::move(name), passes * bytes_of(dtype, static_cast<double>(shape.elem_count())), 0,
          [=, operation = std::move(operation)](const Device& device) -> Body {
            const Tensor x = large(shape, dtype, device);
            return [=] { return operation(x); };
          }};
}

namespace {

GpuCase unary(const char* name, DType dtype, int64_t elements, Tensor (Tensor::*method)() const) {
  return over(join_text(name, " ", dtype_name(dtype), " ", count_text(elements)), {elements}, dtype, 2,
              [method](const Tensor& x) { return (x.*method)(); });
}

GpuCase over_rows(const char* name, DType dtype, int64_t rows, int64_t columns, double passes,
                  std::function<Tensor(const Tensor&)> operation, const char* suffix = "") {
  return over(join_text(name, " ", dtype_name(dtype), " ", rows, "x", columns, suffix), {rows, columns},
              dtype, passes, std::move(operation));
}

}  // namespace

std::vector<GpuCase> gpu_cases(Sizes sizes) {
  const bool is_large = sizes == Sizes::Large;
  const auto either = [is_large](int64_t large_size, int64_t small_size) {
    return is_large ? large_size : small_size;
  };
  const int64_t n = either(64 << 20, 1 << 18), side = either(8192, 512), rows = either(16384, 64),
                select_rows = either(65536, 256), images = either(64, 1);
  const auto elements = static_cast<double>(n), row_elements = static_cast<double>(rows) * 4096;
  std::vector<GpuCase> out = {
      unary("exp", DType::F32, n, &Tensor::exp),
      unary("exp", DType::F16, n, &Tensor::exp),
      unary("silu", DType::F16, n, &Tensor::silu),
      unary("gelu", DType::BF16, n, &Tensor::gelu),
      unary("neg", DType::F32, n, &Tensor::neg),
      unary("sin", DType::F32, n, &Tensor::sin),
      {join_text("copy f32 ", side, "x", side, " transposed"),
       2 * bytes_of(DType::F32, static_cast<double>(side * side)), 0,
       [=](const Device& d) -> Body {
         const Tensor x = large({side, side}, DType::F32, d).t();
         return [=] { return x.contiguous(); };
       }},
      {join_text("copy f16 ", side, "x", side, " transposed"),
       2 * bytes_of(DType::F16, static_cast<double>(side * side)), 0,
       [=](const Device& d) -> Body {
         const Tensor x = large({side, side}, DType::F16, d).t();
         return [=] { return x.contiguous(); };
       }},
      {"affine f32 " + count_text(n), 2 * bytes_of(DType::F32, elements), 0,
       [=](const Device& d) -> Body {
         const Tensor x = large({n}, DType::F32, d);
         return [=] { return x.affine(2.0, 1.0); };
       }},
      {"add f32 " + count_text(n), 3 * bytes_of(DType::F32, elements), 0,
       [=](const Device& d) -> Body {
         const Tensor x = large({n}, DType::F32, d), y = large({n}, DType::F32, d);
         return [=] { return x.add(y); };
       }},
      {"mul bf16 " + count_text(n), 3 * bytes_of(DType::BF16, elements), 0,
       [=](const Device& d) -> Body {
         const Tensor x = large({n}, DType::BF16, d), y = large({n}, DType::BF16, d);
         return [=] { return x.mul(y); };
       }},
      {join_text("add f32 ", side, "x", side, " + row"),
       2 * bytes_of(DType::F32, static_cast<double>(side * side)), 0,
       [=](const Device& d) -> Body {
         const Tensor x = large({side, side}, DType::F32, d), row = normal({side}, DType::F32, d);
         return [=] { return x.add(row); };
       }},
      {"cast f32 f16 " + count_text(n), 1.5 * bytes_of(DType::F32, elements), 0,
       [=](const Device& d) -> Body {
         const Tensor x = large({n}, DType::F32, d);
         return [=] { return x.to_dtype(DType::F16); };
       }},
      {"cast bf16 f32 " + count_text(n), 1.5 * bytes_of(DType::F32, elements), 0,
       [=](const Device& d) -> Body {
         const Tensor x = large({n}, DType::BF16, d);
         return [=] { return x.to_dtype(DType::F32); };
       }},
      {"where u8 f32 " + count_text(n), bytes_of(DType::F32, 3 * elements) + elements, 0,
       [=](const Device& d) -> Body {
         const Tensor x = large({n}, DType::F32, d), y = large({n}, DType::F32, d);
         const Tensor c = x.gt(0.0);
         return [=] { return c.where_cond(x, y); };
       }},
      {join_text("index_select f32 ", count_text(select_rows), " rows of 1024"),
       2 * bytes_of(DType::F32, static_cast<double>(select_rows) * 1024), 0,
       [=](const Device& d) -> Body {
         const Tensor x = large({select_rows, 1024}, DType::F32, d),
                      ids = ids_below(select_rows, {select_rows}, d);
         return [=] { return x.index_select(ids, 0); };
       }},
      {join_text("gather f32 ", rows, "x2048 last"), 3 * bytes_of(DType::F32, row_elements / 2), 0,
       [=](const Device& d) -> Body {
         const Tensor x = large({rows, 2048}, DType::F32, d), ids = ids_below(2048, {rows, 2048}, d);
         return [=] { return x.gather(ids, 1); };
       }},
      {"index_add f32 dim 0", 3 * bytes_of(DType::F32, row_elements / 4), 0,
       [=](const Device& d) -> Body {
         const Tensor x = large({rows, 1024}, DType::F32, d), y = large({rows, 1024}, DType::F32, d);
         const Tensor ids = ids_below(rows, {rows}, d);
         return [=] { return x.index_add(ids, y, 0); };
       }},
      over_rows("sum", DType::F32, rows, 4096, 1, [](const Tensor& x) { return x.sum(-1); }),
      over_rows("sum", DType::F16, rows, 4096, 1, [](const Tensor& x) { return x.sum(-1); }),
      over_rows(
          "sum", DType::F32, rows, 4096, 1, [](const Tensor& x) { return x.sum(0); }, " dim 0"),
      {"sum f32 one row of " + count_text(n / 4), bytes_of(DType::F32, elements / 4), 0,
       [=](const Device& d) -> Body {
         const Tensor x = large({1, n / 4}, DType::F32, d);
         return [=] { return x.sum(-1); };
       }},
      over_rows("argmax", DType::F32, rows, 4096, 1, [](const Tensor& x) { return x.argmax(-1); }),
      over_rows("softmax", DType::F32, rows, 4096, 2, [](const Tensor& x) { return x.softmax(-1); }),
      over_rows("softmax", DType::F16, either(2048, 8), 32768, 2,
                [](const Tensor& x) { return x.softmax(-1); }),
      {join_text("rmsnorm f16 ", rows, "x4096"), 2 * bytes_of(DType::F16, row_elements), 0,
       [=](const Device& d) -> Body {
         const Tensor x = large({rows, 4096}, DType::F16, d), w = normal({4096}, DType::F16, d);
         return [=] { return x.rms_norm(w, 1e-5); };
       }},
      {join_text("layernorm f32 ", rows, "x4096"), 2 * bytes_of(DType::F32, row_elements), 0,
       [=](const Device& d) -> Body {
         const Tensor x = large({rows, 4096}, DType::F32, d), w = normal({4096}, DType::F32, d);
         const Tensor b = normal({4096}, DType::F32, d);
         return [=] { return x.layer_norm(w, b, 1e-5); };
       }},
      {join_text("rope f16 4x32x", either(4096, 16), "x128"),
       2 * bytes_of(DType::F16, static_cast<double>(either(4096, 16)) * 4 * 32 * 128), 0,
       [=](const Device& d) -> Body {
         const int64_t tokens = either(4096, 16);
         const Tensor x = large({4, 32, tokens, 128}, DType::F16, d);
         const Tensor cos = normal({tokens, 64}, DType::F32, d), sin = normal({tokens, 64}, DType::F32, d);
         return [=] { return x.rope(cos, sin, RopePairs::Halves); };
       }},
      over_rows("argsort", DType::F32, rows, 1024, 2, [](const Tensor& x) { return x.arg_sort(-1); }),
      over_rows("cumsum", DType::F32, rows, 4096, 2, [](const Tensor& x) { return x.cumsum(1); }),
      {join_text("max_pool2d f32 2x2 ", images, "x64x112x112"),
       1.25 * bytes_of(DType::F32, static_cast<double>(images) * 64 * 112 * 112), 0,
       [=](const Device& d) -> Body {
         const Tensor x = normal({images, 64, 112, 112}, DType::F32, d);
         return [=] { return x.max_pool2d(2); };
       }},
  };
  for (const auto& more : {neighbour_cases(sizes), length_cases(sizes), product_cases(sizes)})
    out.insert(out.end(), more.begin(), more.end());
  return out;
}

}  // namespace beeswax::bench
