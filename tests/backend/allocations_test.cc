// SPDX-License-Identifier: Apache-2.0
// A call takes one block of memory from the device's pool and nothing from the heap: this program counts what
// the heap hands out once the pools are warm. (Convolution, upsampling and sums by ids list their taps and
// ids: a few blocks.)
// CPU only: drivers of GPUs take what they like.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "beeswax/qtensor.h"
#include "beeswax/system.h"
#include "beeswax/tensor.h"
#include "core/small_pool.h"
#include "support/devices.h"

namespace {
std::atomic<int> blocks{0};

void* take(size_t size, size_t alignment) {
  ++blocks;
  if (void* memory = std::aligned_alloc(alignment, (size / alignment + 1) * alignment)) return memory;
  throw std::bad_alloc();
}
}  // namespace

[[gnu::noinline]] void* operator new(size_t size) { return take(size, 16); }
[[gnu::noinline]] void* operator new(size_t size, std::align_val_t alignment) {
  return take(size, static_cast<size_t>(alignment));
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t /*size*/) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t /*alignment*/) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, size_t /*size*/,
                                       std::align_val_t /*alignment*/) noexcept {
  std::free(memory);
}

namespace beeswax {
namespace {

// On one thread: others take their own scratch memory when they first have a part of the work.
class Allocations : public testing::Test {
 protected:
  void SetUp() override {
    if (!kPoolSmallObjects) GTEST_SKIP() << "sanitizers see every block: the pools are off";
    set_num_threads(1);
  }
  void TearDown() override { set_num_threads(threads_); }
  const int threads_ = num_threads();
};

template <class Call>
void expect_none(const std::string& what, Call&& call) {
  for (int i = 0; i < 20; ++i) call();  // weights are repacked in the 16th of some products
  const int before = blocks;
  for (int i = 0; i < 20; ++i) call();
  EXPECT_EQ(blocks - before, 0) << what << ": blocks of the heap in 20 calls";
}

TEST_F(Allocations, CountingWorks) {
  const int before = blocks;
  const std::vector<char> some(1000);
  EXPECT_EQ(blocks - before, 1);
}

TEST_F(Allocations, ElementwiseAndReductions) {
  for (const DType dtype : test::arithmetic_dtypes()) {
    const Tensor x = Tensor::ones({48, 64}, dtype), y = Tensor::ones({48, 64}, dtype);
    const Tensor row = Tensor::ones({64}, dtype), turned = Tensor::ones({64, 48}, dtype).t();
    const std::string with = " of " + std::string(dtype_name(dtype));
    const bool ints = dtype_is_int(dtype);
#define BW_UNARY(Name, method, dtypes, ...) \
  if (!ints || std::string_view(#dtypes) == "Number") expect_none(#Name + with, [&] { x.method(); });
#define BW_UNARY_PARAM(Name, method, param, ...) \
  if (!ints) expect_none(#Name + with, [&] { x.method(1.5); });
#include "tables/unary.def"
#define BW_BINARY(Name, method, dtypes, ...)                 \
  if (!ints || std::string_view(#dtypes) == "Number") {      \
    expect_none(#Name + with, [&] { x.method(y); });         \
    expect_none(#Name + with, [&] { x.method(row); });       \
    expect_none(#Name + with, [&] { turned.method(x); });    \
    expect_none(#Name + with, [&] { x.method(Scalar(2)); }); \
  }
#define BW_COMPARE(Name, method, ...) expect_none(#Name + with, [&] { x.method(y); });
#include "tables/binary.def"
#define BW_REDUCE(Name, method, dtypes, ...)            \
  if (!ints || std::string_view(#dtypes) == "Number") { \
    expect_none(#Name + with, [&] { x.method(-1); });   \
    expect_none(#Name + with, [&] { x.method(0); });    \
    expect_none(#Name + with, [&] { x.method(); });     \
  }
#define BW_ARG_REDUCE(Name, method, ...) expect_none(#Name + with, [&] { x.method(1); });
#include "tables/reduce.def"
    for (const DType to : test::arithmetic_dtypes())
      expect_none(std::string(dtype_name(to)) + with, [&] { x.to_dtype(to); });
    expect_none("affine" + with, [&] { x.affine(2, 1); });
    expect_none("copy" + with, [&] { turned.contiguous(); });
  }
}

TEST_F(Allocations, RowsProductsAndMoves) {
  for (const DType dtype : {DType::F32, DType::F16, DType::BF16}) {
    const Tensor x = Tensor::ones({48, 64}, dtype), row = Tensor::ones({64}, dtype);
    const Tensor half = Tensor::ones({32}, dtype);
    const Tensor ids = Tensor::zeros({48}, DType::U32), places = Tensor::zeros({48, 64}, DType::U32);
    const Tensor picked = Tensor::ones({48, 64}, DType::U8);
    const std::string with = " of " + std::string(dtype_name(dtype));
    expect_none("softmax" + with, [&] { x.softmax(-1); });
    expect_none("log_softmax" + with, [&] { x.log_softmax(0); });
    expect_none("rms_norm" + with, [&] { x.rms_norm(row); });
    expect_none("layer_norm" + with, [&] { x.layer_norm(row, row); });
    expect_none("rope" + with, [&] { x.rope(half, half, RopePairs::Halves); });
    expect_none("cumsum" + with, [&] { x.cumsum(0); });
    expect_none("matmul" + with, [&] { x.matmul(x.t()); });
    expect_none("mv" + with, [&] { x.mv(row); });
    expect_none("index_select" + with, [&] { x.index_select(ids, 0); });
    expect_none("embedding" + with, [&] { x.embedding(ids); });
    expect_none("gather" + with, [&] { x.gather(places, 0); });
    expect_none("where_cond" + with, [&] { picked.where_cond(x, row); });
    expect_none("sort" + with, [&] { x.sort(1); });
    expect_none("cat" + with, [&] { Tensor::cat({x, x}, 0); });
    expect_none("views" + with, [&] { x.narrow(0, 1, 7).t().unsqueeze(0).broadcast_as({3, 64, 7}); });
    expect_none("slices" + with, [&] { x.i(1, range(2, 9)); });
    expect_none("randn_like" + with, [&] { x.randn_like(); });
  }
  const Tensor weights = Tensor::ones({32, 256}, DType::F32);
#define BW_QUANT(Name, ...)                                                        \
  {                                                                                \
    const QTensor q = QTensor::quantize(weights, QuantType::Name);                 \
    expect_none("one row by " #Name, [&] { q.forward(weights.narrow(0, 0, 1)); }); \
    expect_none("rows by " #Name, [&] { q.forward(weights); });                    \
    expect_none("values of " #Name, [&] { q.dequantize(); });                      \
  }
#include "tables/quants.def"
}

}  // namespace
}  // namespace beeswax
