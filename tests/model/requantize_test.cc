// SPDX-License-Identifier: Apache-2.0
// Model files in other types: every mixture read back and compared with the original, within the error that
// docs/quant-formats.md states for each format; with q8_0 byte for byte what another program wrote.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>
#include <tuple>

#include "beeswax/qtensor.h"
#include "generate/generator.h"
#include "io/gguf_writer.h"
#include "models/gguf_tokenizer.h"
#include "models/model.h"
#include "models/requantize.h"
#include "support/expect_error.h"
#include "support/files.h"

namespace beeswax {
namespace {

using models::RequantizeOptions;

// Root mean square error over that of normal numbers, as docs/quant-formats.md has it; half a unit in the
// last place for floats.
double documented_error(std::string_view type) {
  const std::map<std::string_view, double> errors = {
      {"f32", 0},      {"f16", 0x1p-11}, {"bf16", 0x1p-8}, {"q4_0", 0.086}, {"q4_1", 0.078},
      {"q5_0", 0.043}, {"q5_1", 0.038},  {"q8_0", 0.0053}, {"q2_k", 0.26},  {"q3_k", 0.14},
      {"q4_k", 0.070}, {"q5_k", 0.035},  {"q6_k", 0.017}};
  return errors.at(type);
}

class Requantize : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() /
              ("beeswax_requantize_" + std::to_string(std::random_device{}()));
    std::filesystem::create_directory(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  // A file of f32 tensors of normal numbers, with rows that fit blocks of 256, of 32, and none.
  std::string write_source() {
    io::GgufWriter writer(64);
    writer.set_string("general.architecture", "llama");
    writer.set_u32("general.file_type", 0);
    writer.set_u32("llama.attention.head_count", 8);
    writer.set_u32("llama.attention.head_count_kv", 2);
    writer.set_string("general.note", "kept");
    const std::pair<std::string, Shape> tensors[] = {{"token_embd.weight", {40, 512}},
                                                     {"output.weight", {40, 512}},
                                                     {"output_norm.weight", {512}},
                                                     {"blk.0.attn_q.weight", {64, 512}},
                                                     {"blk.0.attn_v.weight", {64, 512}},
                                                     {"blk.0.attn_output.weight", {64, 512}},
                                                     {"blk.0.attn_q.bias", {64}},
                                                     {"blk.0.ffn_gate_inp.weight", {4, 512}},
                                                     {"blk.0.ffn_down_exps.weight", {4, 16, 256}},
                                                     {"blk.0.ffn_up.weight", {256, 96}},
                                                     {"blk.0.ffn_gate.weight", {256, 40}}};
    uint32_t seed = 1;
    std::vector<std::vector<float>> values;
    for (const auto& [name, shape] : tensors) {
      std::mt19937 random(seed++);
      std::normal_distribution<float> normal;
      values.emplace_back(static_cast<size_t>(shape.elem_count()));
      for (float& value : values.back()) value = normal(random);
      writer.add_tensor(name, 0, shape, std::as_bytes(std::span(values.back())));
    }
    writer.write(path("in.gguf"));
    return path("in.gguf");
  }

  std::shared_ptr<const io::GgufFile> convert(const io::GgufFile& in, const std::string& out,
                                              RequantizeOptions options, const char* type) {
    options.mixture = &models::parse_mixture(type);
    models::requantize(in, path(out), options, models::plan_requantize(in, options));
    return io::GgufFile::open(path(out));
  }

 private:
  std::filesystem::path folder_;
};

std::vector<float> values_of(const io::GgufTensor& tensor) {
  if (tensor.type->quant)
    return QTensor::from_bytes(tensor.bytes, tensor.shape, *tensor.type->quant).dequantize().to_vec<float>();
  return Tensor::from_bytes(tensor.bytes, tensor.shape, *tensor.type->dtype)
      .to_dtype(DType::F32)
      .to_vec<float>();
}

double relative_error(const std::vector<float>& a, const std::vector<float>& b,
                      const std::vector<float>& weights = {}) {
  double error = 0, size = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double w = weights.empty() ? 1 : static_cast<double>(weights[i % weights.size()]);
    error += w * std::pow(static_cast<double>(a[i]) - static_cast<double>(b[i]), 2);
    size += w * std::pow(static_cast<double>(b[i]), 2);
  }
  return std::sqrt(error / size);
}

TEST_F(Requantize, EveryMixtureKeepsTheValues) {
  const auto in = io::GgufFile::open(write_source());
  for (const models::Mixture& mixture : models::mixtures()) {
    const auto out = convert(*in, "out.gguf", {}, mixture.name.data());
    EXPECT_EQ(out->get_int("general.file_type"), mixture.file_type);
    EXPECT_EQ(out->get_int("general.quantization_version"), 2);
    EXPECT_EQ(out->get_string("general.note"), "kept");
    EXPECT_EQ(out->alignment(), 64u);
    ASSERT_EQ(out->tensors().size(), in->tensors().size());
    for (size_t i = 0; i < in->tensors().size(); ++i) {
      const io::GgufTensor &a = in->tensors()[i], &b = out->tensors()[i];
      EXPECT_EQ(a.name, b.name);
      EXPECT_EQ(a.shape, b.shape);
      // The samples are small, so an error may lie a little beside that of endless ones.
      EXPECT_LE(relative_error(values_of(b), values_of(a)), documented_error(b.type->name) * 1.06)
          << mixture.name << " " << b.name << " " << b.type->name;
    }
    for (const char* name : {"output_norm.weight", "blk.0.attn_q.bias", "blk.0.ffn_gate_inp.weight"})
      EXPECT_EQ(out->find_tensor(name)->type->name, "f32") << mixture.name;
  }
}

// A file of another machine, byte by byte: big-endian, with a matrix of each dense type and a vector.
TEST_F(Requantize, FilesInTheOtherByteOrder) {
  if (std::endian::native != std::endian::little) GTEST_SKIP() << "the file is this machine's";
  std::vector<std::byte> file;
  const auto raw = [&](std::string_view text) {
    for (const char c : text) file.push_back(static_cast<std::byte>(c));
  };
  const auto number = [&](uint64_t value, int bytes) {
    for (int i = bytes; i-- > 0;) file.push_back(static_cast<std::byte>(value >> (8 * i)));
  };
  const auto text = [&](std::string_view value) {
    number(value.size(), 8);
    raw(value);
  };
  const auto write = [&](uint32_t third_type, int third_bytes) {
    file.clear();
    raw("GGUF");
    for (const auto& [value, bytes] : {std::pair{3u, 4}, {4u, 8}, {2u, 8}}) number(value, bytes);
    text("general.architecture");
    number(8, 4);
    text("llama");
    text("some.numbers");
    for (const auto& [value, bytes] : {std::pair{9u, 4}, {3u, 4}, {2u, 8}}) number(value, bytes);
    number(static_cast<uint16_t>(-2), 2);  // i16
    number(515, 2);
    const std::tuple<const char*, int, uint32_t> tensors[] = {{"blk.0.attn_q.weight", 2, 0},
                                                              {"blk.0.attn_k.weight", 2, 1},
                                                              {"blk.0.attn_v.weight", 2, third_type},
                                                              {"output_norm.weight", 1, 0}};
    for (size_t i = 0; i < 4; ++i) {
      const auto& [name, axes, type] = tensors[i];
      text(name);
      number(static_cast<uint64_t>(axes), 4);
      for (int axis = 0; axis < axes; ++axis) number(axis == 0 ? 32 : 1, 8);
      number(type, 4);
      number(i * 128, 8);
    }
    while (file.size() % 32 != 0) number(0, 1);
    for (int i = 0; i < 32; ++i) number(0x3fc00000, 4);  // 1.5
    for (int i = 0; i < 32; ++i) number(0x3e00, 2);
    for (int i = 0; i < 64; ++i) number(0, 1);
    for (int i = 0; i < 32; ++i) number(0x3fc0, third_bytes);
    for (int i = 0; i < 128 - 32 * third_bytes; ++i) number(0, 1);
    for (int i = 0; i < 32; ++i) number(0xc0200000, 4);  // -2.5
    return io::GgufFile::from_bytes(file, "other.gguf");
  };
  const auto in = write(30, 2);  // bf16
  ASSERT_TRUE(in->reversed());
  for (const char* type : {"f32", "f16", "bf16", "q8_0"}) {
    const auto out = convert(*in, "out.gguf", {}, type);
    EXPECT_FALSE(out->reversed());
    EXPECT_EQ(out->find("some.numbers")->as_ints(), (std::vector<int64_t>{-2, 515}));
    for (const char* name : {"blk.0.attn_q.weight", "blk.0.attn_k.weight", "blk.0.attn_v.weight"})
      for (const float value : values_of(*out->find_tensor(name))) EXPECT_NEAR(value, 1.5f, 0.001) << type;
    for (const float value : values_of(*out->find_tensor("output_norm.weight"))) EXPECT_EQ(value, -2.5f);
  }
  const auto blocks = write(8, 1);  // 32 of q8_0 take 34 bytes
  EXPECT_ERROR(convert(*blocks, "out.gguf", {.from_blocks = true}, "q8_0"), Unsupported, "other byte order");
}

TEST_F(Requantize, TypesAfterTheMixture) {
  const auto in = io::GgufFile::open(write_source());
  const auto type = [](const io::GgufFile& file, const char* name) {
    return std::string(file.find_tensor(name)->type->name);
  };
  const auto out = convert(*in, "out.gguf", {}, "q4_k_m");
  EXPECT_EQ(type(*out, "token_embd.weight"), "q4_k");
  EXPECT_EQ(type(*out, "output.weight"), "q6_k");
  EXPECT_EQ(type(*out, "blk.0.attn_v.weight"), "q6_k");
  EXPECT_EQ(type(*out, "blk.0.ffn_up.weight"), "q5_0");
  EXPECT_EQ(type(*out, "blk.0.ffn_gate.weight"), "f16");
  const auto pure = convert(*in, "pure.gguf", {.pure = true, .embedding = io::ggml_type(8)}, "q4_k_m");
  EXPECT_EQ(type(*pure, "token_embd.weight"), "q8_0");
  EXPECT_EQ(type(*pure, "output.weight"), "q8_0");
  EXPECT_EQ(type(*pure, "blk.0.attn_v.weight"), "q4_k");
}

// Both formats of importance matrices, with the same content.
std::vector<std::byte> old_imatrix(const std::map<std::string, std::vector<float>>& entries, int32_t calls) {
  std::vector<std::byte> out;
  const auto put = [&](const void* data, size_t size) {
    const auto* bytes = static_cast<const std::byte*>(data);
    out.insert(out.end(), bytes, bytes + size);
  };
  const auto number = [&](size_t value) {
    const auto n = static_cast<int32_t>(value);
    put(&n, 4);
  };
  number(entries.size());
  for (const auto& [name, values] : entries) {
    number(name.size());
    put(name.data(), name.size());
    number(static_cast<size_t>(calls));
    number(values.size());
    for (const float value : values) {
      const float sum = value * static_cast<float>(calls);
      put(&sum, 4);
    }
  }
  return out;
}

std::map<std::string, std::vector<float>> some_importance() {
  std::vector<float> q(512), experts(4 * 256);
  for (size_t i = 0; i < q.size(); ++i) q[i] = i % 16 == 0 ? 64.0f : 0.25f;
  for (size_t i = 0; i < experts.size(); ++i) experts[i] = (i + i / 256) % 8 == 0 ? 32.0f : 0.5f;
  return {{"blk.0.attn_q.weight", q}, {"blk.0.ffn_down_exps.weight", experts}};
}

TEST_F(Requantize, ImportanceLowersTheWeightedError) {
  const auto in = io::GgufFile::open(write_source());
  const auto entries = some_importance();
  const io::Imatrix imatrix = io::Imatrix::from_bytes(old_imatrix(entries, 4), "i.dat");
  EXPECT_EQ(imatrix.size(), 2u);
  for (const char* type : {"q4_0", "q4_1", "q5_0", "q5_1", "q2_k", "q3_k_s", "q4_k_s", "q5_k_s", "q6_k"}) {
    const auto plain = convert(*in, "plain.gguf", {}, type);
    const auto weighted = convert(*in, "weighted.gguf", {.importance = &imatrix}, type);
    EXPECT_EQ(weighted->get_int("quantize.imatrix.entries_count"), 2);
    for (const auto& [name, weights] : entries) {
      const std::vector<float> exact = values_of(*in->find_tensor(name));
      // Row by row, each expert by its own.
      const int64_t rows = name.ends_with("exps.weight") ? 16 : 64;
      std::vector<float> all;
      for (size_t first = 0; first < weights.size(); first += name.ends_with("exps.weight") ? 256 : 512)
        for (int64_t row = 0; row < rows; ++row)
          all.insert(all.end(), weights.begin() + static_cast<std::ptrdiff_t>(first),
                     weights.begin() + static_cast<std::ptrdiff_t>(first) +
                         (name.ends_with("exps.weight") ? 256 : 512));
      EXPECT_LT(relative_error(values_of(*weighted->find_tensor(name)), exact, all),
                0.9 * relative_error(values_of(*plain->find_tensor(name)), exact, all))
          << type << " " << name;
    }
    EXPECT_TRUE(std::ranges::equal(plain->find_tensor("blk.0.attn_output.weight")->bytes,
                                   weighted->find_tensor("blk.0.attn_output.weight")->bytes));
  }
}

TEST_F(Requantize, BothFormatsOfImportance) {
  io::GgufWriter writer;
  std::vector<std::vector<float>> kept;
  for (const auto& [name, values] : some_importance()) {
    const int64_t rows = values.size() == 1024 ? 4 : 1;
    // The third expert was never chosen.
    std::vector<float> counts(static_cast<size_t>(rows), 8.0f), sums = values;
    if (rows == 4) counts[2] = 0;
    for (float& sum : sums) sum *= 8;
    kept.push_back(sums);
    writer.add_tensor(name + ".in_sum2", 0, {rows, static_cast<int64_t>(values.size()) / rows},
                      std::as_bytes(std::span(kept.back())));
    kept.push_back(counts);
    writer.add_tensor(name + ".counts", 0, {rows, 1}, std::as_bytes(std::span(kept.back())));
  }
  // The views point into vectors that moved; the vectors' own memory did not.
  const std::vector<std::byte> bytes = writer.to_bytes();
  const io::Imatrix a = io::Imatrix::from_bytes(bytes, "i.gguf");
  const io::Imatrix b = io::Imatrix::from_bytes(old_imatrix(some_importance(), 8), "i.dat");
  EXPECT_EQ(*a.find("blk.0.attn_q.weight"), *b.find("blk.0.attn_q.weight"));
  const std::vector<float>&x = *a.find("blk.0.ffn_down_exps.weight"),
        &y = *b.find("blk.0.ffn_down_exps.weight");
  for (size_t i = 0; i < x.size(); ++i) EXPECT_EQ(x[i], i / 256 == 2 ? 1.0f : y[i]) << i;
  EXPECT_EQ(a.find("absent"), nullptr);
}

TEST_F(Requantize, DamagedImportanceIsRefused) {
  const std::vector<std::byte> whole = old_imatrix(some_importance(), 2);
  for (size_t size = 0; size < whole.size(); size += size < 80 ? 1 : 131)
    EXPECT_ERROR(io::Imatrix::from_bytes(std::span(whole).first(size), "i.dat"), Format, "i.dat");
  std::vector<std::byte> huge = whole;
  const int32_t many = 0x7FFFFFFF;
  std::memcpy(huge.data(), &many, 4);
  EXPECT_ERROR(io::Imatrix::from_bytes(huge, "i.dat"), Format, "claims 2147483647 entries");
  EXPECT_ERROR(io::Imatrix::from_bytes(old_imatrix({{"a", {1, -1}}}, 1), "i.dat"), Format, "not negative");
  EXPECT_ERROR(io::Imatrix::from_bytes(old_imatrix({{"a", {NAN}}}, 1), "i.dat"), Format, "finite");
  EXPECT_ERROR(io::Imatrix::open(path("absent")), Io, "absent");
}

// A file's name may be what another one is called while it is written.
TEST_F(Requantize, ReadsAPartialFile) {
  const std::string source = path("model.gguf.partial");
  std::filesystem::copy_file(write_source(), source);
  const auto size = std::filesystem::file_size(source);
  const auto in = io::GgufFile::open(source);
  EXPECT_GT(convert(*in, "model.gguf", {}, "q8_0")->tensors().size(), 0u);
  EXPECT_EQ(std::filesystem::file_size(source), size);
}

// Matrices of integers are tables, not weights.
TEST_F(Requantize, IntegersStayAsTheyAre) {
  std::vector<int32_t> numbers(64);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<int32_t>((1 << 24) + i);
  io::GgufWriter writer;
  writer.set_string("general.architecture", "llama");
  writer.set_string("quantize.imatrix.dataset", "of another matrix");
  writer.add_tensor("map.weight", 26, {2, 32}, std::as_bytes(std::span(numbers)));
  const std::vector<std::byte> bytes = writer.to_bytes();
  const auto in = io::GgufFile::from_bytes(bytes, "tables.gguf");
  for (const char* type : {"f32", "f16", "q8_0"}) {
    const auto out = convert(*in, "out.gguf", {}, type);
    ASSERT_EQ(out->tensors().size(), 1u);
    EXPECT_EQ(out->tensors()[0].type->dtype, DType::I32) << type;
    EXPECT_TRUE(std::ranges::equal(out->tensors()[0].bytes, std::as_bytes(std::span(numbers)))) << type;
    EXPECT_EQ(out->find("quantize.imatrix.dataset"), nullptr);
  }
}

// A file that takes another one's place lets no one else read it.
TEST_F(Requantize, KeepsPermissions) {
  const auto in = io::GgufFile::open(write_source());
  convert(*in, "private.gguf", {}, "q8_0");
  const auto mine = std::filesystem::perms::owner_read | std::filesystem::perms::owner_write;
  std::filesystem::permissions(path("private.gguf"), mine);
  convert(*in, "private.gguf", {}, "q4_0");
  EXPECT_EQ(std::filesystem::status(path("private.gguf")).permissions(), mine);
}

TEST_F(Requantize, MistakesAreNamedAndLeaveNoFile) {
  const std::string source = write_source();
  const auto in = io::GgufFile::open(source);
  RequantizeOptions options{.mixture = &models::parse_mixture("q8_0")};
  const auto plan = models::plan_requantize(*in, options);
  EXPECT_ERROR(models::requantize(*in, source, options, plan), InvalidArgument, "is the file that is read");
  std::filesystem::create_symlink(source, path("link.gguf"));
  EXPECT_ERROR(models::requantize(*in, path("link.gguf"), options, plan), InvalidArgument,
               "is the file that is read");
  {  // Its importance matrix is read, too.
    const std::vector<std::byte> entries = old_imatrix(some_importance(), 1);
    const std::string matrix = path("importance.dat");
    std::ofstream(matrix, std::ios::binary)
        .write(reinterpret_cast<const char*>(entries.data()), static_cast<std::streamsize>(entries.size()));
    const io::Imatrix importance = io::Imatrix::open(matrix);
    RequantizeOptions weighted = options;
    weighted.importance = &importance;
    EXPECT_ERROR(models::requantize(*in, matrix, weighted, plan), InvalidArgument,
                 "is the file that is read");
    EXPECT_EQ(std::filesystem::file_size(matrix), entries.size());
    std::filesystem::remove(matrix);
  }
  EXPECT_ERROR(models::requantize(*in, path("no/where.gguf"), options, plan), Io, "where.gguf");
  EXPECT_THROW(models::requantize(*in, path("stopped.gguf"), options, plan,
                                  [](size_t index, int64_t) {
                                    if (index == 3) throw 7;
                                  }),
               int);
  EXPECT_EQ(test::files_beginning_with(path("stopped.gguf")), 0);
  EXPECT_EQ(io::GgufFile::open(source)->tensors().size(), in->tensors().size());

  const auto small = convert(*in, "q8_0.gguf", {}, "q8_0");
  EXPECT_ERROR(convert(*small, "again.gguf", {}, "q4_0"), Unsupported, "--allow-requantize");
  const auto again = convert(*small, "again.gguf", {.from_blocks = true}, "q4_0");
  EXPECT_EQ(again->find_tensor("blk.0.attn_q.weight")->type->name, "q4_0");
  // The same type again is a copy.
  const auto same = convert(*small, "same.gguf", {}, "q8_0");
  EXPECT_TRUE(std::ranges::equal(same->find_tensor("blk.0.attn_q.weight")->bytes,
                                 small->find_tensor("blk.0.attn_q.weight")->bytes));

  const io::Imatrix other = io::Imatrix::from_bytes(old_imatrix({{"elsewhere", {1}}}, 1), "i.dat");
  EXPECT_ERROR(convert(*in, "x.gguf", {.importance = &other}, "q4_k"), Format, "names no tensor");
  const io::Imatrix narrow = io::Imatrix::from_bytes(old_imatrix({{"blk.0.attn_q.weight", {1}}}, 1), "i.dat");
  EXPECT_ERROR(convert(*in, "x.gguf", {.importance = &narrow}, "q4_k"), Format, "512 columns");
}

TEST_F(Requantize, WhatCannotBeHeldIsRefused) {
  for (const float bad : {NAN, std::numeric_limits<float>::infinity(), 1e30f}) {
    io::GgufWriter writer;
    std::vector<float> values(512, 1);
    values[300] = bad;
    writer.add_tensor("a.weight", 0, {2, 256}, std::as_bytes(std::span(values)));
    writer.write(path("bad.gguf"));
    const auto in = io::GgufFile::open(path("bad.gguf"));
    for (const char* type : {"q8_0", "q4_k", "f16"}) {
      EXPECT_ERROR(convert(*in, "x.gguf", {}, type), Format, "'a.weight' holds");
      EXPECT_FALSE(std::filesystem::exists(path("x.gguf")));
    }
  }
}

TEST_F(Requantize, PartsBecomeOne) {
  const std::vector<float> values(64, 0.5f);
  for (const uint32_t part : {0u, 1u}) {
    io::GgufWriter writer;
    writer.set_string("general.architecture", "llama");
    writer.set_u32("split.no", part);
    writer.set_u32("split.count", 2);
    writer.set_i32("split.tensors.count", 2);
    writer.add_tensor(part == 0 ? "a.weight" : "b.weight", 0, {2, 32}, std::as_bytes(std::span(values)));
    writer.write(path(part == 0 ? "m-00001-of-00002.gguf" : "m-00002-of-00002.gguf"));
  }
  const auto in = io::GgufFile::open(path("m-00001-of-00002.gguf"));
  const auto out = convert(*in, "whole.gguf", {}, "q8_0");
  EXPECT_EQ(out->tensors().size(), 2u);
  EXPECT_EQ(out->find("split.count"), nullptr);
  EXPECT_EQ(out->find_tensor("b.weight")->type->name, "q8_0");
  EXPECT_ERROR(convert(*in, "m-00002-of-00002.gguf", {}, "q8_0"), InvalidArgument,
               "is the file that is read");
}

// The q8_0 file was written by another program, from the f32 file.
TEST_F(Requantize, TheSameBytesAsAnotherProgram) {
  const std::string models = std::string(BW_SOURCE_DIR) + "/../shared/models/stories260K-";
  if (!std::filesystem::exists(models + "q8_0.gguf")) GTEST_SKIP() << "no " << models << "q8_0.gguf";
  const auto theirs = io::GgufFile::open(models + "q8_0.gguf");
  const auto in = io::GgufFile::open(models + "f32.gguf");
  const auto ours = convert(*in, "out.gguf", {}, "q8_0");
  int compared = 0;
  for (const io::GgufTensor& tensor : theirs->tensors()) {
    if (tensor.type->name != "q8_0") continue;
    const io::GgufTensor* mine = ours->find_tensor(tensor.name);
    ASSERT_NE(mine, nullptr);
    EXPECT_TRUE(std::ranges::equal(mine->bytes, tensor.bytes)) << tensor.name;
    ++compared;
  }
  EXPECT_EQ(compared, 31);
  // And it runs: the beginning of the story that the f32 file tells.
  const auto tokenizer = models::load_tokenizer(*ours);
  const auto model = models::load_model(*ours, 64);
  models::Cache past = model->make_cache(64);
  const auto out = generate::generate(*model, *tokenizer, tokenizer->encode(""), past,
                                      {.max_tokens = 40, .sampling = {.temperature = 0}});
  EXPECT_EQ(out.text.substr(0, 60), "Once upon a time, there was a little girl named Lily. She lo");
}

}  // namespace
}  // namespace beeswax
