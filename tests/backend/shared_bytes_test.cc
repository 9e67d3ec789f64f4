// SPDX-License-Identifier: Apache-2.0
// Tensors that look into memory of another owner: they keep it, never write it, and nothing reads past its
// end (between pages that cannot be touched).
// CPU only: other devices own all their memory.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <vector>

#include "beeswax/shared_bytes.h"
#include "core/storage.h"
#include "support/expect_error.h"
#include "support/isa_levels.h"
#include "support/raw.h"

namespace beeswax {
namespace {

using test::raw;

std::span<const std::byte> bytes_of(const std::vector<float>& values) {
  return std::as_bytes(std::span(values));
}

TEST(SharedBytes, LooksIntoTheMemoryAndKeepsItsOwner) {
  auto owner = std::make_shared<std::vector<float>>(std::vector<float>{1, 2, 3, 4, 5, 6});
  const std::weak_ptr<std::vector<float>> alive = owner;
  Tensor x = tensor_from_shared_bytes(bytes_of(*owner), owner, {2, 3}, DType::F32);
  EXPECT_EQ(x.storage().data(), bytes_of(*owner).data());
  (*owner)[5] = 7;
  owner.reset();
  Tensor column = x.narrow(1, 2, 1);
  x = Tensor();
  EXPECT_FALSE(alive.expired());
  EXPECT_EQ(column.to_doubles(), (std::vector<double>{3, 7}));
  EXPECT_EQ((column * 2).to_doubles(), (std::vector<double>{6, 14}));
  column = Tensor();
  EXPECT_TRUE(alive.expired());
}

TEST(SharedBytes, BlocksToo) {
  const QTensor copied = QTensor::quantize(Tensor::randn({4, 64}, DType::F32), QuantType::Q8_0);
  auto owner = std::make_shared<std::vector<std::byte>>(copied.bytes());
  const std::weak_ptr<std::vector<std::byte>> alive = owner;
  {
    const QTensor shared = qtensor_from_shared_bytes(*owner, owner, {4, 64}, QuantType::Q8_0);
    EXPECT_ERROR(qtensor_from_shared_bytes(*owner, owner, {5, 64}, QuantType::Q8_0), InvalidArgument,
                 "takes 340 bytes, got 272");
    owner.reset();
    EXPECT_EQ(shared.bytes(), copied.bytes());
    EXPECT_EQ(raw(shared.dequantize()), raw(copied.dequantize()));
    EXPECT_FALSE(alive.expired());
  }
  EXPECT_TRUE(alive.expired());
}

TEST(SharedBytes, IsNeverWritten) {
  const auto owner = std::make_shared<std::vector<float>>(std::vector<float>{1, 2, 3, 4, 5, 6});
  const std::vector<float> before = {1, 2, 3, 4, 5, 6};
  Tensor x = tensor_from_shared_bytes(bytes_of(*owner), owner, {2, 3}, DType::F32);
  Tensor view = x.t().narrow(0, 1, 1);
  const Tensor ids = Tensor::zeros({1, 2}, DType::U32), source = Tensor::ones({1, 2}, DType::F32);
  constexpr const char* kMessage = "looks into memory of another owner";
  EXPECT_ERROR(x.const_set(0), Aliasing, kMessage);
  EXPECT_ERROR(view.const_set(0), Aliasing, kMessage);
  EXPECT_ERROR(view.slice_set(source, 0, 0), Aliasing, kMessage);
  EXPECT_ERROR(view.scatter_set(ids, source, 0), Aliasing, kMessage);
  EXPECT_ERROR(view.scatter_add_set(ids, source, 0), Aliasing, kMessage);
  EXPECT_EQ(*owner, before);
  EXPECT_EQ(x.version(), 0u);
  Tensor own = x.copy();
  own.zero_set();
  EXPECT_EQ(own.to_doubles(), std::vector<double>(6, 0));
  EXPECT_EQ(x.slice_scatter(Tensor::zeros({2, 1}, DType::F32), 1, 0).to_doubles(),
            (std::vector<double>{0, 2, 3, 0, 5, 6}));
  EXPECT_EQ(*owner, before);
}

TEST(SharedBytes, CopiesWhereItCannotLook) {
  const auto owner = std::make_shared<std::vector<float>>(std::vector<float>{1, 2, 3});
  const auto bytes = bytes_of(*owner);
  const auto looks = [&](const Tensor& x, size_t at) { return x.storage().data() == bytes.data() + at; };
  EXPECT_TRUE(looks(tensor_from_shared_bytes(bytes.subspan(4), owner, {2}, DType::F32), 4));
  EXPECT_TRUE(looks(tensor_from_shared_bytes(bytes.subspan(2, 4), owner, {2}, DType::BF16), 2));
  EXPECT_TRUE(looks(tensor_from_shared_bytes(bytes.subspan(1), owner, {11}, DType::U8), 1));
  EXPECT_TRUE(looks(tensor_from_shared_bytes(bytes.subspan(1, 3), owner, {6}, DType::F4), 1));
  for (Tensor x : {tensor_from_shared_bytes(bytes.subspan(2, 8), owner, {2}, DType::F32),
                   tensor_from_shared_bytes(bytes.subspan(1, 2), owner, {1}, DType::F16),
                   tensor_from_shared_bytes(bytes.first(8), nullptr, {2}, DType::F32)}) {
    EXPECT_FALSE(looks(x, 0) || looks(x, 1) || looks(x, 2));
    EXPECT_NO_THROW(x.zero_set());
  }
  EXPECT_EQ(tensor_from_shared_bytes({}, owner, {0, 3}, DType::F32).elem_count(), 0);
  EXPECT_ERROR(tensor_from_shared_bytes(bytes, owner, {2}, DType::F32), InvalidArgument,
               "takes 8 bytes, got 12");
}

/// A copy of some bytes that ends where a page does, or begins there, between pages that cannot be touched.
std::pair<std::span<const std::byte>, std::shared_ptr<const void>> between_guards(
    std::span<const std::byte> bytes, bool at_end) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t inside = (bytes.size() + page - 1) / page * page, whole = inside + 2 * page;
  void* map = mmap(nullptr, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  EXPECT_NE(map, MAP_FAILED);
  std::byte* first = static_cast<std::byte*>(map) + page;
  EXPECT_EQ(mprotect(first, inside, PROT_READ | PROT_WRITE), 0);
  std::byte* at = at_end ? first + inside - bytes.size() : first;
  std::memcpy(at, bytes.data(), bytes.size());
  EXPECT_EQ(mprotect(first, inside, PROT_READ), 0);
  return {{at, bytes.size()},
          std::shared_ptr<const void>(map, [whole](void* memory) { munmap(memory, whole); })};
}

TEST(SharedBytes, BlocksAreReadToTheirEndAndNoFurther) {
  const std::vector<int64_t> rows = {1, 3, 16, 37};
  const cpu::Isa before = cpu::isa();
  for (const cpu::Isa level : all_levels()) {
    cpu::set_isa(level);
    for (int type_number = 0; type_number < kQuantTypeCount; ++type_number) {
      const auto type = static_cast<QuantType>(type_number);
      for (const int64_t n : rows) {
        const int64_t k = quant_traits(type).block_elements * 3;
        const QTensor copied = QTensor::quantize(Tensor::randn({n, k}, DType::F32), type);
        for (const bool at_end : {false, true}) {
          const auto [bytes, owner] = between_guards(copied.bytes(), at_end);
          const QTensor shared = qtensor_from_shared_bytes(bytes, owner, {n, k}, type);
          EXPECT_EQ(raw(shared.dequantize()), raw(copied.dequantize()));
          const Tensor ids = Tensor::of({uint32_t{0}, static_cast<uint32_t>(n - 1)});
          EXPECT_EQ(raw(shared.embedding(ids)), raw(copied.embedding(ids)));
          for (const int64_t m : {1, 2, 5, 40}) {
            const Tensor x = Tensor::randn({m, k}, DType::F32);
            EXPECT_EQ(raw(shared.forward(x)), raw(copied.forward(x)))
                << quant_name(type) << " " << n << " " << m;
          }
        }
      }
    }
  }
  cpu::set_isa(before);
}

TEST(SharedBytes, ElementsAreReadToTheirEndAndNoFurther) {
  const cpu::Isa before = cpu::isa();
  for (const cpu::Isa level : all_levels()) {
    cpu::set_isa(level);
    for (const int64_t n : {1, 5, 31, 67}) {
      const Tensor copied = Tensor::randn({n, n + 2}, DType::F32);
      for (const bool at_end : {false, true}) {
        const auto [bytes, owner] = between_guards(copied.to_bytes(), at_end);
        const Tensor shared = tensor_from_shared_bytes(bytes, owner, {n, n + 2}, DType::F32);
        const auto same = [&](auto&& body) { EXPECT_EQ(raw(body(shared)), raw(body(copied))) << n; };
        const Tensor x = Tensor::randn({3, n + 2}, DType::F32), one = Tensor::randn({1, n + 2}, DType::F32);
        const Tensor ids = Tensor::of({uint32_t{0}, static_cast<uint32_t>(n - 1)});
        same([&](const Tensor& w) { return x.matmul(w.t()); });
        same([&](const Tensor& w) { return one.matmul(w.t()); });
        same([&](const Tensor& w) { return w.matmul(x.t()); });
        same([&](const Tensor& w) { return x.rms_norm(w.narrow(0, n - 1, 1).flatten_all()); });
        same([&](const Tensor& w) { return w.embedding(ids); });
        same([&](const Tensor& w) { return w.to_dtype(DType::F16); });
        same([&](const Tensor& w) { return w.t().copy(); });
        same([&](const Tensor& w) { return w.exp() + w; });
        same([&](const Tensor& w) { return w.sum(-1); });
        same([&](const Tensor& w) { return w.sum(0); });
        same([&](const Tensor& w) { return w.softmax(-1); });
        same([&](const Tensor& w) { return w.arg_sort(-1); });
      }
    }
  }
  cpu::set_isa(before);
}

}  // namespace
}  // namespace beeswax
