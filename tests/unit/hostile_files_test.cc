// SPDX-License-Identifier: Apache-2.0
// Files that claim far more than they hold are refused before memory is taken for the claim: this program
// counts what the heap hands out.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>
#include <span>
#include <string>
#include <vector>

#include "beeswax/error.h"
#include "io/gguf.h"
#include "io/imatrix.h"
#include "io/safetensors.h"

namespace {
std::atomic<size_t> taken{0};
}

// The plain forms serve all others but the aligned ones, which nothing here uses. Inlined, they would look to
// the compiler like two that do not match.
[[gnu::noinline]] void* operator new(size_t size) {
  taken += size;
  if (void* memory = std::malloc(std::max<size_t>(size, 1))) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t /*size*/) noexcept { std::free(memory); }

namespace beeswax::io {
namespace {

constexpr size_t kFewBytes = 64 << 10;

template <class F>
void expect_refused_cheaply(std::string_view what, F&& open) {
  taken = 0;
  try {
    open();
    ADD_FAILURE() << what << " was opened";
  } catch (const Error& error) {
    EXPECT_LT(taken.load(), kFewBytes) << error.what();
    EXPECT_EQ(error.kind(), ErrorKind::Format) << error.what();
  }
}

class Bytes {
 public:
  template <class T>
  Bytes& number(T value) {
    data_.append(reinterpret_cast<const char*>(&value), sizeof(T));
    return *this;
  }
  Bytes& raw(std::string_view text) {
    data_ += text;
    return *this;
  }
  std::span<const std::byte> span() const { return std::as_bytes(std::span(data_)); }

 private:
  std::string data_;
};

TEST(HostileFiles, CountingWorks) {
  taken = 0;
  const std::vector<char> some(100000);
  EXPECT_GE(taken.load(), some.size());
}

TEST(HostileFiles, Gguf) {
  const uint64_t claims[] = {1 << 30, uint64_t{1} << 40, uint64_t{1} << 60, UINT64_MAX};
  for (const uint64_t claim : claims) {
    const auto head = [&](uint64_t tensors, uint64_t values) {
      return Bytes().raw("GGUF").number<uint32_t>(3).number(tensors).number(values);
    };
    for (const Bytes& file : {
             head(claim, 0),
             head(0, claim),
             head(0, 1).number(claim).raw("key"),
             head(0, 1).number<uint64_t>(1).raw("k").number<uint32_t>(8).number(claim),
             head(0, 1).number<uint64_t>(1).raw("k").number<uint32_t>(9).number<uint32_t>(8).number(claim),
             head(0, 1).number<uint64_t>(1).raw("k").number<uint32_t>(9).number<uint32_t>(4).number(claim),
             head(1, 0).number<uint64_t>(1).raw("t").number<uint32_t>(1).number(claim).number<uint64_t>(0),
             head(1, 0).number<uint64_t>(1).raw("t").number<uint32_t>(UINT32_MAX).number(claim),
         })
      expect_refused_cheaply("GGUF", [&] { GgufFile::from_bytes(file.span(), "hostile.gguf"); });
  }
}

TEST(HostileFiles, Safetensors) {
  const auto open = [](const Bytes& file) {
    return [&] { SafetensorsFile::from_bytes(file.span(), "hostile.safetensors"); };
  };
  for (const uint64_t length : {uint64_t{100'000'000}, uint64_t{1} << 40, UINT64_MAX, UINT64_MAX - 7}) {
    const Bytes file = Bytes().number(length).raw("{}");
    expect_refused_cheaply("a long header", open(file));
  }
  for (const std::string header :
       {R"({"t":{"dtype":"F32","shape":[1099511627776],"data_offsets":[0,4398046511104]}})",
        R"({"t":{"dtype":"F32","shape":[1099511627776,1099511627776],"data_offsets":[0,0]}})"}) {
    const Bytes file = Bytes().number<uint64_t>(header.size()).raw(header);
    expect_refused_cheaply("a large tensor", open(file));
  }
  // Megabytes of header that go wrong at once: lists in lists, and one long list.
  for (const std::string begin : {R"({"t":)", R"({"t":{"shape":)", R"({"__metadata__":)"}) {
    const std::string header = begin + std::string(8 << 20, '[');
    const Bytes file = Bytes().number<uint64_t>(header.size()).raw(header);
    expect_refused_cheaply("deep nesting", open(file));
  }
  std::string list = R"({"t":{"dtype":"F32","shape":[)";
  for (int i = 0; i < 1 << 20; ++i) list += "1,";
  const Bytes file = Bytes().number<uint64_t>(list.size()).raw(list);
  expect_refused_cheaply("a long list", open(file));
}

TEST(HostileFiles, Imatrix) {
  for (const int32_t claim : {1 << 10, 1 << 20, INT32_MAX}) {
    const auto entry = [&](int32_t length, int32_t values) {
      return Bytes().number<int32_t>(1).number(length).raw("name").number<int32_t>(1).number(values).raw(
          "valueswhat");
    };
    for (const Bytes& file : {
             Bytes().number(claim).raw("0123456789abcdef"),
             entry(claim, 1),
             entry(4, claim),
         })
      expect_refused_cheaply("a claim of " + std::to_string(claim),
                             [&] { static_cast<void>(Imatrix::from_bytes(file.span(), "h.dat")); });
  }
}

}  // namespace
}  // namespace beeswax::io
