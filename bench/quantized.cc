// SPDX-License-Identifier: Apache-2.0
// Quantized weights, each format of quants.def: one activation row beside the speed of reading the blocks,
// many rows beside the 8-bit dot-product peak, and the conversions.
#include <cstring>
#include <string_view>

#include "beeswax/qtensor.h"
#include "core/fail.h"
#include "harness.h"
#include "inputs.h"

namespace beeswax::bench {
namespace {

struct Format {
  const char* name;
  QuantType type;
  int64_t elements, bytes;
};
constexpr Format kFormats[] = {
#define BW_QUANT(Name, name, id, elements, bytes, ...) {#name, QuantType::Name, elements, bytes},
#include "tables/quants.def"
};

constexpr int64_t kColumns = 4096;

// Quantizing is slow for some formats, so 64 rows are quantized and repeated.
QTensor weight(const Format& format, int64_t rows) {
  constexpr int64_t kDistinct = 64;
  const Tensor values = random_tensor({kDistinct, kColumns}, DType::F32);
  const std::vector<std::byte> block = QTensor::quantize(values, format.type).bytes();
  const size_t row_bytes = block.size() / kDistinct;
  std::vector<std::byte> all(row_bytes * static_cast<size_t>(rows));
  for (size_t at = 0; at < all.size(); at += block.size())
    std::memcpy(all.data() + at, block.data(), std::min(block.size(), all.size() - at));
  return QTensor::from_bytes(all, {rows, kColumns}, format.type);
}

}  // namespace

BW_BENCH_GROUP(quantized, list, sizes) {
  for (const Format& format : kFormats) {
    const std::string name = format.name;
    const int64_t row_bytes = kColumns / format.elements * format.bytes;
    const int64_t rows = sizes.memory_bytes / row_bytes / 64 * 64;
    const auto weight_bytes = [=](int64_t n) { return static_cast<double>(row_bytes * n); };
    const auto add_product = [&](const char* what, int64_t m, int64_t n, Ceiling ceiling) {
      list.add({.name = join_text("quantized/", what, "/", name),
                .dtype = name,
                .shape = join_text("[", m, ", ", kColumns, "] x [", n, ", ", kColumns, "]^T"),
                .bytes = weight_bytes(n) + bytes_of(DType::F32, m * (n + kColumns)),
                .flops = 2.0 * static_cast<double>(m * n * kColumns),
                .ceiling = ceiling,
                .make = [=]() -> Body {
                  return [w = weight(format, n), x = random_tensor({m, kColumns}, DType::F32)] {
                    static_cast<void>(w.forward(x));
                  };
                }});
    };
    add_product("matvec", 1, rows, Ceiling::Read);
    add_product("matmul_256", 256, 4096, Ceiling::Int8Dot);
  }
  for (const Format& format : kFormats) {
    const std::string name = format.name;
    const int64_t row_bytes = kColumns / format.elements * format.bytes;
    const auto add_conversion = [&](const char* what, int64_t rows, bool back) {
      list.add({.name = join_text("quantized/", what, "/", name),
                .dtype = name,
                .shape = Shape{rows, kColumns}.to_string(),
                .bytes = bytes_of(DType::F32, rows * kColumns) + static_cast<double>(rows * row_bytes),
                .ceiling = Ceiling::Copy,
                .make = [=]() -> Body {
                  if (back) return [w = weight(format, rows)] { static_cast<void>(w.dequantize()); };
                  return [x = random_tensor({rows, kColumns}, DType::F32), type = format.type] {
                    static_cast<void>(QTensor::quantize(x, type));
                  };
                }});
    };
    add_conversion("dequantize", sizes.memory_elements(DType::F32) / kColumns, true);
    add_conversion("quantize", 128, false);
  }
}

}  // namespace beeswax::bench
