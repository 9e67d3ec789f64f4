// SPDX-License-Identifier: Apache-2.0
// Files that claim far more than they hold are refused before memory is taken for the claim, and what they do
// hold takes little: this program counts what the heap hands out.
#include <gtest/gtest.h>

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <new>
#include <span>
#include <string>
#include <vector>

#include "beeswax/error.h"
#include "io/gguf.h"
#include "io/imatrix.h"
#include "io/safetensors.h"

namespace {
std::atomic<size_t> taken{0};  // all that was handed out
std::atomic<size_t> held{0};   // and is not given back
std::atomic<size_t> peak{0};   // the most that was held
}  // namespace

// The plain forms serve all others but the aligned ones, which nothing here uses. Inlined, they would look to
// the compiler like two that do not match.
[[gnu::noinline]] void* operator new(size_t size) {
  void* memory = std::malloc(std::max<size_t>(size, 1));
  if (memory == nullptr) throw std::bad_alloc();
  taken += size;
  held += malloc_usable_size(memory);
  peak = std::max(peak.load(), held.load());
  return memory;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  held -= memory == nullptr ? 0 : malloc_usable_size(memory);
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, size_t /*size*/) noexcept { operator delete(memory); }

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

/// A gigabyte that begins with `head`, is zero behind it, and takes no room on the disk.
class SparseFile {
 public:
  explicit SparseFile(const Bytes& head) : path_(testing::TempDir() + "hostile-sparse.gguf") {
    std::ofstream(path_, std::ios::binary)
        .write(reinterpret_cast<const char*>(head.span().data()),
               static_cast<std::streamsize>(head.span().size()));
    std::filesystem::resize_file(path_, kSize);
  }
  ~SparseFile() { std::filesystem::remove(path_); }
  SparseFile(const SparseFile&) = delete;
  SparseFile& operator=(const SparseFile&) = delete;
  const std::string& path() const { return path_; }
  static constexpr uint64_t kSize = 1 << 30;

 private:
  std::string path_;
};

// Zeros are empty names, empty strings and empty arrays: room for more of them than memory should hold.
TEST(HostileFiles, SparseGguf) {
  struct Case {
    std::string name;
    Bytes head;
    size_t most;  // bytes of the heap
  };
  const auto head = [](uint64_t tensors, uint64_t values) {
    return Bytes().raw("GGUF").number<uint32_t>(3).number(tensors).number(values);
  };
  const auto array = [&](uint32_t type, uint64_t count) {
    return head(0, 1).number<uint64_t>(1).raw("k").number<uint32_t>(9).number(type).number(count);
  };
  const uint64_t room = SparseFile::kSize - 64;
  for (const Case& one : {
           Case{"44739239 tensors", head(room / 24, 0), kFewBytes},
           Case{"82595520 metadata values", head(0, room / 13), kFewBytes},
           Case{"134217720 empty strings", array(8, room / 8), kFewBytes},
           Case{"89478480 empty arrays", array(9, room / 12), kFewBytes},
           Case{"262144 tensors", head(1 << 18, 0), kFewBytes},
           Case{"65536 metadata values", head(0, 1 << 16), kFewBytes},
           Case{"4194304 empty strings", array(8, 1 << 22), size_t{65} << 20},
           Case{"65536 empty arrays", array(9, 1 << 16), size_t{20} << 20},
           Case{"1000000000 numbers", array(0, 1000000000), kFewBytes},
       }) {
    const SparseFile file(one.head);
    const size_t before = held;
    peak = before;
    std::string said = "opened";
    try {
      GgufFile::open(file.path());
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::Format) << error.what();
      said = "refused";
    }
    const size_t most = peak - before;
    EXPECT_LT(most, one.most) << one.name;
    std::printf("a gigabyte of %s: %s, peak of the heap %zu KiB\n", one.name.c_str(), said.c_str(),
                (most + 1023) / 1024);
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
