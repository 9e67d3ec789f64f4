// SPDX-License-Identifier: Apache-2.0
// Written safetensors files: their bytes as the format has them, and what the reader makes of them. That the
// Python package reads them too is checked with tools/make_safetensors_cases.py.
#include "io/safetensors_writer.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "beeswax/tensor.h"
#include "io/file_writer.h"
#include "io/safetensors.h"
#include "support/expect_error.h"
#include "support/files.h"
#include "support/raw.h"

namespace beeswax::io {
namespace {

TEST(SafetensorsWriter, BytesAreTheFormats) {
  SafetensorsWriter writer;
  writer.add("b", Tensor::of({uint8_t{7}, uint8_t{8}, uint8_t{9}}));
  writer.add("a\"", Tensor::of({{1.0f}, {2.0f}}));
  writer.add("w", Tensor::scalar(-1, DType::I64));
  writer.set_metadata("k", "line\n\u00e9");
  std::string header = R"({"__metadata__":{"k":"line\n)"
                       "\u00e9"
                       R"("},"w":{"dtype":"I64","shape":[],"data_offsets":[0,8]},)"
                       R"("a\"":{"dtype":"F32","shape":[2,1],"data_offsets":[8,16]},)"
                       R"("b":{"dtype":"U8","shape":[3],"data_offsets":[16,19]}})";
  header.resize(256 - 8, ' ');
  std::string expected = std::string("\xf8\0\0\0\0\0\0\0", 8) + header + std::string(8, '\xff');
  expected += std::string("\0\0\x80\x3f\0\0\0\x40\x07\x08\x09", 11);
  const std::vector<std::byte> bytes = writer.to_bytes();
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()), expected);
  const auto nothing = SafetensorsWriter().to_bytes();
  EXPECT_EQ(nothing.size(), 64u);
  EXPECT_TRUE(SafetensorsFile::from_bytes(nothing, "x")->tensors().empty());
}

/// Where BEESWAX_TEST_KEEP names a folder, the file stays there, for another program to read.
std::filesystem::path folder() {
  const char* keep = std::getenv("BEESWAX_TEST_KEEP");
  return keep != nullptr ? std::filesystem::path(keep) : std::filesystem::path(BW_BINARY_DIR);
}

TEST(SafetensorsWriter, ReaderAgreesOnEveryDtypeAndLayout) {
  test::Random random(5);
  for (int round = 0; round < 20; ++round) {
    SafetensorsWriter writer;
    std::vector<std::pair<std::string, Tensor>> made;
    for (int i = 0; i < kDTypeCount; ++i) {
      const auto dtype = static_cast<DType>(i);
      const Shape shape = test::random_shape(random, static_cast<int>(test::pick(random, 0, 4)), 0, 5);
      const bool whole = shape.elem_count() * dtype_bits(dtype) % 8 == 0;
      const Shape used = whole ? shape : Shape({8, 2});
      made.emplace_back(
          std::string(1, static_cast<char>('z' - i)) + " " + std::string(dtype_name(dtype)),
          dtype_is_storage(dtype)
              ? Tensor::from_bytes(
                    std::vector<std::byte>(dtype_bytes(dtype, static_cast<size_t>(used.elem_count())),
                                           std::byte{0x5a}),
                    used, dtype)
              : test::random_tensor(random, used, dtype));
      writer.add(made.back().first, made.back().second);
    }
    writer.set_metadata("format", "np");
    const std::string path = (folder() / "safetensors_writer_test.safetensors").string();
    writer.write(path);
    EXPECT_EQ(test::files_beginning_with(path), 1);
    const auto file = SafetensorsFile::open(path);
    ASSERT_EQ(file->tensors().size(), made.size());
    EXPECT_EQ(file->metadata().at("format"), "np");
    for (const auto& [name, x] : made) {
      const SafetensorsTensor* tensor = file->find(name);
      ASSERT_NE(tensor, nullptr) << name;
      const Tensor read = tensor->to_tensor();
      EXPECT_EQ(read.dtype(), x.dtype());
      EXPECT_EQ(read.shape(), x.shape());
      EXPECT_EQ(read.to_bytes(), x.to_bytes()) << name;
      if (dtype_bits(x.dtype()) >= 8) {
        EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor->bytes.data()) % dtype_bytes(x.dtype(), 1), 0u) << name;
      }
    }
    if (std::getenv("BEESWAX_TEST_KEEP") == nullptr) std::filesystem::remove(path);
  }
}

TEST(SafetensorsWriter, Refusals) {
  SafetensorsWriter writer;
  const Tensor x = Tensor::zeros({2}, DType::F32);
  writer.add("x", x);
  EXPECT_ERROR(writer.add("x", x), InvalidArgument, "'x' is there already");
  EXPECT_ERROR(writer.add("__metadata__", x), InvalidArgument, "stands for metadata");
  EXPECT_ERROR(writer.add("odd", Tensor::from_bytes(std::vector<std::byte>(2), {3}, DType::F4)),
               InvalidArgument, "does not fill whole bytes");
  writer.set_metadata("k", "v");
  EXPECT_ERROR(writer.set_metadata("k", "w"), InvalidArgument, "'k' is there already");
  EXPECT_ERROR(writer.write("/no/such/folder/x.safetensors"), Io, "cannot be created: No such file");
  writer.add("\xff", x);
  EXPECT_ERROR(writer.to_bytes(), InvalidArgument, "is not UTF-8");
}

TEST(FileWriter, LeavesWhatIsThere) {
  const std::string path = (std::filesystem::path(BW_BINARY_DIR) / "file_writer_test").string();
  std::filesystem::remove_all(path);
  {
    FileWriter file(path);
    std::filesystem::create_directory(path);
    EXPECT_ERROR(file.finish(), Io, "cannot be put in place");
  }
  EXPECT_ERROR(FileWriter(path), Io, "cannot be created: Is a directory");
  std::filesystem::remove(path);
  // Neither a device nor another program's file under a name that ours might have.
  EXPECT_ERROR(FileWriter("/dev/null"), Io, "/dev/null is no regular file");
  if (std::filesystem::exists("/dev/stdout")) {  // some containers have none
    EXPECT_ERROR(FileWriter("/dev/stdout"), Io, "/dev/stdout is no regular file");
  }
  std::ofstream(path + ".partial") << "theirs";
  {
    FileWriter first(path), second(path);
    first.put(std::as_bytes(std::span("1")));
    second.finish();
    first.finish();
  }
  EXPECT_EQ(std::filesystem::file_size(path), 2u);
  EXPECT_EQ(std::filesystem::file_size(path + ".partial"), 6u);
  EXPECT_EQ(test::files_beginning_with(path), 2);
  std::filesystem::remove(path);
  std::filesystem::remove(path + ".partial");
}

TEST(FileWriter, TakesNoStandardStreamsPlace) {
  const std::string path = (std::filesystem::path(BW_BINARY_DIR) / "file_writer_streams_test").string();
  const int input = dup(STDIN_FILENO);
  close(STDIN_FILENO);
  {
    FileWriter file(path);
    EXPECT_EQ(write(STDIN_FILENO, "printed", 7), -1);
    file.put(std::as_bytes(std::span("1")));
    file.finish();
  }
  EXPECT_EQ(std::filesystem::file_size(path), 2u);
  std::filesystem::remove(path);
  dup2(input, STDIN_FILENO);
  close(input);
}

}  // namespace
}  // namespace beeswax::io
