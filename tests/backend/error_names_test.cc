// SPDX-License-Identifier: Apache-2.0
// Errors about sizes, memory and arguments name the operation that was called, whatever it is made of.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "beeswax/custom_op.h"
#include "beeswax/qtensor.h"
#include "beeswax/tensor.h"
#include "core/os/memory.h"
#include "support/expect_error.h"

namespace beeswax {
namespace {

// A power of two of elements, at least 2^40, that no memory here holds at a byte each.
int64_t too_many() {
  int64_t many = int64_t{1} << 40;
  while (test::on_cpu() && static_cast<size_t>(many) <= os::physical_memory_bytes()) many *= 2;
  return many;
}

// One element seen as a tensor of this shape.
Tensor wide(const Shape& shape, DType dtype = DType::F32) {
  return Tensor::ones({1}, dtype).broadcast_as(shape);
}

struct Call {
  std::string name;
  std::function<void()> run;
  std::string of = {};  // the arguments, where it has tensors
};

void expect_named(const std::vector<Call>& calls) {
  for (const Call& call : calls) {
    SCOPED_TRACE(call.name);
    EXPECT_ERROR(call.run(), OutOfMemory, "[" + call.name + "] ");
    if (!call.of.empty()) EXPECT_ERROR(call.run(), OutOfMemory, "\n  while " + call.name + " of " + call.of);
  }
}

TEST(ErrorNames, OfCreation) {
  const int64_t many = too_many();
  const Shape shape{many};
  const Tensor x = wide(shape);
  const std::string of = "[" + std::to_string(many) + "] f32 cpu";
  expect_named({
      {"empty", [&] { Tensor::empty(shape, DType::F32); }},
      {"zeros", [&] { Tensor::zeros(shape, DType::F32); }},
      {"ones", [&] { Tensor::ones(shape, DType::F32); }},
      {"full", [&] { Tensor::full(shape, 2, DType::F32); }},
      {"rand", [&] { Tensor::rand(shape, DType::F32); }},
      {"randn", [&] { Tensor::randn(shape, DType::F32); }},
      {"arange", [&] { Tensor::arange(0, many, DType::I64); }},
      {"arange_step", [&] { Tensor::arange_step(0, many, 1, DType::I64); }},
      {"eye", [&] { Tensor::eye(1 << 30, DType::F32); }},
      {"empty_like", [&] { (void)x.empty_like(); }, of},
      {"zeros_like", [&] { (void)x.zeros_like(); }, of},
      {"ones_like", [&] { (void)x.ones_like(); }, of},
      {"full_like", [&] { (void)x.full_like(2); }, of},
      {"rand_like", [&] { (void)x.rand_like(); }, of},
      {"randn_like", [&] { (void)x.randn_like(); }, of},
  });
  const Shape beyond{int64_t{1} << 61};
  EXPECT_ERROR(Tensor::from_vec(std::vector<float>(), beyond), TooLarge, "[from_vec] ");
  EXPECT_ERROR(Tensor::from_span(std::span<const float>(), beyond), TooLarge, "[from_span] ");
  EXPECT_ERROR(Tensor::from_bytes({}, beyond, DType::F32), TooLarge, "[from_bytes] ");
  EXPECT_ERROR(Tensor::zeros(beyond, DType::F32), TooLarge, "[zeros] ");
  EXPECT_ERROR(Tensor::eye(int64_t{1} << 32, DType::F32), TooLarge, "[eye] ");
  EXPECT_ERROR(Tensor::tril2(int64_t{1} << 32, DType::F32), TooLarge, "[tril2] ");
  EXPECT_ERROR(Tensor::triu2(int64_t{1} << 32, DType::F32), TooLarge, "[triu2] ");
  EXPECT_ERROR(Tensor::meshgrid({x, x}, false), TooLarge, "[meshgrid] ");
}

TEST(ErrorNames, OfElementwiseOperationsAndReductions) {
  const int64_t many = too_many();
  const Tensor x = wide({many}), rows = wide({many, 1}), bytes = wide({many}, DType::U8);
  const std::string size = "[" + std::to_string(many) + "]", of = size + " f32 cpu";
  expect_named({
      {"exp", [&] { (void)x.exp(); }, of},
      {"add", [&] { (void)x.add(x); }, of + ", other " + of},
      {"add", [&] { (void)x.add(1); }, of},
      {"sub", [&] { (void)(1 - x); }, of},
      {"ge", [&] { (void)x.ge(x); }, of + ", other " + of},
      {"ge", [&] { (void)x.ge(1); }, of},
      {"cmp", [&] { (void)x.cmp(1, CompareOp::Lt); }, of},
      {"clamp", [&] { (void)x.clamp(0, 1); }, of},
      {"clamp", [&] { (void)x.clamp(x, x); }, of},
      {"affine", [&] { (void)x.affine(2, 1); }, of},
      {"swiglu", [&] { (void)x.swiglu(x); }, of + ", factor " + of},
      {"round_to", [&] { (void)x.round_to(1); }, of},
      {"where_cond", [&] { (void)bytes.where_cond(x, x); },
       size + " u8 cpu, on_true " + of + ", on_false " + of},
      {"to_dtype", [&] { (void)x.to_dtype(DType::F64); }, of},
      {"to_doubles", [&] { (void)x.to_doubles(); }, of},
      {"sum", [&] { (void)rows.sum(1); }},
      {"argmax", [&] { (void)rows.argmax(1); }},
      {"softmax", [&] { (void)x.softmax(0); }, of},
      {"log_softmax", [&] { (void)x.log_softmax(0); }, of},
      {"rms_norm", [&] { (void)rows.rms_norm(); }},
      {"layer_norm", [&] { (void)rows.layer_norm(); }},
      {"cumsum", [&] { (void)x.cumsum(0); }, of},
      {"sort", [&] { (void)rows.sort(1); }},
      {"arg_sort", [&] { (void)rows.arg_sort(1); }},
      {"topk", [&] { (void)rows.topk(1); }},
  });
}

TEST(ErrorNames, OfMovesAndIds) {
  const int64_t many = too_many();
  const Tensor x = wide({many}), ids = wide({many}, DType::U32);
  const Tensor turned = Tensor::ones({2, 1}, DType::F32).broadcast_as({2, many}).t();
  const std::string size = "[" + std::to_string(many) + "]", of = size + " f32 cpu";
  const std::string with_ids = of + ", ids " + size + " u32 cpu";
  expect_named({
      {"reshape", [&] { (void)turned.reshape({-1}); }},
      {"flatten", [&] { (void)turned.flatten(0, 1); }},
      {"contiguous", [&] { (void)x.contiguous(); }},
      {"copy", [&] { (void)x.copy(); }, of},
      {"cat", [&] { Tensor::cat({x, x}, 0); }},
      {"stack", [&] { Tensor::stack({x, x}, 0); }},
      {"repeat", [&] { (void)x.repeat({2}); }, of},
      {"flip", [&] { (void)x.flip(0); }, of},
      {"roll", [&] { (void)x.roll(1, 0); }, of},
      {"pad_with_zeros", [&] { (void)x.pad_with_zeros(0, 1, 1); }, of},
      {"pad_with_same", [&] { (void)x.pad_with_same(0, 1, 1); }, of},
      {"index_select", [&] { (void)x.index_select(ids, 0); }, with_ids},
      {"embedding", [&] { (void)wide({2, 1}).embedding(ids); }},
      {"gather", [&] { (void)x.gather(ids, 0); }, with_ids},
      {"scatter", [&] { (void)x.scatter(ids, x, 0); }, with_ids + ", source " + of},
      {"scatter_add", [&] { (void)x.scatter_add(ids, x, 0); }, with_ids + ", source " + of},
      {"index_add", [&] { (void)x.index_add(ids, x, 0); }, with_ids + ", source " + of},
      {"slice_scatter", [&] { (void)x.slice_scatter(x, 0, 0); }, of + ", source " + of},
      {"slice_assign", [&] { (void)x.slice_assign({all}, x); }, of + ", source " + of},
      {"index", [&] { (void)x.i(ids); }, of},
  });
  const Tensor packed = Tensor::from_bytes(std::vector<std::byte>(6), {8}, DType::F6E2M3);
  EXPECT_ERROR(packed.chunk(2, 0), UnsupportedDType, "[chunk] ");
}

TEST(ErrorNames, OfProductsAndPlanes) {
  const int64_t many = too_many();
  const Tensor rows = wide({many, 2}), planes = wide({many, 1, 1, 1}), lines = wide({many, 1, 1});
  const std::string of = "[" + std::to_string(many) + ", 2] f32 cpu";
  const Tensor one = wide({1, 1, 1, 1}), two = wide({2, 1});
  const QTensor q = QTensor::quantize(wide({32, 32}), QuantType::Q8_0);
  const Tensor x = wide({many, 32});
  expect_named({
      {"matmul", [&] { (void)rows.matmul(two); }, of + ", other [2, 1] f32 cpu"},
      {"matmul_mixed", [&] { (void)rows.matmul_mixed(two.to_dtype(DType::F16)); }, of},
      {"mv", [&] { (void)rows.mv(wide({2})); }, of + ", vector [2] f32 cpu"},
      {"rope", [&] { (void)rows.rope(wide({1, 1}), wide({1, 1}), RopePairs::Halves); }, of + ", cos"},
      {"conv1d", [&] { (void)lines.conv1d(wide({1, 1, 1})); }},
      {"conv2d", [&] { (void)planes.conv2d(one); }},
      {"conv_transpose1d", [&] { (void)lines.conv_transpose1d(wide({1, 1, 1})); }},
      {"conv_transpose2d", [&] { (void)planes.conv_transpose2d(one); }},
      {"avg_pool2d", [&] { (void)planes.avg_pool2d(1); }},
      {"max_pool2d", [&] { (void)planes.max_pool2d(1); }},
      {"upsample_nearest1d", [&] { (void)lines.upsample_nearest1d(2); }},
      {"upsample_nearest2d", [&] { (void)planes.upsample_nearest2d(1, 2); }},
      {"upsample_bilinear2d", [&] { (void)planes.upsample_bilinear2d(1, 2, false); }},
      {"upsample_bilinear2d_with_scale", [&] { (void)planes.upsample_bilinear2d_with_scale(1, 2, false); }},
      {"quantize", [&] { (void)QTensor::quantize(x, QuantType::Q8_0); }},
      {"embedding", [&] { (void)q.embedding(wide({many}, DType::U8)); }, "[32, 32] q8_0 cpu, ids"},
      {"quantized_matmul", [&] { (void)q.forward(x); }, "x [" + std::to_string(many) + ", 32] f32 cpu"},
      {"forward_gated", [&] { (void)QTensor::forward_gated(Activation::Silu, q, q, x); }, "gate [32, 32]"},
      {"feed_forward", [&] { (void)QTensor::feed_forward(Activation::Silu, q, q, q, x); }, "gate [32, 32]"},
  });
}

TEST(ErrorNames, OfCustomOperations) {
  CustomOpParts parts;
  parts.cpu = [](const CpuCall&) {};
  parts.source = "-";
  parts.launch = [](const Kernel&, std::span<const Tensor>, const Tensor&) {};
  const CustomOp op("halve", parts);
  const std::vector<Tensor> inputs = {wide({too_many()})};
  EXPECT_ERROR(op(inputs), OutOfMemory, "[halve] ");
}

TEST(ErrorNames, OfUndefinedArguments) {
  const Tensor none, x = wide({2, 2}), ids = wide({2, 2}, DType::U32), plane = wide({1, 1, 2});
  const std::string says = "the tensor is undefined (default-constructed)";
  const auto expect = [&](const std::function<void()>& call, const std::string& text) {
    EXPECT_ERROR(call(), InvalidArgument, text + says);
  };
  expect([&] { (void)none.exp(); }, "[exp] ");
  expect([&] { (void)none.add(x); }, "[add] ");
  expect([&] { (void)x.add(none); }, "[add] other: ");
  expect([&] { (void)none.sum(0); }, "[sum] ");
  expect([&] { (void)none.reshape({1}); }, "[reshape] ");
  expect([&] { (void)none.to_vec<float>(); }, "[to_vec] ");
  expect([&] { (void)none.sort(0); }, "[sort] ");
  expect([&] { (void)none.upsample_nearest1d(1); }, "[upsample_nearest1d] ");
  expect([&] { (void)none.transpose(0, 1); }, "[transpose] ");
  expect([&] { (void)x.matmul(none); }, "[matmul] other: ");
  expect([&] { (void)x.gather(none, 0); }, "[gather] ids: ");
  expect([&] { (void)x.scatter_add(ids, none, 0); }, "[scatter_add] source: ");
  expect([&] { (void)ids.where_cond(x, none); }, "[where_cond] on_false: ");
  expect([&] { (void)plane.conv1d(none); }, "[conv1d] kernel: ");
  expect([&] { x.copy().slice_set(none, 0, 0); }, "[slice_set] source: ");
}

}  // namespace
}  // namespace beeswax
