// SPDX-License-Identifier: Apache-2.0
// Convolutions beside the multiply-add peak, with shapes of common networks; pooling and resizing beside a
// copy.
#include "core/fail.h"
#include "harness.h"
#include "inputs.h"

namespace beeswax::bench {

BW_BENCH_GROUP(conv, list, sizes) {
  struct Row {
    const char* what;
    Shape x, kernel, out;
    ConvOptions options;
    bool transposed;
  };
  // Floors count every product of the definition once; padding is counted too, which is below 4% here.
  const Row rows[] = {
      {"3x3_56", {8, 64, 56, 56}, {64, 64, 3, 3}, {8, 64, 56, 56}, {.padding = 1}, false},
      {"3x3_14", {8, 256, 14, 14}, {256, 256, 3, 3}, {8, 256, 14, 14}, {.padding = 1}, false},
      {"1x1_28", {8, 256, 28, 28}, {512, 256, 1, 1}, {8, 512, 28, 28}, {}, false},
      {"7x7_stride_2",
       {8, 3, 224, 224},
       {64, 3, 7, 7},
       {8, 64, 112, 112},
       {.padding = 3, .stride = 2},
       false},
      {"3x3_dilated", {8, 64, 56, 56}, {64, 64, 3, 3}, {8, 64, 56, 56}, {.padding = 2, .dilation = 2}, false},
      {"3x3_groups_4",
       {8, 128, 28, 28},
       {128, 32, 3, 3},
       {8, 128, 28, 28},
       {.padding = 1, .groups = 4},
       false},
      {"1d_3", {8, 80, 3000}, {384, 80, 3}, {8, 384, 3000}, {.padding = 1}, false},
      {"transposed_4x4",
       {8, 128, 28, 28},
       {128, 64, 4, 4},
       {8, 64, 56, 56},
       {.padding = 1, .stride = 2},
       true},
  };
  const auto add = [&](const Row& row, DType dtype, Ceiling ceiling) {
    const std::string name(dtype_name(dtype));
    double products = static_cast<double>(row.out.elem_count()) * static_cast<double>(row.kernel[1]);
    if (row.transposed)
      products = static_cast<double>(row.x.elem_count()) * static_cast<double>(row.kernel[1]);
    for (int axis = 2; axis < row.kernel.rank(); ++axis) products *= static_cast<double>(row.kernel[axis]);
    list.add({.name = join_text("conv/", row.what, "/", name),
              .dtype = name,
              .shape = row.x.to_string() + " " + row.kernel.to_string(),
              .bytes = bytes_of(dtype, row.x.elem_count()) + bytes_of(dtype, row.kernel.elem_count()) +
                       bytes_of(dtype, row.out.elem_count()),
              .flops = 2 * products,
              .ceiling = ceiling,
              .make = [=]() -> Body {
                return [x = random_tensor(row.x, dtype), kernel = random_tensor(row.kernel, dtype), row] {
                  if (row.transposed) {
                    static_cast<void>(x.conv_transpose2d(kernel, row.options));
                  } else if (row.x.rank() == 3) {
                    static_cast<void>(x.conv1d(kernel, row.options));
                  } else {
                    static_cast<void>(x.conv2d(kernel, row.options));
                  }
                };
              }});
  };
  for (const Row& row : rows) add(row, DType::F32, Ceiling::FmaF32);
  add(rows[0], DType::F16, Ceiling::FmaF32);
  add(rows[0], DType::F64, Ceiling::FmaF64);
  add({"depthwise_3x3",
       {8, 128, 112, 112},
       {128, 1, 3, 3},
       {8, 128, 112, 112},
       {.padding = 1, .groups = 128},
       false},
      DType::F32, Ceiling::Copy);
}

}  // namespace beeswax::bench
