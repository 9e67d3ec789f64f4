// SPDX-License-Identifier: Apache-2.0
// Which dtypes each operation takes on this device: what docs/support.md says, which this test also writes
// (BEESWAX_WRITE_SUPPORT=1). A refusal names the dtypes that are accepted; any other error is a failure.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <sstream>

#include "beeswax/qtensor.h"
#include "beeswax/tensor.h"
#include "support/devices.h"

namespace beeswax {
namespace {

Device here() { return Device::default_device(); }

/// Ones, or for what is only stored zero bytes.
Tensor some(const Shape& shape, DType dtype) {
  if (static_cast<int>(dtype) < kArithmeticDTypeCount) return Tensor::ones(shape, dtype, here());
  const auto bits = static_cast<size_t>(shape.elem_count()) * static_cast<size_t>(dtype_bits(dtype));
  return Tensor::from_bytes(std::vector<std::byte>((bits + 7) / 8), shape, dtype, here());
}
Tensor ids(const Shape& shape) { return Tensor::zeros(shape, DType::U32, here()); }

struct Operation {
  const char* name;
  std::function<void(DType)> run;
};
struct Group {
  const char* title;
  std::vector<Operation> operations;
};

std::vector<Group> groups() {
  const Shape matrix = {4, 8}, image = {2, 4, 6, 6}, line = {2, 4, 8};
  const auto of = [](const Shape& shape, auto call) {
    return [shape, call](DType dtype) { call(some(shape, dtype)); };
  };
  const auto to = [](DType dtype) { return [dtype](const Tensor& x) { x.to_dtype(dtype); }; };
  return {
      {"Making",
       {{"`zeros`", [=](DType d) { Tensor::zeros(matrix, d, here()); }},
        {"`ones`, `full`, `const_set`", [=](DType d) { Tensor::full(matrix, 1, d, here()).const_set(0); }},
        {"`arange`, `arange_step`", [=](DType d) { Tensor::arange_step(0, 8, 2, d, here()); }},
        {"`rand`, `randn`",
         [=](DType d) { Tensor::rand(matrix, d, here()), Tensor::randn(matrix, d, here()); }},
        {"`eye`, `tril2`, `triu2`",
         [=](DType d) { Tensor::eye(4, d, here()), Tensor::tril2(4, d, here()); }}}},
      {"Moving",
       {{"`copy`, `contiguous`", of(matrix, [](const Tensor& x) { x.copy(); })},
        {"`contiguous` of a transposed view", of(matrix, [](const Tensor& x) { x.t().contiguous(); })},
        {"`cat`, `stack`",
         of(matrix, [](const Tensor& x) { Tensor::cat({x, x}, 0), Tensor::stack({x, x}, 0); })},
        {"`repeat`", of(matrix, [](const Tensor& x) { x.repeat({2, 1}); })},
        {"`flip`, `roll`", of(matrix, [](const Tensor& x) { x.flip(1), x.roll(1, 0); })},
        {"`pad_with_zeros`", of(matrix, [](const Tensor& x) { x.pad_with_zeros(0, 1, 1); })},
        {"`pad_with_same`", of(matrix, [](const Tensor& x) { x.pad_with_same(0, 1, 1); })},
        {"`slice_set`, `slice_scatter`",
         of(matrix, [](const Tensor& x) { x.slice_scatter(x.narrow(0, 0, 2), 0, 1); })},
        {"`where_cond`",
         of(matrix, [=](const Tensor& x) { Tensor::ones(matrix, DType::U8, here()).where_cond(x, x); })},
        {"`where_cond` as the condition",
         of(matrix, [=](const Tensor& x) { x.where_cond(ids(matrix), ids(matrix)); })}}},
      {"Casting",
       {{"`to_dtype` to a dtype with arithmetic", of(matrix, to(DType::F64))},
        {"`to_dtype` to f8e8m0", of(matrix, to(DType::F8E8M0))},
        {"`to_dtype` to f6e2m3, f6e3m2 and f4", of(matrix, to(DType::F4))}}},
      {"Arithmetic",
       {{"`affine`", of(matrix, [](const Tensor& x) { x.affine(2, 1); })},
        {"`clamp`", of(matrix, [](const Tensor& x) { x.clamp(0, 1); })},
        {"`round_to`", of(matrix, [](const Tensor& x) { x.round_to(1); })},
        {"`swiglu`, `geglu`", of(matrix, [](const Tensor& x) { x.swiglu(x), x.geglu(x); })},
        {"`softmax`, `log_softmax`", of(matrix, [](const Tensor& x) { x.softmax(1), x.log_softmax(0); })},
        {"`rms_norm`, `layer_norm`", of(matrix, [](const Tensor& x) { x.rms_norm(), x.layer_norm(); })},
        {"`cumsum`", of(matrix, [](const Tensor& x) { x.cumsum(1); })},
        {"`rope`", of({2, 3, 4, 8},
                      [](const Tensor& x) {
                        const Tensor angles = Tensor::ones({4, 4}, x.dtype(), here());
                        x.rope(angles, angles, RopePairs::Halves);
                      })}}},
      {"Products",
       {{"`matmul`, `mv`, `dot`", of(matrix, [](const Tensor& x) { x.matmul(x.t()), x.mv(x.get(0)); })},
        {"`QTensor::quantize`", of({2, 32}, [](const Tensor& x) { QTensor::quantize(x, QuantType::Q4_0); })},
        {"`QTensor::forward`",
         of({2, 32},
            [](const Tensor& x) {
              QTensor::quantize(Tensor::ones({3, 32}, DType::F32, here()), QuantType::Q4_0).forward(x);
            })},
        {"`QTensor::dequantize` to it",
         [](DType d) {
           QTensor::quantize(Tensor::ones({3, 32}, DType::F32, here()), QuantType::Q4_0).dequantize(d);
         }}}},
      {"Images",
       {{"`conv1d`, `conv_transpose1d`", of(line,
                                            [](const Tensor& x) {
                                              x.conv1d(x.narrow(2, 0, 3)),
                                                  x.conv_transpose1d(x.narrow(0, 0, 1).repeat({4, 1, 1}));
                                            })},
        {"`conv2d`, `conv_transpose2d`",
         of(image, [](const Tensor& x) { x.conv2d(x.narrow(2, 0, 3).narrow(3, 0, 3)); })},
        {"`avg_pool2d`", of(image, [](const Tensor& x) { x.avg_pool2d(2); })},
        {"`max_pool2d`", of(image, [](const Tensor& x) { x.max_pool2d(2); })},
        {"`upsample_nearest1d`, `upsample_nearest2d`",
         of(image, [](const Tensor& x) { x.upsample_nearest2d(8, 9); })},
        {"`upsample_bilinear2d`", of(image, [](const Tensor& x) { x.upsample_bilinear2d(8, 9, false); })}}},
      {"Indexing",
       {{"`index_select`, `embedding`",
         of(matrix, [](const Tensor& x) { x.index_select(ids({3}), 0), x.embedding(ids({3})); })},
        {"`gather`", of(matrix, [](const Tensor& x) { x.gather(ids({4, 2}), 1); })},
        {"`scatter`, `scatter_set`", of(matrix, [](const Tensor& x) { x.scatter(ids({4, 8}), x, 0); })},
        {"`scatter_add`, `scatter_add_set`",
         of(matrix, [](const Tensor& x) { x.scatter_add(ids({4, 8}), x, 0); })},
        {"`index_add`", of(matrix, [](const Tensor& x) { x.index_add(ids({4}), x, 0); })},
        {"as ids",
         of({4}, [=](const Tensor& x) { Tensor::ones(matrix, DType::F32, here()).index_select(x, 0); })}}},
      {"Sorting",
       {{"`sort`, `arg_sort`", of(matrix, [](const Tensor& x) { x.sort(1), x.arg_sort(0); })},
        {"`topk`", of(matrix, [](const Tensor& x) { x.topk(2); })}}}};
}

bool takes(const Operation& operation, DType dtype) {
  try {
    operation.run(dtype);
    here().synchronize();
    return true;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::UnsupportedDType)
        << operation.name << " of " << dtype_name(dtype) << ": " << error.what();
    // What would be accepted: other dtypes, or those of less than a byte once they are cast.
    const std::string said = error.what();
    EXPECT_TRUE(said.find("accepted") != std::string::npos || said.ends_with("cast with to_dtype first"))
        << said;
    return false;
  }
}

std::vector<DType> all_dtypes() {
  std::vector<DType> out;
  for (int i = 0; i < kDTypeCount; ++i) out.push_back(static_cast<DType>(i));
  return out;
}

/// "all 10", "5 floats and f8e8m0", ...
std::string in_words(std::vector<DType> dtypes) {
  std::string out;
  const auto take = [&](const std::vector<DType>& set, const std::string& name) {
    const auto is_in = [](const std::vector<DType>& where, DType d) {
      return std::find(where.begin(), where.end(), d) != where.end();
    };
    if (!std::all_of(set.begin(), set.end(), [&](DType d) { return is_in(dtypes, d); })) return;
    std::erase_if(dtypes, [&](DType d) { return is_in(set, d); });
    out += (out.empty() ? "" : ", ") + name;
  };
  std::vector<DType> floats, integers;
  for (const DType d : test::arithmetic_dtypes()) (dtype_is_float(d) ? floats : integers).push_back(d);
  take(all_dtypes(), "all " + std::to_string(kDTypeCount));
  take(test::arithmetic_dtypes(), "all " + std::to_string(kArithmeticDTypeCount) + " with arithmetic");
  take(floats, std::to_string(floats.size()) + " floats");
  take(integers, std::to_string(integers.size()) + " integers");
  for (const DType d : all_dtypes()) take({d}, std::string(dtype_name(d)));
  return out.empty() ? "none" : out;
}

std::string document() {
  std::ostringstream out;
  out << "# Which dtypes operations take\n\n"
         "Made by `tests/backend/support_test.cc` (`BEESWAX_WRITE_SUPPORT=1 build/tests/support_test`), "
         "which tries "
         "every\noperation with every dtype, on every device that the tests run on; do not edit. Unary, "
         "binary and "
         "reducing operations,\nwhich are rows of tables, are in [operations.md](operations.md).\n\n"
         "Floats are bf16, f16, f32, f64 and f8e4m3, integers u8, u32, i16, i32 and i64: together those with "
         "arithmetic. f8e8m0, f6e2m3,\nf6e3m2 and f4 are stored, moved and decoded.\n";
  for (const Group& group : groups()) {
    out << "\n## " << group.title << "\n\n| operation | dtypes |\n| --- | --- |\n";
    for (const Operation& operation : group.operations) {
      std::vector<DType> dtypes;
      for (const DType dtype : all_dtypes())
        if (takes(operation, dtype)) dtypes.push_back(dtype);
      out << "| " << operation.name << " | " << in_words(dtypes) << " |\n";
    }
  }
  return out.str();
}

TEST(Support, IsWhatTheDocumentSays) {
  const std::string path = BW_SOURCE_DIR "/docs/support.md";
  const std::string found = document();
  if (const char* write = std::getenv("BEESWAX_WRITE_SUPPORT"); write != nullptr && *write == '1')
    std::ofstream(path) << found;
  std::ifstream file(path);
  std::string line, expected;
  std::istringstream lines(found);
  while (std::getline(lines, expected)) {
    ASSERT_TRUE(std::getline(file, line)) << "docs/support.md ends before: " << expected;
    EXPECT_EQ(line, expected);
  }
  EXPECT_FALSE(std::getline(file, line)) << line;
}

}  // namespace
}  // namespace beeswax
