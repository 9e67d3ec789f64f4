// SPDX-License-Identifier: Apache-2.0
// GGUF files: what the writer writes the reader reads, files put together byte by byte as the format says,
// both byte orders and all versions, and every kind of damage refused with its message.
#include "io/gguf.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "beeswax/error.h"
#include "io/byte_reader.h"
#include "io/gguf_writer.h"

namespace beeswax::io {
namespace {

/// A file written by hand.
class Bytes {
 public:
  explicit Bytes(uint32_t version = 3, bool big = false) : version_(version), big_(big) {
    raw("GGUF");
    u32(version);
  }
  Bytes& raw(std::string_view text) {
    for (const char c : text) data_.push_back(static_cast<std::byte>(c));
    return *this;
  }
  template <class T>
  Bytes& number(T value) {
    if (big_) value = reversed(value);
    const auto at = data_.size();
    data_.resize(at + sizeof(T));
    std::memcpy(data_.data() + at, &value, sizeof(T));
    return *this;
  }
  Bytes& u32(uint32_t value) { return number(value); }
  Bytes& u64(uint64_t value) { return number(value); }
  Bytes& count(uint64_t value) { return version_ == 1 ? u32(static_cast<uint32_t>(value)) : u64(value); }
  Bytes& text(std::string_view value) { return count(value.size()).raw(value); }
  Bytes& head(uint64_t tensors, uint64_t values) { return count(tensors).count(values); }
  Bytes& pad(size_t alignment = 32) {
    while (data_.size() % alignment != 0) data_.push_back(std::byte{0});
    return *this;
  }
  Bytes& tensor(std::string_view name, const std::vector<uint64_t>& sizes, uint32_t type, uint64_t offset) {
    text(name).u32(static_cast<uint32_t>(sizes.size()));
    for (const uint64_t size : sizes) count(size);
    return u32(type).u64(offset);
  }
  const std::vector<std::byte>& data() const { return data_; }
  std::shared_ptr<const GgufFile> read() const { return GgufFile::from_bytes(data_, "test.gguf"); }

 private:
  uint32_t version_;
  bool big_;
  std::vector<std::byte> data_;
};

template <class F>
void expect_error(ErrorKind kind, std::string_view text, F&& body) {
  try {
    body();
    ADD_FAILURE() << "nothing thrown; expected: " << text;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    EXPECT_NE(std::string_view(error.what()).find(text), std::string_view::npos)
        << "message: " << error.what();
  }
}

void expect_refused(const Bytes& bytes, std::string_view message) {
  expect_error(ErrorKind::Format, message, [&] { bytes.read(); });
}

TEST(Gguf, WriterAndReaderAgree) {
  const std::vector<float> ones = {1, 2, 3, 4, 5, 6};
  const std::vector<std::byte> blocks(36, std::byte{7});
  const std::vector<std::string> words = {"", "two", "t\xc3\xa9"};
  const std::vector<int32_t> ids = {-1, 5};
  for (const uint64_t alignment : {uint64_t{8}, uint64_t{32}, uint64_t{4096}}) {
    GgufWriter writer(alignment);
    writer.set_u32("a.u32", 7);
    writer.set_u64("a.u64", std::numeric_limits<uint64_t>::max());
    writer.set_i32("a.i32", -7);
    writer.set_f32("a.f32", 0.1f);
    writer.set_bool("a.bool", true);
    writer.set_string("a.string", "text");
    writer.set_strings("a.strings", words);
    writer.set_f32s("a.f32s", ones);
    writer.set_i32s("a.i32s", ids);
    writer.add_tensor("plain", 0, {2, 3}, std::as_bytes(std::span(ones)));
    writer.add_tensor("blocks", 2, {2, 32}, blocks);
    writer.add_tensor("none", 0, {0, 3}, {});
    const std::vector<std::byte> bytes = writer.to_bytes();
    const auto file = GgufFile::from_bytes(bytes, "test.gguf");
    EXPECT_EQ(file->version(), 3u);
    EXPECT_EQ(file->alignment(), alignment);
    EXPECT_FALSE(file->reversed());
    EXPECT_EQ(file->get_int("a.u32"), 7);
    EXPECT_EQ(file->find("a.u64")->as_unsigned(), std::numeric_limits<uint64_t>::max());
    EXPECT_FALSE(file->find("a.u64")->as_int());
    EXPECT_EQ(file->get_int("a.i32"), -7);
    EXPECT_EQ(static_cast<float>(file->get_float("a.f32")), 0.1f);
    EXPECT_TRUE(file->get_bool("a.bool"));
    EXPECT_EQ(file->get_string("a.string"), "text");
    ASSERT_NE(file->find("a.strings")->as_strings(), nullptr);
    EXPECT_EQ((*file->find("a.strings")->as_strings())[2], "t\xc3\xa9");
    EXPECT_EQ(file->find("a.f32s")->as_floats(), (std::vector<double>{1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(file->get_ints("a.i32s", 2), (std::vector<int64_t>{-1, 5}));
    EXPECT_EQ(file->get_ints("a.u32", 3), (std::vector<int64_t>{7, 7, 7}));
    const GgufTensor* plain = file->find_tensor("plain");
    ASSERT_NE(plain, nullptr);
    EXPECT_EQ(plain->shape, Shape({2, 3}));
    EXPECT_EQ(plain->type->dtype, DType::F32);
    EXPECT_EQ(std::memcmp(plain->bytes.data(), ones.data(), 24), 0);
    EXPECT_EQ(static_cast<uint64_t>(plain->bytes.data() - bytes.data()) % alignment, 0u);
    EXPECT_EQ(file->find_tensor("blocks")->type->quant, QuantType::Q4_0);
    EXPECT_EQ(file->find_tensor("blocks")->bytes.size(), 36u);
    EXPECT_EQ(file->find_tensor("none")->bytes.size(), 0u);
    EXPECT_EQ(file->find_tensor("absent"), nullptr);
    // A copy of all values is the same file again.
    GgufWriter copy(alignment);
    for (const auto& [key, value] : file->metadata()) copy.set(key, value);
    for (const GgufTensor& tensor : file->tensors())
      copy.add_tensor(tensor.name, tensor.type->id, tensor.shape, tensor.bytes);
    EXPECT_EQ(copy.to_bytes(), bytes);
  }
}

TEST(Gguf, EveryVersionAndByteOrder) {
  for (const uint32_t version : {1u, 2u, 3u}) {
    for (const bool big : {false, true}) {
      Bytes b(version, big);
      b.head(1, 5);
      b.text("i8").u32(1).number<int8_t>(-3);
      b.text("f64").u32(12).number<double>(0.5);
      b.text("u16s").u32(9).u32(2).count(2).number<uint16_t>(1).number<uint16_t>(515);
      b.text("strings").u32(9).u32(8).count(2).text("ab").text("");
      b.text("i64").u32(11).number<int64_t>(-1);
      b.tensor("t", {2, 1}, 0, 0).pad().number(1.0f).number(2.0f);
      const auto file = b.read();
      EXPECT_EQ(file->version(), version);
      EXPECT_EQ(file->reversed(), big);
      EXPECT_EQ(file->get_int("i8"), -3);
      EXPECT_EQ(file->get_float("f64"), 0.5);
      EXPECT_EQ(file->get_ints("u16s", 2), (std::vector<int64_t>{1, 515}));
      EXPECT_EQ(file->find("strings")->as_strings()->at(0), "ab");
      EXPECT_EQ(file->get_int("i64"), -1);
      EXPECT_EQ(file->find_tensor("t")->shape, Shape({1, 2}));
    }
  }
}

/// A copy of all values of a file, read again; `bytes` keeps it.
std::shared_ptr<const GgufFile> rewritten(const GgufFile& file, std::vector<std::byte>* bytes) {
  GgufWriter copy;
  for (const auto& [key, value] : file.metadata()) copy.set(key, value);
  *bytes = copy.to_bytes();
  return GgufFile::from_bytes(*bytes, "copy.gguf");
}

/// One number type: as a scalar, in an array, and in an array of arrays, at its ends, through a file of every
/// version and byte order and a copy of it.
template <class T>
void check_number_type(uint32_t id, std::string_view name) {
  using Limits = std::numeric_limits<T>;
  const std::vector<T> values = {Limits::lowest(), T{0}, T{1}, T{100}, Limits::max()};
  const auto is_value = [](const GgufValue& value, T expected) {
    if constexpr (std::is_floating_point_v<T>) {
      return static_cast<T>(value.as_float().value()) == expected;
    } else if constexpr (std::is_same_v<T, uint64_t>) {
      return value.as_unsigned() == expected;
    } else {
      return value.as_int() == static_cast<int64_t>(expected);
    }
  };
  const auto is_list = [&](const GgufValue& value) {
    if (value.type() != GgufType::Array || value.as_array()->type != static_cast<GgufType>(id)) return false;
    const auto floats = value.as_floats().value();
    const auto ints = value.as_ints();
    // Integers that do not fit are none, rather than others.
    if (ints.has_value() == (std::is_floating_point_v<T> || std::is_same_v<T, uint64_t>)) return false;
    for (size_t i = 0; i < values.size(); ++i) {
      if (floats.at(i) != static_cast<double>(values[i])) return false;
      if (ints && ints->at(i) != static_cast<int64_t>(values[i])) return false;
    }
    return floats.size() == values.size();
  };
  for (const uint32_t version : {1u, 2u, 3u}) {
    for (const bool big : {false, true}) {
      SCOPED_TRACE(testing::Message() << name << ", version " << version << (big ? ", big-endian" : ""));
      Bytes b(version, big);
      b.head(0, values.size() + 2);
      for (size_t i = 0; i < values.size(); ++i) b.text("v" + std::to_string(i)).u32(id).number(values[i]);
      b.text("list").u32(9).u32(id).count(values.size());
      for (const T value : values) b.number(value);
      b.text("lists").u32(9).u32(9).count(2).u32(id).count(0).u32(id).count(values.size());
      for (const T value : values) b.number(value);
      const auto file = b.read();
      std::vector<std::byte> bytes;
      const auto copy = rewritten(*file, &bytes);
      EXPECT_EQ(copy->metadata().size(), values.size() + 2);
      for (const GgufFile* one : {file.get(), copy.get()}) {
        for (size_t i = 0; i < values.size(); ++i) {
          const GgufValue* value = one->find("v" + std::to_string(i));
          ASSERT_NE(value, nullptr);
          EXPECT_EQ(gguf_type_name(value->type()), name);
          EXPECT_TRUE(is_value(*value, values[i])) << value->to_string();
        }
        EXPECT_TRUE(is_list(*one->find("list"))) << one->find("list")->to_string();
        const GgufArray* lists = one->find("lists")->as_array();
        ASSERT_EQ(lists->arrays.size(), 2u);
        EXPECT_EQ(lists->arrays[0].count, 0u);
        EXPECT_TRUE(is_list({GgufType::Array, lists->arrays[1]}));
      }
    }
  }
}

TEST(Gguf, EveryNumberType) {
  check_number_type<uint8_t>(0, "u8");
  check_number_type<int8_t>(1, "i8");
  check_number_type<uint16_t>(2, "u16");
  check_number_type<int16_t>(3, "i16");
  check_number_type<uint32_t>(4, "u32");
  check_number_type<int32_t>(5, "i32");
  check_number_type<float>(6, "f32");
  check_number_type<uint64_t>(10, "u64");
  check_number_type<int64_t>(11, "i64");
  check_number_type<double>(12, "f64");
}

TEST(Gguf, BoolsAndTextsThroughACopy) {
  Bytes b;
  b.head(0, 4).text("yes").u32(7).number<uint8_t>(1).text("text").u32(8).text(std::string_view("a\0b", 3));
  b.text("bools").u32(9).u32(7).count(3).number<uint8_t>(1).number<uint8_t>(0).number<uint8_t>(1);
  b.text("texts").u32(9).u32(8).count(2).text("").text("\xff");
  const auto file = b.read();
  std::vector<std::byte> bytes;
  const auto copy = rewritten(*file, &bytes);
  EXPECT_TRUE(copy->get_bool("yes"));
  EXPECT_EQ(copy->find("yes")->type(), GgufType::Bool);
  EXPECT_EQ(copy->get_string("text"), std::string("a\0b", 3));
  EXPECT_EQ(copy->find("bools")->as_array()->type, GgufType::Bool);
  EXPECT_EQ(copy->find("bools")->as_ints(), (std::vector<int64_t>{1, 0, 1}));
  EXPECT_EQ(*copy->find("texts")->as_strings(), (std::vector<std::string_view>{"", "\xff"}));
}

TEST(Gguf, ArraysOfArrays) {
  for (const uint32_t version : {1u, 2u, 3u}) {
    for (const bool big : {false, true}) {
      Bytes b(version, big);
      b.head(0, 2).text("nested").u32(9).u32(9).count(3);  // [[1, 515], ["ab"], [[]]]
      b.u32(2).count(2).number<uint16_t>(1).number<uint16_t>(515);
      b.u32(8).count(1).text("ab");
      b.u32(9).count(1).u32(4).count(0);
      b.text("next").u32(4).u32(7);
      const auto file = b.read();
      EXPECT_EQ(file->get_int("next"), 7);
      const GgufArray* nested = file->find("nested")->as_array();
      ASSERT_NE(nested, nullptr);
      ASSERT_EQ(nested->arrays.size(), 3u);
      EXPECT_EQ(GgufValue(GgufType::Array, nested->arrays[0]).as_ints(), (std::vector<int64_t>{1, 515}));
      EXPECT_EQ(nested->arrays[1].strings.at(0), "ab");
      EXPECT_EQ(nested->arrays[2].arrays.at(0).count, 0u);
      EXPECT_EQ(file->find("nested")->to_string(), "[[..], [..], [..]] (3 array)");
      EXPECT_FALSE(file->find("nested")->as_ints());
      GgufWriter copy;
      copy.set("nested", *file->find("nested"));
      const std::vector<std::byte> bytes = copy.to_bytes();
      const auto again = GgufFile::from_bytes(bytes, "copy.gguf");
      EXPECT_FALSE(again->reversed());
      EXPECT_EQ(GgufValue(GgufType::Array, again->find("nested")->as_array()->arrays[0]).as_ints(),
                (std::vector<int64_t>{1, 515}));
      EXPECT_EQ(again->find("nested")->as_array()->arrays[1].strings.at(0), "ab");
      EXPECT_EQ(again->find("nested")->as_array()->arrays[2].arrays.at(0).type, GgufType::U32);
    }
  }
}

TEST(Gguf, TruncationAtEveryByteIsRefused) {
  GgufWriter writer;
  const std::vector<std::string> words = {"one", "two"};
  const std::vector<float> ones(8, 1);
  writer.set_strings("words", words);
  writer.set_u32("n", 5);
  writer.add_tensor("t", 0, {8}, std::as_bytes(std::span(ones)));
  const std::vector<std::byte> whole = writer.to_bytes();
  for (size_t size = 0; size < whole.size(); ++size) {
    const auto part = std::span(whole).first(size);
    EXPECT_THROW(GgufFile::from_bytes(part, "cut.gguf"), Error) << size;
  }
  EXPECT_NO_THROW(GgufFile::from_bytes(whole, "whole.gguf"));
}

TEST(Gguf, HostileHeadersAreRefusedBeforeAnythingLargeIsTaken) {
  expect_refused(Bytes(3).head(uint64_t{1} << 60, 0), "claims 1152921504606846976 tensors");
  expect_refused(Bytes(3).head(0, uint64_t{1} << 60), "claims 1152921504606846976 metadata values");
  expect_refused(Bytes(3).head(0, 1).u64(uint64_t{1} << 62).raw("x    "),
                 "the name of a metadata value, which takes");
  expect_refused(Bytes(3).head(0, 1).text("k").u32(8).u64(UINT64_MAX),
                 "inside k, which takes 18446744073709551615");
  expect_refused(Bytes(3).head(0, 1).text("k").u32(9).u32(0).u64(UINT64_MAX), "array elements");
  expect_refused(Bytes(3).head(0, 1).text("k").u32(9).u32(10).u64(UINT64_MAX / 8 + 2), "array elements");
  expect_refused(Bytes(3).head(0, 1).text("k").u32(9).u32(8).u64(1 << 20), "strings");
  expect_refused(Bytes(3).head(0, 1).text("k").u32(9).u32(9).u64(UINT64_MAX), "arrays");
  Bytes deep(3);
  deep.head(0, 1).text("k").u32(9);
  for (int i = 0; i < 100000; ++i) deep.u32(9).u64(1);
  expect_refused(deep.u32(4).u64(0), "'k' nests arrays deeper than 8");
  Bytes wide(1);
  wide.head(0, 1).text("k").u32(9).u32(9).count(2).u32(9).count(1).u32(4).count(0).u32(9).count(1 << 16);
  for (int i = 0; i < 1 << 16; ++i) wide.u32(4).count(0);
  expect_refused(wide, "claims 65536 arrays in arrays at byte 57; at most 65533 are read");
  // As many as bytes could hold, but none that a file needs.
  expect_refused(Bytes(3).head(0, (1 << 16) + 1).raw(std::string(1 << 20, '\0')),
                 "claims 65537 metadata values at byte 24; at most 65536 are read");
  expect_refused(Bytes(3).head((1 << 18) + 1, 0).raw(std::string(8 << 20, '\0')),
                 "claims 262145 tensors at byte 24; at most 262144 are read");
  expect_refused(Bytes(3).head(0, 1).text("k").u32(13), "unknown value type 13");
  expect_refused(Bytes(3).head(0, 1).text("").u32(4).u32(1), "a name of 0 bytes");
  expect_refused(Bytes(3).head(0, 2).text("k").u32(4).u32(1).text("k").u32(4).u32(1), "'k' twice");
  expect_refused(Bytes(4).head(0, 0), "GGUF version 4");
  expect_refused(Bytes(0).head(0, 0), "GGUF version 0");
  for (const uint32_t alignment : {0u, 3u, 1u << 21})
    expect_refused(Bytes(3).head(0, 1).text("general.alignment").u32(4).u32(alignment), "power of two");
}

TEST(Gguf, BadTensorsAreRefused) {
  const auto one = [](const std::vector<uint64_t>& sizes, uint32_t type, uint64_t offset) {
    return Bytes(3).head(1, 0).tensor("t", sizes, type, offset).pad().raw(std::string(64, 'x'));
  };
  EXPECT_NO_THROW(one({16}, 0, 0).read());
  expect_refused(one({17}, 0, 0), "takes 68 bytes at offset 0");
  expect_refused(one({8}, 0, 64), "takes 32 bytes at offset 64");
  expect_refused(one({1}, 0, UINT64_MAX - 31), "the file ends");
  expect_refused(one({8}, 0, 4), "not a multiple of the alignment 32");
  expect_refused(one({16}, 2, 0), "rows of 16 elements; q4_0 needs a multiple of 32");
  expect_error(ErrorKind::Unsupported, "test.gguf: tensor 't' is of the unknown type 999, which is newer",
               [&] { one({16}, 999, 0).read(); });
  expect_refused(one({uint64_t{1} << 32, uint64_t{1} << 32}, 0, 0), "more elements than any memory holds");
  expect_refused(one({0, uint64_t{1} << 32, uint64_t{1} << 32}, 0, 0), "more elements than any memory holds");
  expect_refused(one({uint64_t{1} << 62}, 0, 0), "more bytes than any memory holds");
  expect_refused(one({UINT64_MAX}, 0, 0), "more elements than any memory holds");
  expect_refused(one(std::vector<uint64_t>(9, 1), 0, 0), "9 axes");
  expect_refused(
      Bytes(3).head(2, 0).tensor("t", {1}, 0, 0).tensor("t", {1}, 0, 32).pad().raw(std::string(64, 'x')),
      "'t' twice");
  expect_refused(
      Bytes(3).head(2, 0).tensor("a", {9}, 0, 0).tensor("b", {1}, 0, 32).pad().raw(std::string(64, 'x')),
      "'a' and 'b' overlap");
}

// The published numbers of all types; for those we compute with, also what our own tables say.
TEST(Gguf, TypesAreThePublishedOnes) {
  struct Published {
    uint32_t id;
    std::string_view name;
    uint32_t elements;
    double bits;  // per element
  };
  constexpr Published kPublished[] = {{0, "f32", 1, 32},
                                      {1, "f16", 1, 16},
                                      {2, "q4_0", 32, 4.5},
                                      {3, "q4_1", 32, 5},
                                      {6, "q5_0", 32, 5.5},
                                      {7, "q5_1", 32, 6},
                                      {8, "q8_0", 32, 8.5},
                                      {9, "q8_1", 32, 9},
                                      {10, "q2_k", 256, 2.625},
                                      {11, "q3_k", 256, 3.4375},
                                      {12, "q4_k", 256, 4.5},
                                      {13, "q5_k", 256, 5.5},
                                      {14, "q6_k", 256, 6.5625},
                                      {15, "q8_k", 256, 9.125},
                                      {16, "iq2_xxs", 256, 2.0625},
                                      {17, "iq2_xs", 256, 2.3125},
                                      {18, "iq3_xxs", 256, 3.0625},
                                      {19, "iq1_s", 256, 1.5625},
                                      {20, "iq4_nl", 32, 4.5},
                                      {21, "iq3_s", 256, 3.4375},
                                      {22, "iq2_s", 256, 2.5625},
                                      {23, "iq4_xs", 256, 4.25},
                                      {24, "i8", 1, 8},
                                      {25, "i16", 1, 16},
                                      {26, "i32", 1, 32},
                                      {27, "i64", 1, 64},
                                      {28, "f64", 1, 64},
                                      {29, "iq1_m", 256, 1.75},
                                      {30, "bf16", 1, 16},
                                      {34, "tq1_0", 256, 1.6875},
                                      {35, "tq2_0", 256, 2.0625},
                                      {39, "mxfp4", 32, 4.25},
                                      {40, "nvfp4", 64, 4.5},
                                      {41, "q1_0", 128, 1.125}};
  for (const Published& one : kPublished) {
    const GgmlType* type = ggml_type(one.id);
    ASSERT_NE(type, nullptr) << one.name;
    EXPECT_EQ(type->name, one.name);
    EXPECT_EQ(type->block_elements, one.elements);
    EXPECT_EQ(type->block_bytes * 8, one.bits * one.elements) << one.name;
    EXPECT_EQ(type->quant.has_value(), quant_type_from_ggml_id(one.id).has_value());
    if (type->quant) {
      EXPECT_EQ(quant_traits(*type->quant).block_bytes, static_cast<int>(type->block_bytes));
    }
    if (type->dtype) {
      EXPECT_EQ(dtype_bits(*type->dtype), static_cast<int>(one.bits));
    }
  }
  constexpr size_t kRows = 0
#define BW_GGML_TYPE(...) +1
#include "tables/ggml_types.def"
      ;
  EXPECT_EQ(std::size(kPublished), kRows);
  EXPECT_TRUE(ggml_type(25)->dtype.has_value());
  EXPECT_FALSE(ggml_type(24)->usable());
  EXPECT_EQ(ggml_type(4), nullptr);
}

TEST(Gguf, OtherFilesAreToldApart) {
  const std::vector<std::byte> nothing;
  expect_error(ErrorKind::Format, "it is not a GGUF file", [&] { GgufFile::from_bytes(nothing, "x"); });
  const std::string other = "PK\x03\x04 and more";
  expect_error(ErrorKind::Format, "it is not a GGUF file",
               [&] { GgufFile::from_bytes(std::as_bytes(std::span(other)), "x"); });
  expect_error(ErrorKind::Io, "no-such-file.gguf", [&] { GgufFile::open("no-such-file.gguf"); });
}

TEST(Gguf, WrongKindsOfValuesAreNamed) {
  GgufWriter writer;
  writer.set_string("text", "seven");
  writer.set_f32("half", 0.5f);
  const std::vector<std::byte> bytes = writer.to_bytes();
  const auto file = GgufFile::from_bytes(bytes, "test.gguf");
  expect_error(ErrorKind::Format, "'text' is \"seven\" (string), not a whole number",
               [&] { file->get_int("text"); });
  expect_error(ErrorKind::Format, "not a whole number", [&] { file->get_int("half"); });
  expect_error(ErrorKind::Format, "has no metadata value 'absent'", [&] { file->get_int("absent"); });
  EXPECT_EQ(file->get_int("absent", 3), 3);
  expect_error(ErrorKind::InvalidArgument, "'text' is there already", [&] { writer.set_u32("text", 1); });
  expect_error(ErrorKind::InvalidArgument, "takes 4 bytes, got 0",
               [&] { writer.add_tensor("t", 0, {1}, {}); });
}

TEST(Gguf, TheWriterRefusesWhatTheReaderWould) {
  for (const uint64_t alignment : {uint64_t{0}, uint64_t{48}, uint64_t{1} << 21, uint64_t{1} << 32})
    expect_error(ErrorKind::InvalidArgument, "it must be a power of two up to 1048576",
                 [&] { GgufWriter writer(alignment); });
  EXPECT_EQ(GgufFile::from_bytes(GgufWriter(1 << 20).to_bytes(), "largest.gguf")->alignment(), 1u << 20);
  GgufWriter writer;
  expect_error(ErrorKind::InvalidArgument, "has rows of 16 elements; q4_0 needs a multiple of 32",
               [&] { writer.add_tensor("t", 2, {2, 16}); });
  expect_error(ErrorKind::InvalidArgument, "has rows of 1 elements",
               [&] { writer.add_tensor("t", 2, std::initializer_list<int64_t>{}); });
  expect_error(ErrorKind::InvalidArgument, "takes more bytes than any memory holds",
               [&] { writer.add_tensor("t", 0, {int64_t{1} << 62}); });
  expect_error(ErrorKind::InvalidArgument, "a name of 0 bytes", [&] { writer.set_u32("", 1); });
  expect_error(ErrorKind::InvalidArgument, "a name of 65536 bytes; 1 to 65535 are allowed",
               [&] { writer.set_u32(std::string(65536, 'k'), 1); });
  writer.add_tensor("t", 0, {1});
  expect_error(ErrorKind::InvalidArgument, "tensor 't' is there already",
               [&] { writer.add_tensor("t", 0, {1}); });
  // A name whose bytes did not fit is free again.
  expect_error(ErrorKind::InvalidArgument, "takes 4 bytes, got 0",
               [&] { writer.add_tensor("u", 0, {1}, {}); });
  writer.add_tensor("u", 0, {1});
  EXPECT_EQ(writer.data_bytes(), 64u);
}

TEST(Gguf, ManyNamesAreWrittenAndReadAndMoreRefused) {
  GgufWriter writer;
  for (uint64_t i = 0; i < kMostGgufTensors; ++i) writer.add_tensor("t" + std::to_string(i), 0, {0});
  for (uint64_t i = 0; i < kMostGgufValues; ++i) writer.set_u32("v" + std::to_string(i), 1);
  expect_error(ErrorKind::InvalidArgument, "more than 262144 tensors",
               [&] { writer.add_tensor("t", 0, {0}); });
  expect_error(ErrorKind::InvalidArgument, "more than 65536 metadata values",
               [&] { writer.set_u32("v", 1); });
  const std::vector<std::byte> bytes = writer.to_bytes();
  const auto file = GgufFile::from_bytes(bytes, "many.gguf");
  EXPECT_EQ(file->tensors().size(), kMostGgufTensors);
  EXPECT_EQ(file->metadata().size(), kMostGgufValues);
}

/// Arrays in arrays, `depth` of them, the innermost one empty.
GgufArray nested(int depth) {
  GgufArray array;
  for (int i = 1; i < depth; ++i) {
    GgufArray outer;
    outer.type = GgufType::Array;
    outer.count = 1;
    outer.arrays.push_back(std::move(array));
    array = std::move(outer);
  }
  return array;
}

TEST(Gguf, TheWriterRefusesArraysThatTheReaderWould) {
  const std::vector<std::string> many(kMostGgufStrings / 4);
  const std::vector<std::string> one(1);
  GgufArray text, wide;
  text.type = GgufType::String;
  text.count = 1;
  text.strings.emplace_back("a");
  wide.type = GgufType::Array;
  wide.count = kMostGgufInnerArrays - 7;
  wide.arrays.resize(wide.count);
  GgufWriter writer;
  for (const char* key : {"a", "b", "c"}) writer.set_strings(key, many);
  writer.set_strings("d", std::span(many).first(many.size() - 2));
  writer.set("text", {GgufType::Array, text});
  writer.set("last", {GgufType::Array, text});
  expect_error(ErrorKind::InvalidArgument, "'more' there are more than 4194304 strings in arrays",
               [&] { writer.set_strings("more", one); });
  expect_error(ErrorKind::InvalidArgument, "'more' there are more than 4194304 strings in arrays",
               [&] { writer.set("more", {GgufType::Array, text}); });
  expect_error(ErrorKind::InvalidArgument, "'more' nests arrays deeper than 8",
               [&] { writer.set("more", {GgufType::Array, nested(9)}); });
  expect_error(ErrorKind::InvalidArgument, "'more' nests arrays deeper than 8",
               [&] { writer.set("more", {GgufType::Array, nested(10000)}); });
  writer.set("deep", {GgufType::Array, nested(8)});  // seven arrays in arrays
  writer.set("wide", {GgufType::Array, wide});
  expect_error(ErrorKind::InvalidArgument, "'more' there are more than 65536 arrays in arrays",
               [&] { writer.set("more", {GgufType::Array, nested(2)}); });
  // What was refused took no name and left no bytes.
  writer.set_u32("more", 3);
  const std::vector<std::byte> bytes = writer.to_bytes();
  const auto file = GgufFile::from_bytes(bytes, "most.gguf");
  EXPECT_EQ(file->metadata().size(), 9u);
  EXPECT_EQ(file->find("a")->as_strings()->size(), many.size());
  EXPECT_EQ(file->find("wide")->as_array()->arrays.size(), kMostGgufInnerArrays - 7);
  EXPECT_EQ(file->get_int("more"), 3);
}

TEST(Gguf, TheWriterSaysNoOtherAlignmentThanItsOwn) {
  const std::string key = "general.alignment";
  for (const uint64_t alignment : {uint64_t{8}, uint64_t{32}}) {
    GgufWriter writer(alignment);
    const std::string message =
        "'general.alignment' must be the alignment of the writer, " + std::to_string(alignment);
    expect_error(ErrorKind::InvalidArgument, message, [&] { writer.set_u32(key, 64); });
    expect_error(ErrorKind::InvalidArgument, message, [&] { writer.set_u64(key, UINT64_MAX); });
    expect_error(ErrorKind::InvalidArgument, message, [&] { writer.set_i32(key, -32); });
    expect_error(ErrorKind::InvalidArgument, message, [&] { writer.set_f32(key, 32); });
    expect_error(ErrorKind::InvalidArgument, message, [&] { writer.set_string(key, "32"); });
    expect_error(ErrorKind::InvalidArgument, message, [&] { writer.set_i32s(key, std::vector{32}); });
    expect_error(ErrorKind::InvalidArgument, message,
                 [&] { writer.set(key, {GgufType::U32, uint64_t{64}}); });
    writer.set(key, {GgufType::U32, alignment});
    expect_error(ErrorKind::InvalidArgument, "is there already", [&] { writer.set_u64(key, alignment); });
    const std::vector<std::byte> bytes = writer.to_bytes();
    const auto file = GgufFile::from_bytes(bytes, "test.gguf");
    EXPECT_EQ(file->alignment(), alignment);
    EXPECT_EQ(file->metadata().size(), 1u);
  }
}

TEST(Gguf, TensorsCanComeWhenTheFileIsWritten) {
  const std::string path = testing::TempDir() + "gguf-written-late.gguf";
  const std::vector<float> values = {1, 2, 3, 4, 5, 6};
  const auto bytes = std::as_bytes(std::span(values));
  GgufWriter late, early;
  late.add_tensor("a", 0, {2});
  late.add_tensor("b", 0, {2, 2});
  early.add_tensor("a", 0, {2}, bytes.first(8));
  early.add_tensor("b", 0, {2, 2}, bytes.subspan(8));
  EXPECT_EQ(late.data_bytes(), 64u);
  late.write(path, [&](size_t index) { return index == 0 ? bytes.first(8) : bytes.subspan(8); });
  const std::vector<std::byte> expected = early.to_bytes();
  const std::vector<std::byte> head = late.head();
  EXPECT_EQ(head.size() + late.data_bytes(), expected.size());
  EXPECT_TRUE(std::equal(head.begin(), head.end(), expected.begin()));
  const os::MappedFile file(path);
  EXPECT_TRUE(std::equal(file.bytes().begin(), file.bytes().end(), expected.begin(), expected.end()));
  expect_error(ErrorKind::InvalidArgument, "'b' takes 16 bytes, got 8",
               [&] { late.write(path, [&](size_t) { return bytes.first(8); }); });
  std::remove(path.c_str());
}

}  // namespace
}  // namespace beeswax::io
