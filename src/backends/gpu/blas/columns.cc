// SPDX-License-Identifier: Apache-2.0
// From our products, whose strides are free, to those of BLAS: columns are dense, and one stride steps
// through a batch.
#include "backends/gpu/blas/blas.h"

namespace beeswax::gpu::blas {
namespace {

// Sizes and leading dimensions are 32-bit in some of the libraries.
constexpr int64_t kMost = (int64_t{1} << 31) - 1;
// Calls that a batch may take; our kernels take any batch in one.
constexpr int64_t kMostCalls = 64;

// Where columns of `rows` elements lie densely, one `column_stride` after the other. A stride that is never
// walked may be any.
std::optional<ColumnProduct::Side> dense(const std::byte* data, int64_t rows, int64_t columns,
                                         int64_t row_stride, int64_t column_stride, bool turned) {
  if (rows > 1 && row_stride != 1) return std::nullopt;
  const int64_t leading = columns > 1 ? column_stride : rows;
  if (leading < rows || leading > kMost) return std::nullopt;
  return ColumnProduct::Side{data, leading, 0, turned};
}

std::optional<ColumnProduct::Side> side(const std::byte* data, int64_t rows, int64_t columns,
                                        int64_t row_stride, int64_t column_stride) {
  auto plain = dense(data, rows, columns, row_stride, column_stride, false);
  return plain.has_value() ? plain : dense(data, columns, rows, column_stride, row_stride, true);
}

}  // namespace

std::optional<std::vector<ColumnProduct>> columns_of(const Product& original) {
  const DType type = original.c_type;
  if (original.a_type != type || original.b_type != type) return std::nullopt;
  if (type != DType::F32 && type != DType::F16 && type != DType::BF16 && type != DType::F64)
    return std::nullopt;
  // Rows of the result are columns of the exchanged product's.
  const Product p = original.c_column == 1 ? exchanged(original) : original;
  const auto a = side(p.a, p.m, p.k, p.a_row, p.a_step), b = side(p.b, p.k, p.n, p.b_step, p.b_column);
  const auto c = dense(p.c, p.m, p.n, p.c_row, p.c_column, false);
  if (!a.has_value() || !b.has_value() || !c.has_value()) return std::nullopt;
  if (std::min({p.m, p.n, p.k, p.batch.count}) < 1 || std::max({p.m, p.n, p.k}) > kMost) return std::nullopt;

  const size_t last = p.batch.last();
  ColumnProduct column{type, p.m, p.n, p.k, p.batch.dims[last], *a, *b, *c};
  column.a.batch_stride = p.batch.strides[0][last];
  column.b.batch_stride = p.batch.strides[1][last];
  column.c.batch_stride = p.batch.strides[2][last];
  const int64_t calls = p.batch.count / column.batch;
  if (column.batch > kMost || calls > kMostCalls) return std::nullopt;
  if (std::min({column.a.batch_stride, column.b.batch_stride, column.c.batch_stride}) < 0)
    return std::nullopt;
  std::vector<ColumnProduct> out;
  for (int64_t call = 0; call < calls; ++call) {
    const NestPosition<3> at(p.batch, call * column.batch);
    ColumnProduct piece = column;
    const int64_t bytes = static_cast<int64_t>(dtype_bytes(type, 1));
    piece.a.data += at.offset(0) * bytes;
    piece.b.data += at.offset(1) * bytes;
    piece.c.data += at.offset(2) * bytes;
    out.push_back(piece);
  }
  return out;
}

}  // namespace beeswax::gpu::blas
