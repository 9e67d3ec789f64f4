// SPDX-License-Identifier: Apache-2.0
// Safetensors files: those that the Python package wrote (tests/io, tools/make_safetensors_cases.py), and
// every kind of damage refused with its message.
#include "io/safetensors.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/apart.h"
#include "support/emulated.h"
#include "support/expect_error.h"

namespace beeswax::io {
namespace {

const std::string kCases = BW_SOURCE_DIR "/tests/io";

std::vector<std::byte> read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

std::vector<double> values_of(const Tensor& x) {
  return x.to_dtype(DType::F64).flatten_all().to_vec1<double>();
}

/// A file of this header, `data` bytes behind it.
std::vector<std::byte> file_of(std::string_view header, size_t data) {
  const uint64_t length = header.size();
  std::vector<std::byte> out(8 + header.size() + data);
  std::memcpy(out.data(), &length, 8);
  std::memcpy(out.data() + 8, header.data(), header.size());
  return out;
}

std::shared_ptr<const SafetensorsFile> read(std::string_view header, size_t data) {
  static std::deque<std::vector<std::byte>> files;  // which the files refer to
  files.push_back(file_of(header, data));
  return SafetensorsFile::from_bytes(files.back(), "test.safetensors");
}

TEST(Safetensors, EveryTypeThatThePythonPackageWrites) {
  const auto file = SafetensorsFile::open(kCases + "/types.safetensors");
  std::ifstream in(kCases + "/types.json");
  const auto expected = nlohmann::json::parse(in);
  ASSERT_EQ(file->tensors().size(), expected.size());
  EXPECT_EQ(file->metadata().at("format"), "np");
  EXPECT_EQ(file->metadata().at("note"), "line one\nline two \u00e9");
  size_t made = 0;
  for (const auto& [name, one] : expected.items()) {
    const SafetensorsTensor* tensor = file->find(name);
    ASSERT_NE(tensor, nullptr) << name;
    EXPECT_EQ(tensor->type->name, one["type"].get<std::string>());
    EXPECT_EQ(tensor->shape, Shape(one["shape"].get<std::vector<int64_t>>())) << name;
    if (!tensor->type->dtype) {
      EXPECT_ERROR(tensor->to_tensor(), UnsupportedDType,
                   "is of type " + one["type"].get<std::string>() +
                       ", which this version does not compute with; accepted: F64, F32, F16, BF16, I64, I32");
      continue;
    }
    const Tensor x = tensor->to_tensor();
    EXPECT_EQ(x.shape(), tensor->shape);
    const auto values = one["values"].get<std::vector<double>>();
    EXPECT_EQ(values_of(x), values) << name;
    for (size_t i = 0; i < values.size(); ++i)
      EXPECT_EQ(std::signbit(values_of(x)[i]), std::signbit(values[i])) << name;
    ++made;
  }
  EXPECT_EQ(made, expected.size() - 2) << "i8 and u64 have no dtype of ours, u16 becomes u32";
}

// The format says nothing of other bytes than 0 and 1, and its readers look at none.
TEST(Safetensors, TruthValuesKeepTheirBytes) {
  std::vector<std::byte> bytes = file_of(R"({"t":{"dtype":"BOOL","shape":[4],"data_offsets":[0,4]}})", 4);
  const uint8_t values[] = {0, 1, 2, 255};
  std::memcpy(bytes.data() + bytes.size() - 4, values, 4);
  const Tensor x = SafetensorsFile::from_bytes(bytes, "test.safetensors")->find("t")->to_tensor();
  EXPECT_EQ(x.to_vec<uint8_t>(), (std::vector<uint8_t>{0, 1, 2, 255}));
  const Tensor zeros = Tensor::zeros({4}, DType::I32, Device::cpu());
  EXPECT_EQ(x.where_cond(zeros + 1, zeros).to_vec<int32_t>(), (std::vector<int32_t>{0, 1, 1, 1}));
}

// Address space is as short as memory is elsewhere; sanitizers have their own use for it.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(Safetensors, MemoryThatIsShortNamesTheTensor) {
  SKIP_UNDER_QEMU("limit of address space");
  test::run_apart([] {
    const std::string header = R"({"t":{"dtype":"U16","shape":[50000000],"data_offsets":[0,100000000]}})";
    const auto file = read(header, 100'000'000);
    size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const size_t most = pages * static_cast<size_t>(::sysconf(_SC_PAGESIZE)) + 50'000'000;
    const rlimit limit = {most, most};
    EXPECT_EQ(::setrlimit(RLIMIT_AS, &limit), 0);
    EXPECT_ERROR(file->find("t")->to_tensor(), OutOfMemory, "[load] the system has no 200000000 bytes left");
    EXPECT_ERROR(file->find("t")->to_tensor(), OutOfMemory, "while loading tensor 't'");
    return "";
  });
}
#endif

TEST(Safetensors, FoldersAndIndexes) {
  for (const char* path : {"/sharded", "/sharded/model.safetensors.index.json"}) {
    const auto file = SafetensorsFile::open(kCases + path);
    ASSERT_EQ(file->tensors().size(), 3u);
    EXPECT_EQ(values_of(file->find("a")->to_tensor()), (std::vector<double>{0, 1, 2, 3, 4, 5}));
    EXPECT_EQ(values_of(file->find("b")->to_tensor()), (std::vector<double>{0, 1, 2, 3}));
    EXPECT_EQ(values_of(file->find("c")->to_tensor()), (std::vector<double>{0, 0.5, 1}));
    EXPECT_EQ(file->file_bytes(), 310u);
    EXPECT_EQ(file->find("d"), nullptr);
  }
  EXPECT_EQ(SafetensorsFile::open(kCases + "/sharded/model-00001-of-00002.safetensors")->tensors().size(),
            2u);
  EXPECT_ERROR(SafetensorsFile::open(kCases), Io, "model.safetensors: No such file");
  EXPECT_ERROR(SafetensorsFile::open(kCases + "/absent.safetensors"), Io, "absent.safetensors: No such file");
}

// An index and the two files of tests/io/sharded in a folder of their own.
class SafetensorsIndex : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::remove_all(folder_);
    std::filesystem::copy(kCases + "/sharded", folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  void expect_refused(const std::string& index, const std::string& message,
                      ErrorKind kind = ErrorKind::Format) {
    std::ofstream(folder_ / "model.safetensors.index.json") << index;
    try {
      SafetensorsFile::open(folder_.string());
      ADD_FAILURE() << "opened: " << index;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), kind) << error.what();
      EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
    }
  }
  const std::filesystem::path folder_ = std::filesystem::path(BW_BINARY_DIR) / "safetensors_index_test";
  const std::string one_ = "\"model-00001-of-00002.safetensors\"",
                    two_ = "\"model-00002-of-00002.safetensors\"";
};

TEST_F(SafetensorsIndex, BadIndexesAreRefused) {
  expect_refused(R"({"weight_map": {"a": )" + one_ + R"(, "c": )" + one_ + "}}",
                 "lists tensor 'c' in " + (folder_ / "model-00001-of-00002.safetensors").string());
  expect_refused(R"({"weight_map": {"x": )" + two_ + "}}", "lists tensor 'x'");
  expect_refused(R"({"weight_map": {"a": )" + one_ + R"(, "a": )" + one_ + "}}", "names 'a' twice");
  expect_refused(R"({"weight_map": {}, "weight_map": {}})", "names 'weight_map' twice");
  expect_refused(R"({"weight_map": {"a": "absent.safetensors"}})", "No such file", ErrorKind::Io);
  for (const char* name : {"../sharded/x", "/etc/passwd", "", ".", "..", "a\\\\b", "c:x", "a\\u0000b"})
    expect_refused(std::string(R"({"weight_map": {"a": ")") + name + "\"}}",
                   "not the name of a file beside it");
  for (const char* index : {"{}", R"({"metadata": {"weight_map": {}}})"})
    expect_refused(index, "has no 'weight_map'");
  for (const char* index :
       {"[]", "3", "\"x\"", R"({"weight_map": []})", R"({"weight_map": 3})", R"({"weight_map": {"a": {}}})",
        R"({"weight_map": {"a": [1]}})", R"({"weight_map": {"a": null}})"})
    expect_refused(index, "where that cannot stand");
  expect_refused("{\"x\": " + std::string(100000, '[') + "1", "deeper than 8 levels");
  for (const char* index : {"", "{", "{}x", R"({"weight_map")", "\xff{}"})
    expect_refused(index, "is not JSON");
  std::filesystem::copy(folder_ / "model-00001-of-00002.safetensors", folder_ / "again.safetensors");
  expect_refused(R"({"weight_map": {"a": )" + one_ + R"(, "b": "again.safetensors"}})",
                 ", which another file holds too");
}

TEST_F(SafetensorsIndex, OneWholeFileIsTakenFirst) {
  std::filesystem::copy(folder_ / "model-00001-of-00002.safetensors", folder_ / "model.safetensors");
  std::filesystem::remove(folder_ / "model-00002-of-00002.safetensors");
  EXPECT_EQ(SafetensorsFile::open(folder_.string())->tensors().size(), 2u);
}

TEST(Safetensors, SoundHeaders) {
  const auto file = read(R"({"b":{"data_offsets":[4,12],"shape":[2,1],"dtype":"F32"},)"
                         R"("a":{"dtype":"I16","shape":[2],"data_offsets":[0,4]},)"
                         R"("e":{"dtype":"F32","shape":[0],"data_offsets":[4,4]},)"
                         R"("s":{"dtype":"F6_E2M3","shape":[4],"data_offsets":[12,15]}}    )",
                         15);
  ASSERT_EQ(file->tensors().size(), 4u);
  EXPECT_EQ(file->tensors()[0].name, "a");
  EXPECT_EQ(file->tensors()[1].name, "e");
  EXPECT_EQ(file->find("b")->shape, Shape({2, 1}));
  EXPECT_EQ(file->find("s")->to_tensor().dtype(), DType::F6E2M3);
  EXPECT_EQ(read("{}", 0)->tensors().size(), 0u);
  EXPECT_EQ(read(R"({"__metadata__":{}})", 0)->metadata().size(), 0u);
}

TEST(Safetensors, TruncationAtEveryByteIsRefused) {
  for (const auto& bytes : {read_file(kCases + "/types.safetensors"),
                            file_of(R"({"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]}})", 3)}) {
    for (size_t size = 0; size < bytes.size(); ++size)
      EXPECT_ERROR(SafetensorsFile::from_bytes(std::span(bytes).first(size), "cut.safetensors"), Format,
                   "cut.safetensors");
    EXPECT_NO_THROW(SafetensorsFile::from_bytes(bytes, "whole.safetensors"));
  }
  EXPECT_ERROR(read("{}", 1), Format, "describes 0 bytes of data, but 1 follow");
}

std::string one(const std::string& type, const std::string& shape, const std::string& offsets) {
  return R"({"t":{"dtype":")" + type + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}}";
}

TEST(Safetensors, BadTensorsAreRefused) {
  EXPECT_NO_THROW(read(one("F32", "[2]", "[0,8]"), 8));
  const auto refused = [](const std::string& header, const std::string& message, size_t data = 8) {
    EXPECT_ERROR(read(header, data), Format, message);
  };
  refused(one("F32", "[2]", "[0,7]"), "takes 8 bytes, but its data_offsets are 0 and 7");
  refused(one("F32", "[2]", "[8,0]"), "takes 8 bytes, but its data_offsets are 8 and 0");
  refused(one("F32", "[2]", "[18446744073709551608,0]"), "takes 8 bytes");
  refused(one("F32", "[2]", "[0,8]"), "describes 8 bytes of data, but 7 follow", 7);
  refused(one("F32", "[2]", "[0,8]"), "describes 8 bytes of data, but 9 follow", 9);
  refused(one("F32", "[2]", "[4,12]"), "behind a hole that begins at 0", 12);
  refused(one("F32", "[2]", "[0]"), "'data_offsets' are 1 numbers");
  refused(one("F32", "[2]", "[0,8,8]"), "'data_offsets' are 3 numbers");
  refused(one("F32", "[4294967296,4294967296]", "[0,0]"), "more elements than any memory holds");
  refused(one("F32", "[4611686018427387904]", "[0,0]"), "more elements than any memory holds");
  refused(one("F32", "[0,4294967296,4294967296]", "[0,0]"), "more elements than any memory holds");
  refused(one("F32", "[9223372036854775808]", "[0,0]"), "more elements than any memory holds");
  refused(one("F32", "[99999999999999999999]", "[0,0]"), "not a whole number of 64 bits");
  refused(one("F32", "[-1]", "[0,0]"), "a number below 0");
  refused(one("F32", "[2.0]", "[0,8]"), "not a whole number of 64 bits");
  refused(one("F32", "[2e0]", "[0,8]"), "not a whole number of 64 bits");
  refused(one("F32", "[1,1,1,1,1,1,1,1,2]", "[0,8]"), "more than 8 axes");
  refused(one("F32", "[[2]]", "[0,8]"), "deeper than 3 levels");
  refused(one("F32", "[\"2\"]", "[0,8]"), "holds text");
  refused(one("F32", "[null]", "[0,8]"), "holds null");
  refused(one("[]", "[2]", "[0,8]"), "unknown type '[]'");
  refused(one("F32", "2", "[0,8]"), "holds a number");
  refused(one("F32", "{}", "[0,8]"), "holds an object");
  refused(one("F33", "[2]", "[0,8]"), "unknown type 'F33'");
  refused(one("f32", "[2]", "[0,8]"), "unknown type 'f32'");
  refused(one("F4", "[3]", "[0,2]"), "does not fill whole bytes");
  refused(R"({"t":{"dtype":"F32","shape":[2]}})", "has no 'data_offsets'");
  refused(R"({"t":{"dtype":"F32","data_offsets":[0,8]}})", "has no 'shape'");
  refused(R"({"t":{"shape":[2],"data_offsets":[0,8]}})", "has no 'dtype'");
  refused(R"({"t":{"dtype":["F32"],"shape":[2],"data_offsets":[0,8]}})", "'dtype'");
  refused(R"({"t":{"dtype":"F32","shape":[2],"data_offsets":[0,8],"scale":2}})", "unknown field 'scale'");
  refused(R"({"t":{"dtype":"F32","shape":[2],"shape":[2],"data_offsets":[0,8]}})", "names 'shape' twice");
  refused(R"({"t":3})", "holds a number where that cannot stand: 't'");
  const std::string a = R"("a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]})";
  refused("{" + a + "," + a + "}", "names 'a' twice", 4);
  refused("{" + a + R"(,"b":{"dtype":"U8","shape":[4],"data_offsets":[3,7]}})", "inside the one before", 7);
  refused("{" + a + R"(,"b":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})", "inside the one before", 4);
  refused("{" + a + R"(,"b":{"dtype":"U8","shape":[2],"data_offsets":[5,7]}})",
          "behind a hole that begins at 4", 7);
  refused(R"({"__metadata__":{"x":1}})", "holds a number where that cannot stand: '__metadata__', 'x'", 0);
  refused(R"({"__metadata__":{"x":{}}})", "holds an object", 0);
  refused(R"({"__metadata__":"x"})", "holds text", 0);
  refused(R"({"__metadata__":{"x":"1","x":"2"}})", "names 'x' twice", 0);
}

TEST(Safetensors, BadHeadersAreRefused) {
  EXPECT_ERROR(read(" {}", 0), Format, "does not begin with '{'");
  EXPECT_ERROR(read("\xef\xbb\xbf{}", 0), Format, "does not begin with '{'");
  EXPECT_ERROR(read("", 0), Format, "does not begin with '{'");
  EXPECT_ERROR(read("{}x", 0), Format, "is not JSON at byte 3");
  EXPECT_ERROR(read("{\"\xff\":1}", 0), Format, "is not JSON");
  EXPECT_ERROR(read("{\"a\x1b[2J\":1}", 0), Format, "is not JSON");
  EXPECT_ERROR(read(R"({"a\u001b[2J":1})", 0), Format, "'a?[2J'");
  EXPECT_ERROR(read(R"({"a":)" + std::string(1 << 20, '['), 0), Format, "holds a list");
  EXPECT_ERROR(read(R"({"a":{"shape":)" + std::string(1 << 20, '['), 0), Format, "deeper than 3 levels");
}

}  // namespace
}  // namespace beeswax::io
