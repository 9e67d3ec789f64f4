// SPDX-License-Identifier: Apache-2.0
// Split GGUF files: names, the parts as one file, and parts that do not belong together.
#include "io/gguf_split.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "io/byte_reader.h"
#include "io/gguf.h"
#include "io/gguf_writer.h"
#include "support/expect_error.h"

namespace beeswax::io {
namespace {

TEST(GgufSplitName, IsReadStrictly) {
  const auto name = split_name("/a-00001-of-00002/b.c-00002-of-00010.gguf");
  ASSERT_TRUE(name);
  EXPECT_EQ(name->prefix, "/a-00001-of-00002/b.c");
  EXPECT_EQ(name->number, 2u);
  EXPECT_EQ(name->count, 10u);
  EXPECT_EQ(name->to_string(), "/a-00001-of-00002/b.c-00002-of-00010.gguf");
  EXPECT_TRUE(split_name("-00001-of-00001.gguf"));
  EXPECT_TRUE(split_name("x-99999-of-99999.gguf"));
  for (const char* other :
       {"", ".gguf", "x.gguf", "x-0001-of-0002.gguf", "x00001-of-00002.gguf", "x-00001-of-00002.GGUF",
        "x-00001-of-00002", "x-00000-of-00002.gguf", "x-00003-of-00002.gguf", "x-00001-of-00000.gguf",
        "x--0001-of-00002.gguf", "x-+0001-of-00002.gguf", "x- 0001-of-00002.gguf", "x-0x001-of-00002.gguf",
        "x-00001-of-00002.gguf/y", "x-00001_of-00002.gguf", "-of-00002.gguf", "0001-of-00002.gguf"})
    EXPECT_FALSE(split_name(other)) << other;
}

constexpr int64_t kTensors[] = {1, 2, 3};  // of each part

class GgufSplit : public testing::Test {
 protected:
  // What a part says; a test changes it to write parts that do not fit.
  struct Part {
    int64_t number, count = 3, total = 6;
    bool big = false;
  };

  void SetUp() override {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directory(folder_);
    for (int64_t i = 0; i < 3; ++i) write({.number = i}, i);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string path(int64_t part) const {
    return SplitName{(folder_ / "model").string(), static_cast<uint32_t>(part) + 1, 3}.to_string();
  }
  // The tensors of part i are [i + 1] elements of i + n / 10.
  void write(const Part& part, int64_t as) const {
    if (part.big) return write_big(as);
    GgufWriter writer(as == 1 ? 64 : 32);
    if (as == 0) writer.set_string("general.architecture", "llama");
    writer.set("split.no", {GgufType::U16, static_cast<uint64_t>(part.number)});
    writer.set("split.count", {GgufType::U16, static_cast<uint64_t>(part.count)});
    writer.set_i32("split.tensors.count", static_cast<int32_t>(part.total));
    std::vector<std::vector<float>> data;
    for (int64_t n = 0; n < kTensors[as]; ++n)
      data.emplace_back(as + 1, static_cast<float>(as) + static_cast<float>(n) / 10);
    for (size_t n = 0; n < data.size(); ++n)
      writer.add_tensor("t" + std::to_string(as) + "." + std::to_string(n), 0, {as + 1},
                        std::as_bytes(std::span(data[n])));
    writer.write(path(as));
  }
  // A part without tensors in big-endian bytes.
  void write_big(int64_t as) const {
    std::string bytes = "GGUF";
    const auto number = [&](auto value) {
      value = reversed(value);
      bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
    };
    number(uint32_t{3});
    number(uint64_t{0});
    number(uint64_t{2});
    for (const auto& [key, value] : {std::pair("split.no", as), std::pair("split.count", int64_t{3})}) {
      number(uint64_t{std::string_view(key).size()});
      bytes += key;
      number(static_cast<uint32_t>(GgufType::U16));
      number(static_cast<uint16_t>(value));
    }
    std::ofstream(path(as), std::ios::binary) << bytes;
  }
  void expect_refused(const std::string& message, ErrorKind kind = ErrorKind::Format,
                      int64_t first = 0) const {
    try {
      GgufFile::open(path(first));
      ADD_FAILURE() << "opened; expected: " << message;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), kind) << error.what();
      EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
    }
  }
  const std::filesystem::path folder_ = std::filesystem::path(BW_BINARY_DIR) / "gguf_split_test";
};

TEST_F(GgufSplit, PartsAreOneFile) {
  const auto file = GgufFile::open(path(0));
  EXPECT_EQ(file->parts(), 3u);
  EXPECT_EQ(file->name(), path(0));
  EXPECT_EQ(file->get_string("general.architecture"), "llama");
  EXPECT_EQ(file->metadata().size(), 1u) << "the whole is no part";
  EXPECT_EQ(file->find("split.count"), nullptr);
  ASSERT_EQ(file->tensors().size(), 6u);
  uint64_t bytes = 0;
  for (int64_t part = 0; part < 3; ++part) {
    bytes += std::filesystem::file_size(path(part));
    for (int64_t n = 0; n < kTensors[part]; ++n) {
      const GgufTensor* tensor = file->find_tensor("t" + std::to_string(part) + "." + std::to_string(n));
      ASSERT_NE(tensor, nullptr);
      EXPECT_EQ(tensor->shape, Shape({part + 1}));
      std::vector<float> values(static_cast<size_t>(part) + 1);
      ASSERT_EQ(tensor->bytes.size(), values.size() * 4);
      std::memcpy(values.data(), tensor->bytes.data(), tensor->bytes.size());
      EXPECT_EQ(values,
                std::vector<float>(values.size(), static_cast<float>(part) + static_cast<float>(n) / 10));
    }
  }
  EXPECT_EQ(file->file_bytes(), bytes);
}

TEST_F(GgufSplit, OneOfOneIsAFile) {
  write({.number = 0, .count = 1, .total = 1}, 0);
  EXPECT_EQ(GgufFile::open(path(0))->tensors().size(), 1u);
}

TEST_F(GgufSplit, OtherPartsNameTheFirst) {
  expect_refused("is part 2 of 3; open the first, " + path(0), ErrorKind::InvalidArgument, 1);
  std::filesystem::copy_file(path(1), path(0), std::filesystem::copy_options::overwrite_existing);
  expect_refused("is part 2 of 3 by its metadata and part 1 by its name");
}

TEST_F(GgufSplit, MissingPartsAreNamed) {
  std::filesystem::remove(path(2));
  expect_refused(path(2) + ": No such file", ErrorKind::Io);
  expect_refused("while opening part 3 of 3 of " + path(0), ErrorKind::Io);
  std::filesystem::create_directory(path(2));
  expect_refused("is not a regular file", ErrorKind::Io);
  const std::string other = (folder_ / "renamed.gguf").string();
  std::filesystem::rename(path(0), other);
  EXPECT_ERROR(GgufFile::open(other), Format, "does not end in -00001-of-00003.gguf");
}

TEST_F(GgufSplit, PartsThatDoNotFitAreRefused) {
  write({.number = 0, .count = 4}, 0);
  expect_refused("does not end in -00001-of-00004.gguf");
  write({.number = 0}, 0);
  write({.number = 1, .count = 2}, 1);
  expect_refused("is a part of 2, but the first is one of 3");
  write({.number = 2}, 1);
  expect_refused("says that it is part 3, not 2");
  write({.number = 1}, 1);
  write({.number = 0, .total = 7}, 0);
  expect_refused("has 7 tensors in 3 parts by its metadata, but 6 are there");
  write({.number = 0, .total = -1}, 0);
  expect_refused("has -1 tensors");
  write({.number = 0}, 0);
  write({.number = 2, .big = true}, 2);
  expect_refused("is of another byte order than the first part");
  GgufWriter writer;
  writer.set("split.no", {GgufType::U16, uint64_t{2}});
  writer.set("split.count", {GgufType::U16, uint64_t{3}});
  const float number = 1;
  writer.add_tensor("t1.1", 0, {1}, std::as_bytes(std::span(&number, 1)));
  writer.write(path(2));
  expect_refused("holds tensor 't1.1', which a part before holds too");
  GgufWriter plain;
  plain.write(path(2));
  expect_refused("has no metadata value 'split.no'");
  std::ofstream(path(2)) << "GGUF";
  expect_refused("while opening part 3 of 3");
}

}  // namespace
}  // namespace beeswax::io
