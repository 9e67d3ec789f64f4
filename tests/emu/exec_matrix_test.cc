// SPDX-License-Identifier: Apache-2.0
// WMMA and MFMA: where every element lies comes from AMD's matrix instruction calculator (../shared/isa), the
// values from products of small integers, which every format holds exactly. MFMA's modifiers, as AMD's CDNA3
// ISA document has them: CBSZ and ABID hand one block of A to 2^CBSZ neighbours, BLGP permutes the lanes of
// B.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <tuple>

#include "emu/support/compile.h"
#include "emu/support/launcher.h"

namespace emu::test {
namespace {

/// "v3{16}.[31:16]": bits of one lane's register. "v[3:2]{16}": a pair of them.
struct Place {
  unsigned reg = 0, lane = 0, high = 31, low = 0;
  bool pair = false;
};
Place parse(const std::string& text) {
  Place p;
  unsigned upper = 0;
  if (std::sscanf(text.c_str(), "v[%u:%u]{%u}", &upper, &p.reg, &p.lane) == 3)
    p.pair = true;
  else if (std::sscanf(text.c_str(), "v%u{%u}.[%u:%u]", &p.reg, &p.lane, &p.high, &p.low) < 2)
    ADD_FAILURE() << text;
  return p;
}
std::vector<Place> places(const nlohmann::json& cell) {
  std::string text = cell.is_string() ? cell.get<std::string>() : cell.dump();
  std::vector<Place> found;
  for (size_t at = text.find('v'); at != std::string::npos; at = text.find('v', at + 1))
    found.push_back(parse(text.substr(at)));
  return found;
}

uint64_t encode(const std::string& type, int value, bool cdna) {
  const int magnitude = value < 0 ? -value : value;  // 0, 1, 2
  const auto with_sign = [value](uint32_t bits, uint32_t sign) { return value < 0 ? bits | sign : bits; };
  if (type == "f16") return with_sign(magnitude == 0 ? 0 : magnitude == 1 ? 0x3c00 : 0x4000, 0x8000);
  if (type == "bf16") return with_sign(magnitude == 0 ? 0 : magnitude == 1 ? 0x3f80 : 0x4000, 0x8000);
  if (type == "f64") return std::bit_cast<uint64_t>(double(value));
  if (cdna && type == "fp8")
    return with_sign(magnitude == 0 ? 0 : magnitude == 1 ? 0x40 : 0x48, value ? 0x80 : 0);
  if (cdna && type == "bf8")
    return with_sign(magnitude == 0 ? 0 : magnitude == 1 ? 0x40 : 0x44, value ? 0x80 : 0);
  if (type == "fp8") return with_sign(magnitude == 0 ? 0 : magnitude == 1 ? 0x38 : 0x40, 0x80);
  if (type == "bf8") return with_sign(magnitude == 0 ? 0 : magnitude == 1 ? 0x3c : 0x40, 0x80);
  if (type == "f32" || type == "xf32") return std::bit_cast<uint32_t>(float(value));
  return uint32_t(value);
}
/// Bits of an integer as the result's type; |value| stays below 256, so all hold it.
uint64_t encode_result(const std::string& type, int value) {
  const uint32_t f = std::bit_cast<uint32_t>(float(value));
  if (type == "f32") return f;
  if (type == "f64") return std::bit_cast<uint64_t>(double(value));
  if (type == "bf16") return f >> 16;
  if (type == "f16") return value == 0 ? 0 : (f >> 16 & 0x8000) | ((f >> 13 & 0x3ffff) - (112u << 10));
  return uint32_t(value);
}

void put(std::vector<uint32_t>& block, const Place& p, uint64_t value, unsigned lanes) {
  uint32_t& word = block[p.reg * lanes + p.lane];
  if (p.pair) block[(p.reg + 1) * lanes + p.lane] = uint32_t(value >> 32);
  const uint32_t bits = uint32_t(value);
  const uint32_t width = p.high - p.low + 1, mask = (width == 32 ? ~0u : (1u << width) - 1) << p.low;
  word = (word & ~mask) | (bits << p.low & mask);
}

/// The lane whose part of B a lane gets.
unsigned lane_of_b(unsigned lane, unsigned blgp) {
  if (blgp == 1 || blgp == 2) return lane % 32 + 32 * (blgp - 1);
  if (blgp == 3) return (lane + 16) % 64;
  return blgp == 0 ? lane : lane % 16 + 16 * (blgp - 4);
}
/// What is written behind the operands of MFMA.
struct Modified {
  std::string text;
  unsigned cbsz = 0, abid = 0, blgp = 0, neg = 0;
};
/// The modifiers that the calculator says an instruction has.
std::vector<Modified> modified_forms(const nlohmann::json& layout, bool is_double) {
  std::vector<Modified> all = {{}};
  const auto has = [&](const std::string& property) {
    const auto& detail = layout["detail"];
    return std::find(detail.begin(), detail.end(), property + " bits supported: True") != detail.end();
  };
  if (has("CBSZ and ABID"))
    for (unsigned cbsz = 1; (1u << cbsz) <= layout["A"].size(); ++cbsz) {
      const unsigned abid = (1u << cbsz) - 1 - (cbsz > 1);
      all.push_back({" cbsz:" + std::to_string(cbsz) + " abid:" + std::to_string(abid), cbsz, abid});
    }
  if (!has("BLGP")) return all;
  if (is_double) {  // here the field negates A, B and C
    all.push_back({" neg:[1,0,0]", 0, 0, 0, 1});
    all.push_back({" neg:[1,1,1]", 0, 0, 0, 7});
    all.push_back({" neg:[0,1,1]", 0, 0, 0, 6});
    return all;
  }
  for (unsigned blgp = 1; blgp < 8; ++blgp) all.push_back({" blgp:" + std::to_string(blgp), 0, 0, blgp});
  if (layout["A"].size() > 1) all.push_back({" cbsz:1 abid:1 blgp:3", 1, 1, 3});
  return all;
}

class ExecMatrix : public testing::TestWithParam<const char*> {};

TEST_P(ExecMatrix, EveryInstruction) {
  EMU_NEEDS_CLANG();
  std::ifstream file(std::string(BW_SOURCE_DIR) + "/../shared/isa/matrix_layouts.json");
  if (!file) GTEST_SKIP() << "no ../shared/isa/matrix_layouts.json";
  nlohmann::json table = nlohmann::json::parse(file)[GetParam()];
  const bool cdna = std::string(GetParam()).starts_with("gfx9");
  const unsigned lanes = cdna ? 64 : 32;
  std::string source =
      "typedef int v1; typedef int v2 __attribute__((ext_vector_type(2))); typedef int v4 "
      "__attribute__((ext_vector_type(4)));\n"
      "typedef int v8 __attribute__((ext_vector_type(8)));\n"
      "typedef int v16 __attribute__((ext_vector_type(16))); typedef int v32 "
      "__attribute__((ext_vector_type(32)));\n";
  struct Shape3 {
    unsigned a = 0, b = 0, d = 0;
  };
  std::map<std::string, Shape3> shapes;
  for (const auto& [name, layout] : table.items()) {
    Shape3 shape;
    const auto registers = [&](const char* which) {
      unsigned count = 0;
      for (const auto& block : layout[which])
        for (const auto& row : block)
          for (const auto& cell : row)
            for (const Place& p : places(cell)) count = std::max(count, p.reg + 1 + p.pair);
      return count;
    };
    shape = {registers("A"), registers("B"), registers("D")};
    shapes[name] = shape;
    const bool integer = name.find("_iu") != std::string::npos;
    const auto vector = [](unsigned n) { return "v" + std::to_string(n); };
    unsigned form = 0;
    for (const Modified& modified : modified_forms(layout, name.find("f64") != std::string::npos))
      source += "extern \"C\" __global__ void t_" + name + "_" + std::to_string(form++) + "(const " +
                vector(shape.a) + "* a, const " + vector(shape.b) + "* b, const " + vector(shape.d) +
                "* c, " + vector(shape.d) + "* d) {\n  " + vector(shape.d) +
                " r = c[thread_x()];\n  asm volatile(\"" + name + " %0, %1, %2, %0" +
                (integer ? " neg_lo:[1,1,0]" : "") + modified.text +
                "\" : \"+v\"(r) : \"v\"(a[thread_x()]), \"v\"(b[thread_x()]));\n  d[thread_x()] = r;\n}\n";
  }
  Device device(GetParam(), compile(source, GetParam()));
  std::mt19937 random(7);
  for (const auto& [name, layout] : table.items()) {
    SCOPED_TRACE(name);
    const Shape3 shape = shapes[name];
    // v_wmma_<result>_<shape>_<a>[_<b>]
    std::vector<std::string> words;
    for (size_t at = 0, next; at <= name.size(); at = next + 1) {
      next = std::min(name.find('_', at), name.size());
      words.push_back(name.substr(at, next - at));
    }
    std::string result = words[2], type_a = words.size() > 4 ? words[4] : "", type_b = words.back();
    if (cdna) {
      // v_mfma_f32_32x32x4_2b_bf16, v_mfma_f32_32x32x4bf16_1k, v_mfma_f32_16x16x32_fp8_bf8
      if (words.back() == "1k") words.pop_back();
      const size_t letter = words[3].find_first_of("fbi");
      type_b = letter == std::string::npos ? words.back() : words[3].substr(letter);
      type_a = words.size() == 6 && words[4].back() == '8' ? words[4] : type_b;
    }
    const size_t depth = layout["B"][0].size(), side = layout["A"][0].size(), blocks = layout["D"].size();
    std::vector<uint32_t> ra(shape.a * lanes), rb(shape.b * lanes), rc(shape.d * lanes),
        want(shape.d * lanes);
    using Matrix = std::vector<std::vector<int>>;
    std::vector<Matrix> va(blocks, Matrix(side, std::vector<int>(depth))),
        vc(blocks, Matrix(side, std::vector<int>(side)));
    std::map<std::tuple<unsigned, unsigned, unsigned>, int> vb;  // by register, lane, lowest bit
    const auto small = [&] { return int(random() % 5) - 2; };
    for (size_t block = 0; block < blocks; ++block) {
      const auto &a = layout["A"][block], &b = layout["B"][block], &d = layout["D"][block];
      for (size_t i = 0; i < side; ++i)
        for (size_t k = 0; k < depth; ++k) {
          va[block][i][k] = small();
          for (const Place& p : places(a[i][k])) put(ra, p, encode(type_a, va[block][i][k], cdna), lanes);
          const int value = small();
          for (const Place& p : places(b[k][i])) {
            vb[{p.reg, p.lane, p.low}] = value;
            put(rb, p, encode(type_b, value, cdna), lanes);
          }
        }
      for (size_t i = 0; i < side; ++i)
        for (size_t j = 0; j < side; ++j) {
          vc[block][i][j] = small();
          for (const Place& p : places(d[i][j])) put(rc, p, encode_result(result, vc[block][i][j]), lanes);
        }
    }
    // Memory holds a lane's registers side by side.
    const auto by_lane = [lanes](const std::vector<uint32_t>& registers) {
      std::vector<uint32_t> memory(registers.size());
      const size_t count = registers.size() / lanes;
      for (size_t r = 0; r < count; ++r)
        for (size_t lane = 0; lane < lanes; ++lane) memory[lane * count + r] = registers[r * lanes + lane];
      return memory;
    };
    uint32_t *da = device.upload(by_lane(ra)), *db = device.upload(by_lane(rb)),
             *dc = device.upload(by_lane(rc));
    uint32_t* dd = device.allocate<uint32_t>(rc.size());
    unsigned form = 0;
    for (const Modified& modified : modified_forms(layout, type_a == "f64")) {
      SCOPED_TRACE(modified.text);
      for (size_t block = 0; block < blocks; ++block) {
        const size_t shared = (size_t(1) << modified.cbsz) - 1;
        const Matrix& a = va[(block & ~shared) | (modified.abid & shared)];
        for (size_t i = 0; i < side; ++i)
          for (size_t j = 0; j < side; ++j) {
            int sum = vc[block][i][j] * (modified.neg & 4 ? -1 : 1);
            for (size_t k = 0; k < depth; ++k) {
              const Place p = places(layout["B"][block][k][j])[0];
              const int b = vb.at({p.reg, lane_of_b(p.lane, modified.blgp), p.low});
              sum += a[i][k] * b * (modified.neg % 4 == 1 || modified.neg % 4 == 2 ? -1 : 1);
            }
            for (const Place& p : places(layout["D"][block][i][j]))
              put(want, p, encode_result(result, sum), lanes);
          }
      }
      device.run("t_" + name + "_" + std::to_string(form++), {.grid = 1, .block = lanes}, da, db, dc, dd);
      EXPECT_EQ(device.download(dd, rc.size()), by_lane(want));
    }
  }
}

/// The emulator's choice for xf32: 10 bits of mantissa, to nearest, ties to even.
TEST(ExecMatrixXf32, FactorsAreRoundedToNearestEven) {
  EMU_NEEDS_CLANG();
  const std::string source =
      "typedef float v2 __attribute__((ext_vector_type(2))); typedef float v4 "
      "__attribute__((ext_vector_type(4)));\n"
      "extern \"C\" __global__ void t(const float* x, float* d) {\n"
      "  v2 a = {x[0], x[0]}, b = {1, 1}; v4 r = {0, 0, 0, 0};\n"
      "  asm volatile(\"v_mfma_f32_16x16x8_xf32 %0, %1, %2, %0\" : \"+v\"(r) : \"v\"(a), \"v\"(b));\n"
      "  d[thread_x()] = r[0];\n}\n";
  Device device("gfx942", compile(source, "gfx942"));
  float* d = device.allocate<float>(64);
  const auto of = [](uint32_t bits) { return std::bit_cast<float>(bits); };
  // A bit pattern and what it rounds to; eight products by 1 are added.
  const std::pair<uint32_t, uint32_t> kCases[] = {
      {0x3f800000, 0x3f800000}, {0x3f800fff, 0x3f800000}, {0x3f801000, 0x3f800000}, {0x3f801001, 0x3f802000},
      {0x3f803000, 0x3f804000}, {0xbf805000, 0xbf804000}, {0x3fffffff, 0x40000000}, {0x7f7fffff, 0x7f800000},
      {0xff800000, 0xff800000}, {0x00800000, 0x00800000}};
  for (const auto& [bits, rounded] : kCases) {
    device.run("t", {.grid = 1, .block = 64}, device.upload(std::vector<float>{of(bits)}), d);
    EXPECT_EQ(device.download(d, 64), std::vector<float>(64, 8 * of(rounded))) << std::hex << bits;
  }
}

INSTANTIATE_TEST_SUITE_P(Chips, ExecMatrix, testing::Values("gfx90a", "gfx942", "gfx1100", "gfx1200"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace emu::test
