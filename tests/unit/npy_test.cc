// SPDX-License-Identifier: Apache-2.0
// .npy files: those that NumPy wrote (tests/io/npy, tools/make_npy_cases.py), ours as the format has them and
// read again, and every kind of damage refused with its message. That NumPy reads ours is checked with that
// script.
#include "beeswax/npy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/fail.h"
#include "support/expect_error.h"
#include "support/files.h"
#include "support/raw.h"

namespace beeswax {
namespace {

const std::string kCases = BW_SOURCE_DIR "/tests/io/npy/";

/// A file of this header and these elements, of version 1 if the header is short.
Tensor read(const std::string& header, const std::string& elements, std::string start = "") {
  if (start.empty()) {
    start = std::string("\x93NUMPY\1\0", 8);
    start += {static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
  }
  const std::string file = start + header + elements;
  return npy_from_bytes(std::as_bytes(std::span(file)), "test.npy");
}

std::string header_of(const std::string& descr, const std::string& shape,
                      const std::string& fortran = "False") {
  return "{'descr': " + descr + ", 'fortran_order': " + fortran + ", 'shape': " + shape + ", }\n";
}

TEST(Npy, FilesThatNumPyWrote) {
  std::ifstream in(kCases + "cases.json");
  const auto cases = nlohmann::json::parse(in);
  ASSERT_GT(cases.size(), 30u);
  for (const auto& [name, expected] : cases.items()) {
    const std::string path = kCases + name + ".npy";
    if (expected["values"].is_null()) {
      EXPECT_ERROR(read_npy(path), UnsupportedDType, "which tensors do not have; accepted: f8, f4, f2");
      continue;
    }
    const Tensor x = read_npy(path);
    EXPECT_EQ(dtype_name(x.dtype()), expected["dtype"].get<std::string>()) << name;
    EXPECT_EQ(x.shape(), Shape(expected["shape"].get<std::vector<int64_t>>())) << name;
    std::vector<std::string> values;
    if (dtype_is_float(x.dtype())) {
      for (const double value : x.to_dtype(DType::F64).flatten_all().to_vec1<double>()) {
        const double wanted = std::stod(expected["values"].at(values.size()).get<std::string>());
        EXPECT_EQ(std::signbit(value), std::signbit(wanted)) << name;
        values.emplace_back(value == wanted ? expected["values"].at(values.size()).get<std::string>()
                                            : std::to_string(value));
      }
    } else {
      for (const int64_t value : x.to_dtype(DType::I64).flatten_all().to_vec1<int64_t>())
        values.push_back(std::to_string(value));
    }
    EXPECT_EQ(values, expected["values"].get<std::vector<std::string>>()) << name;
  }
}

TEST(Npy, BytesAreTheFormats) {
  const auto bytes = npy_to_bytes(Tensor::of({{1.0f}, {-2.0f}}).t());
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }";
  header.resize(128 - 10 - 1, ' ');
  std::string expected("\x93NUMPY\1\0\x76\0", 10);
  expected += header + "\n" + std::string("\0\0\x80\x3f\0\0\0\xc0", 8);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()), expected);
  const auto text = [](const Tensor& x) {
    const auto all = npy_to_bytes(x);
    return std::string(reinterpret_cast<const char*>(all.data()), all.size());
  };
  EXPECT_NE(text(Tensor::scalar(1, DType::U8)).find("'|u1', 'fortran_order': False, 'shape': (), }"),
            std::string::npos);
  EXPECT_NE(text(Tensor::zeros({7}, DType::I64)).find("'<i8', 'fortran_order': False, 'shape': (7,), }"),
            std::string::npos);
  const std::string largest = text(Tensor::zeros({0, INT64_MAX, 1, 1, 1, 1, 1, 1}, DType::F64));
  EXPECT_EQ(largest.size() % 64, 0u);
  EXPECT_EQ(largest.back(), '\n');
}

/// Where BEESWAX_TEST_KEEP names a folder, the files stay there, for NumPy to read.
std::filesystem::path folder() {
  const char* keep = std::getenv("BEESWAX_TEST_KEEP");
  return keep != nullptr ? std::filesystem::path(keep) : std::filesystem::path(BW_BINARY_DIR);
}

TEST(Npy, WhatIsWrittenIsReadAgain) {
  test::Random random(7);
  for (const DType dtype :
       {DType::F64, DType::F32, DType::F16, DType::I64, DType::I32, DType::I16, DType::U32, DType::U8}) {
    for (int round = 0; round < 20; ++round) {
      const Shape shape = test::random_shape(random, static_cast<int>(test::pick(random, 0, 5)), 0, 4);
      Tensor x = test::random_tensor(random, shape, dtype);
      if (round % 2 == 1 && x.rank() > 1) x = x.transpose(0, -1);
      if (round % 3 == 2 && x.rank() > 0 && x.dim(0) > 1) x = x.narrow(0, 1, x.dim(0) - 1);
      const std::string path =
          (folder() / join_text("npy_test_", dtype_name(dtype), "_", round, ".npy")).string();
      write_npy(x, path);
      EXPECT_EQ(test::files_beginning_with(path), 1);
      const Tensor y = read_npy(path);
      EXPECT_EQ(y.dtype(), x.dtype());
      EXPECT_EQ(y.shape(), x.shape());
      EXPECT_EQ(y.to_bytes(), x.to_bytes());
      if (std::getenv("BEESWAX_TEST_KEEP") == nullptr) std::filesystem::remove(path);
    }
  }
  for (const DType dtype : {DType::BF16, DType::F8E4M3})
    EXPECT_ERROR(npy_to_bytes(Tensor::zeros({2, 3}, dtype)), UnsupportedDType,
                 "NumPy has no type for the elements of");
  EXPECT_ERROR(npy_to_bytes(Tensor()), InvalidArgument, "");
  EXPECT_ERROR(write_npy(Tensor::zeros({1}, DType::F32), "/nowhere/x.npy"), Io, "/nowhere/x.npy");
  EXPECT_ERROR(read_npy("/nowhere/x.npy"), Io, "/nowhere/x.npy");
}

TEST(Npy, WhatPythonReadsAlike) {
  const std::string two("\1\0\2\0", 4);
  for (const char* header : {"{'descr': '<i2', 'fortran_order': False, 'shape': (2,)}",
                             "{\"shape\":(2,),\"fortran_order\":False,\"descr\":\"<i2\"}",
                             " { 'descr' : '<i2' , 'fortran_order' : True , 'shape' : ( 2 , ) , } \n",
                             "{'descr': '=i2', 'fortran_order': False, 'shape': (2L,), }\n",
                             "{'shape':(2,),'descr':'|i2','fortran_order':False}"})
    EXPECT_EQ(read(header, two).to_vec1<int16_t>(), (std::vector<int16_t>{1, 2})) << header;
  EXPECT_EQ(read(header_of("'<i2'", "(1,2)"), two).shape(), Shape({1, 2}));
}

TEST(Npy, DamageIsRefused) {
  const std::string good = header_of("'<f4'", "(2, 3)"), data(24, '\0');
  EXPECT_EQ(read(good, data).shape(), Shape({2, 3}));
  const auto refused = [&](const std::string& header, const std::string& message) {
    EXPECT_ERROR(read(header, data), Format, message);
  };
  EXPECT_ERROR(read(good, data, "\x93NUMPZ"), Format, "test.npy does not begin as .npy files do");
  EXPECT_ERROR(npy_from_bytes({}, "empty.npy"), Format, "empty.npy does not begin as .npy files do");
  EXPECT_ERROR(read(good, data, std::string("\x93NUMPY\4\0\x10\0", 10)), Format,
               "is of version 4.0; versions 1.0, 2.0 and 3.0");
  EXPECT_ERROR(read(good, data, std::string("\x93NUMPY\1\1\x10\0", 10)), Format, "is of version 1.1;");
  EXPECT_ERROR(read("", "", std::string("\x93NUMPY\2\0\xff\xff\xff\xff", 12)), Format,
               "inside the header, which takes 4294967295 bytes at 12");
  EXPECT_ERROR(read(good, data + "x"), Format,
               "describes 24 bytes of elements, [2, 3] of <f4, but 25 follow its header");
  EXPECT_ERROR(read(good, data.substr(1)), Format, "but 23 follow");
  refused("", "has nothing at character 0 of its header, where '{' should be");
  refused("{}", "has no 'descr' in its header");
  refused("{'descr': '<f4', 'shape': (2, 3)}", "has no 'fortran_order'");
  refused("{'descr': '<f4', 'fortran_order': False}", "has no 'shape'");
  refused("{'descr': '<f4', 'descr': '<f4'}", "has 'descr' in its header, twice or besides");
  refused("{'more': 1}", "has 'more' in its header, twice or besides");
  refused(good + "x", "has 'x' at character 60 of its header, where the end should be");
  refused(good + std::string(1, '\0'), "where the end should be");
  refused("{'descr': '<f4' 'shape': (2, 3)}", "where a comma or '}' should be");
  refused("{'descr' '<f4'}", "where ':' should be");
  refused("{'descr': '<f\\x34'}", "where 'descr' in quotes should be");
  refused("{'descr': '<f4", "where 'descr' in quotes should be");
  refused("{'descr': 4}", "where 'descr' in quotes should be");
  refused(header_of("'f4'", "(2, 3)"), "has the element type 'f4', which begins with no byte order");
  refused(header_of("'<f4'", "(2, 3)", "0"), "where True or False should be");
  refused(header_of("'<f4'", "(6)"), "where a comma behind the only size");
  refused(header_of("'<f4'", "(2 3)"), "where a comma or ')' should be");
  refused(header_of("'<f4'", "(,)"), "where a size should be");
  refused(header_of("'<f4'", "(-2, 3)"), "where a size should be");
  refused(header_of("'<f4'", "(2.0, 3)"), "where a comma or ')' should be");
  refused(header_of("'<f4'", "[2, 3]"), "where '(' should be");
  refused(header_of("'<f4'", "(1, 1, 1, 1, 1, 1, 1, 1, 6)"), "has an array of more than 8 axes");
  for (const char* shape : {"(9223372036854775808,)", "(99999999999999999999,)", "(4294967296, 2147483648)",
                            "(0, 4294967296, 2147483648)", "(4611686018427387904,)"})
    refused(header_of("'<f4'", shape), "has an array of more elements than any memory holds");
  refused(header_of("''", "(2, 3)"), "has the element type '', which begins with no byte order");
  EXPECT_ERROR(read("{'descr': [('a', '<i4')]", data), UnsupportedDType,
               "holds records, which tensors do not have");
  EXPECT_ERROR(read(header_of("'<f16'", "(2, 3)"), data), UnsupportedDType,
               "holds elements of type '<f16', which tensors do not have");
}

TEST(Npy, EveryCutIsRefused) {
  const auto whole = npy_to_bytes(Tensor::of({1, 2, 3}));
  for (size_t length = 0; length < whole.size(); ++length)
    EXPECT_ERROR(npy_from_bytes(std::span(whole).first(length), "cut.npy"), Format, "cut.npy");
}

}  // namespace
}  // namespace beeswax
