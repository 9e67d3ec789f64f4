// SPDX-License-Identifier: Apache-2.0
// Requests that cannot be met are errors before anything is allocated; views and undefined tensors are safe.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <thread>

#include "backends/cpu/memory.h"
#include "beeswax/tensor.h"
#include "core/os/memory.h"
#include "core/small_pool.h"
#include "core/storage.h"
#include "support/apart.h"
#include "support/emulated.h"
#include "support/expect_error.h"

namespace beeswax {
namespace {

// A power of two of elements, at least 2^40, that does not fit the memory even at 6 bits each.
int too_many() {
  int power = 40;
  while (test::on_cpu() && (size_t{3} << (power - 2)) <= os::physical_memory_bytes()) ++power;
  return power;
}

TEST(Memory, HugeRequestsAreRefused) {
  const char* const why = test::on_cpu() ? "bytes do not fit this machine's memory" : "bytes on ";
  const int least = too_many();
  const int64_t many = int64_t{1} << least;
  EXPECT_ERROR(Tensor::empty({many, 8}, DType::F64), OutOfMemory, why);
  EXPECT_ERROR(Tensor::zeros({int64_t{1} << 62, 4}, DType::U8), TooLarge, "more than 2^63 elements");
  EXPECT_ERROR(Tensor::zeros({int64_t{1} << 61}, DType::F64), TooLarge, "at most 2^60");
  const Tensor one = Tensor::ones({1}, DType::F32);
  const Tensor wide = one.broadcast_as({many});  // a view of one element costs nothing
  EXPECT_EQ(wide.elem_count(), many);
  EXPECT_ERROR(wide.copy(), OutOfMemory, "[copy] ");
  // What was to be made is named, whoever asked for it.
  for (const auto& make :
       {+[](const Tensor& x) { return Tensor::zeros(x.shape(), DType::F32); },
        +[](const Tensor& x) { return x.add(x); }, +[](const Tensor& x) { return x.exp(); }})
    EXPECT_ERROR(make(wide), OutOfMemory, "while making [" + std::to_string(many) + "] f32 cpu");
  // The bytes of every count that is let through fit 64 bits.
  for (DType dtype : {DType::F64, DType::F32, DType::F16, DType::U8, DType::F6E2M3})
    for (int power = least; power <= 60; ++power)
      EXPECT_ERROR(Tensor::empty({int64_t{1} << power}, dtype), OutOfMemory, why);
}

TEST(Memory, HugeCopiesToTheHostAreRefused) {
  const int64_t many = int64_t{1} << too_many();
  const Tensor wide = Tensor::ones({1}, DType::F32).broadcast_as({many});
  const std::string shape = "[" + std::to_string(many) + "]";
  EXPECT_ERROR(wide.to_vec<float>(), OutOfMemory,
               "[to_vec] " + shape + " f32 cpu takes " + std::to_string(4 * many) + " bytes");
  EXPECT_ERROR(wide.to_bytes(), OutOfMemory, "[to_bytes] " + shape + " f32 cpu");
  EXPECT_ERROR(wide.to_doubles(), OutOfMemory, "[to_doubles] ");
  EXPECT_ERROR(wide.to_vec<double>(), DTypeMismatch, "holds f32, not f64");
}

// Address space is as short as memory is elsewhere; sanitizers have their own use for it.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(Memory, WhatTheSystemDoesNotGiveIsRefused) {
  if (!test::on_cpu()) GTEST_SKIP() << "of the host";
  SKIP_UNDER_QEMU("limit of address space");
  constexpr int64_t kMany = 400'000'000;
  if (os::physical_memory_bytes() < 4 * kMany) GTEST_SKIP() << "more than this machine's memory";
  test::run_apart([] {
    size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const size_t most = pages * static_cast<size_t>(::sysconf(_SC_PAGESIZE)) + 600'000'000;
    const rlimit limit = {most, most};
    EXPECT_EQ(::setrlimit(RLIMIT_AS, &limit), 0);
    const Tensor bytes = Tensor::ones({1}, DType::U8).broadcast_as({kMany});
    const Tensor floats = Tensor::ones({1}, DType::F32).broadcast_as({kMany});
    EXPECT_ERROR(floats.copy(), OutOfMemory, "[copy] the system has no 1600000000 bytes left");
    EXPECT_ERROR(floats.to_vec<float>(), OutOfMemory, "[to_vec] [400000000] f32 cpu takes more bytes");
    EXPECT_ERROR(floats.to_bytes(), OutOfMemory, "[to_bytes] [400000000] f32 cpu takes more bytes");
    EXPECT_ERROR(bytes.reshape({kMany, 1}).narrow(1, 0, 0).to_vec2<uint8_t>(), OutOfMemory,
                 "[to_vec2] [400000000, 0] u8 cpu takes more bytes");
    EXPECT_ERROR(bytes.narrow(0, 0, 0).reshape({INT64_MAX, 0}).to_vec2<uint8_t>(), OutOfMemory, "[to_vec2] ");
    const Tensor huge = Tensor::ones({1}, DType::F32).broadcast_as({1 << 20, 1 << 20});
    EXPECT_ERROR(huge.to_vec2<float>(), OutOfMemory, "[to_vec2] [1048576, 1048576] f32 cpu takes");
    EXPECT_ERROR(huge.unsqueeze(0).to_vec3<float>(), OutOfMemory,
                 "[to_vec3] [1, 1048576, 1048576] f32 cpu takes");
    // Nothing takes more than a result of much of the memory, or by the tap of a window.
    const Tensor line = Tensor::ones({1, 1, 1, 2}, DType::U8);
    EXPECT_EQ(line.upsample_nearest2d(1, kMany).get_on_dim(3, kMany - 1).to_scalar<uint8_t>(), 1);
    EXPECT_ERROR(line.upsample_bilinear2d(1, kMany, false), OutOfMemory, "[upsample_bilinear2d]");
    const Tensor column = line.reshape({1, 1, 2, 1});
    EXPECT_ERROR(column.upsample_bilinear2d(kMany, 1, false), OutOfMemory, "[upsample_bilinear2d]");
    const Tensor plane = bytes.reshape({1, 1, kMany, 1});
    const std::pair<int64_t, int64_t> window(plane.dim(2), 1);
    EXPECT_EQ(plane.avg_pool2d(window).to_scalar<uint8_t>(), 1);
    EXPECT_EQ(plane.max_pool2d(window).to_scalar<uint8_t>(), 1);
    // A broadcast input is not copied in whole.
    const std::pair<int64_t, int64_t> few(200, 100);
    EXPECT_EQ(floats.reshape({1, 20000, 200, 100}).max_pool2d({2, 2}, few).to_vec<float>(),
              std::vector<float>(20000, 1.0f));
    const Tensor halves = Tensor::ones({2, kMany / 10}, DType::F16);
    EXPECT_ERROR(halves.matmul(halves.t()), OutOfMemory,
                 "while matmul of [2, 40000000] f16 cpu, other [40000000, 2] f16 cpu");
    const Tensor samples = bytes.reshape({1, 1, kMany});
    EXPECT_ERROR(samples.conv1d(samples), OutOfMemory, "[conv1d]");
    return "";
  });
}
#endif

// Sizes of results that do not fit 63 bits are refused, not wrapped.
TEST(Memory, SizesDoNotWrap) {
  constexpr int64_t kMost = INT64_MAX;
  const Tensor x = Tensor::zeros({2, 3}, DType::U8);
  const Tensor one = Tensor::zeros({1}, DType::U8);
  EXPECT_ERROR(x.pad_with_zeros(0, kMost, kMost), TooLarge, "[pad_with_zeros]");
  EXPECT_ERROR(x.pad_with_same(1, kMost, 1), TooLarge, "[pad_with_same]");
  const Tensor most = one.broadcast_as({kMost});
  EXPECT_ERROR(Tensor::cat({most, most}, 0), TooLarge, "[cat]");
  EXPECT_ERROR(one.broadcast_as({int64_t{1} << 62}).repeat({4}), TooLarge, "[repeat]");
  EXPECT_ERROR(one.broadcast_as({int64_t{1} << 40, int64_t{1} << 40}), TooLarge, "[broadcast_as]");
  EXPECT_ERROR(one.broadcast_as({int64_t{1} << 40}).broadcast_left({int64_t{1} << 40}), TooLarge,
               "[broadcast_left]");
  EXPECT_ERROR(one.broadcast_as({int64_t{1} << 62}).unfold(0, int64_t{1} << 40, 1), TooLarge, "[unfold]");
  EXPECT_ERROR(most.roll(kMost - 1, 0), TooLarge, "[roll]");
  EXPECT_ERROR(most.roll(INT64_MIN, 0), TooLarge, "[roll]");
  EXPECT_ERROR(Tensor::zeros({kMost, 0}, DType::U8).pad_with_zeros(0, 5, 5), TooLarge, "[pad_with_zeros]");
}

TEST(Memory, ZeroSizes) {
  const Tensor x = Tensor::zeros({3, 0, 2}, DType::F32);
  EXPECT_EQ(x.elem_count(), 0);
  EXPECT_TRUE(x.to_vec<float>().empty());
  EXPECT_EQ(x.t().contiguous().shape(), (Shape{3, 2, 0}));
  EXPECT_EQ(x.reshape({0, 7}).shape(), (Shape{0, 7}));
  EXPECT_ERROR(x.reshape({0, -1}), ShapeMismatch, "cannot infer");
}

TEST(Memory, BlocksAreUsedAgain) {
  if (!kPoolSmallObjects) GTEST_SKIP() << "sanitizers see every block: the pools are off";
  cpu::trim_memory();
  const void* first = Tensor::empty({1000, 1000}, DType::F32).storage().data();
  EXPECT_EQ(Tensor::empty({1000, 1000}, DType::F32).storage().data(), first);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(first) % 64, 0u);
}

TEST(Memory, TensorsCrossThreads) {
  std::vector<Tensor> made(64);
  std::thread maker([&] {
    for (size_t i = 0; i < made.size(); ++i)
      made[i] = Tensor::full({100}, static_cast<int64_t>(i), DType::I64);
  });
  maker.join();
  for (size_t i = 0; i < made.size(); ++i)
    ASSERT_EQ(made[i].get(99).to_scalar<int64_t>(), static_cast<int64_t>(i));
  std::thread dropper([tensors = std::move(made)]() mutable { tensors.clear(); });
  dropper.join();
}

TEST(Memory, UndefinedTensorsSaySo) {
  const Tensor none;
  EXPECT_FALSE(none.defined());
  EXPECT_ERROR(none.shape(), InvalidArgument, "undefined");
  EXPECT_ERROR(none.to_vec<float>(), InvalidArgument, "undefined");
}

TEST(Memory, HostTypesMustMatch) {
  const Tensor x = Tensor::zeros({2, 2}, DType::F16);
  EXPECT_ERROR(x.to_vec<float>(), DTypeMismatch, "holds f16, not f32; cast with to_dtype first");
  EXPECT_ERROR(x.to_scalar<f16>(), ShapeMismatch, "exactly one element");
  EXPECT_ERROR(Tensor::from_vec(std::vector<float>{1, 2, 3}, {2}), InvalidArgument, "takes 8 bytes, got 12");
}

}  // namespace
}  // namespace beeswax
