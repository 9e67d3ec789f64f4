// SPDX-License-Identifier: Apache-2.0
// WMMA: where every element lies comes from AMD's matrix instruction calculator (../shared/isa), the values
// from products of small integers, which every format holds exactly.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>

#include "emu/support/compile.h"
#include "emu/support/launcher.h"

namespace emu::test {
namespace {

/// "v3{16}.[31:16]": bits of one lane's register.
struct Place {
  unsigned reg = 0, lane = 0, high = 31, low = 0;
};
Place parse(const std::string& text) {
  Place p;
  if (std::sscanf(text.c_str(), "v%u{%u}.[%u:%u]", &p.reg, &p.lane, &p.high, &p.low) < 2)
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

uint32_t encode(const std::string& type, int value) {
  const int magnitude = value < 0 ? -value : value;  // 0, 1, 2
  const auto with_sign = [value](uint32_t bits, uint32_t sign) { return value < 0 ? bits | sign : bits; };
  if (type == "f16") return with_sign(magnitude == 0 ? 0 : magnitude == 1 ? 0x3c00 : 0x4000, 0x8000);
  if (type == "bf16") return with_sign(magnitude == 0 ? 0 : magnitude == 1 ? 0x3f80 : 0x4000, 0x8000);
  if (type == "fp8") return with_sign(magnitude == 0 ? 0 : magnitude == 1 ? 0x38 : 0x40, 0x80);
  if (type == "bf8") return with_sign(magnitude == 0 ? 0 : magnitude == 1 ? 0x3c : 0x40, 0x80);
  if (type == "f32") return std::bit_cast<uint32_t>(float(value));
  return uint32_t(value);
}
/// Bits of an integer as the result's type; |value| stays below 256, so all hold it.
uint32_t encode_result(const std::string& type, int value) {
  const uint32_t f = std::bit_cast<uint32_t>(float(value));
  if (type == "f32") return f;
  if (type == "bf16") return f >> 16;
  if (type == "f16") return value == 0 ? 0 : (f >> 16 & 0x8000) | ((f >> 13 & 0x3ffff) - (112u << 10));
  return uint32_t(value);
}

void put(std::vector<uint32_t>& block, const Place& p, uint32_t bits) {
  uint32_t& word = block[p.reg * 32 + p.lane];
  const uint32_t width = p.high - p.low + 1, mask = (width == 32 ? ~0u : (1u << width) - 1) << p.low;
  word = (word & ~mask) | (bits << p.low & mask);
}

class ExecMatrix : public testing::TestWithParam<const char*> {};

TEST_P(ExecMatrix, EveryInstruction) {
  EMU_NEEDS_CLANG();
  std::ifstream file(std::string(BW_SOURCE_DIR) + "/../shared/isa/matrix_layouts.json");
  if (!file) GTEST_SKIP() << "no ../shared/isa/matrix_layouts.json";
  const nlohmann::json table = nlohmann::json::parse(file)[GetParam()];
  std::string source =
      "typedef int v1; typedef int v2 __attribute__((ext_vector_type(2))); typedef int v4 "
      "__attribute__((ext_vector_type(4)));\n"
      "typedef int v8 __attribute__((ext_vector_type(8)));\n";
  struct Shape3 {
    unsigned a = 0, b = 0, d = 0;
  };
  std::map<std::string, Shape3> shapes;
  for (const auto& [name, layout] : table.items()) {
    Shape3 shape;
    const auto registers = [&](const char* which) {
      unsigned count = 0;
      for (const auto& row : layout[which][0])
        for (const auto& cell : row)
          for (const Place& p : places(cell)) count = std::max(count, p.reg + 1);
      return count;
    };
    shape = {registers("A"), registers("B"), registers("D")};
    shapes[name] = shape;
    const bool integer = name.find("_iu") != std::string::npos;
    const auto vector = [](unsigned n) { return "v" + std::to_string(n); };
    source += "extern \"C\" __global__ void t_" + name + "(const " + vector(shape.a) + "* a, const " +
              vector(shape.b) + "* b, const " + vector(shape.d) + "* c, " + vector(shape.d) + "* d) {\n  " +
              vector(shape.d) + " r = c[thread_x()];\n  asm volatile(\"" + name + " %0, %1, %2, %0" +
              (integer ? " neg_lo:[1,1,0]" : "") +
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
    const std::string result = words[2], type_a = words[4], type_b = words.back();
    const auto &a = layout["A"][0], &b = layout["B"][0], &d = layout["D"][0];
    const size_t depth = b.size();
    std::vector<uint32_t> ra(shape.a * 32), rb(shape.b * 32), rc(shape.d * 32), want(shape.d * 32);
    std::vector<std::vector<int>> va(16, std::vector<int>(depth)), vb(depth, std::vector<int>(16));
    const auto small = [&] { return int(random() % 5) - 2; };
    for (size_t i = 0; i < 16; ++i)
      for (size_t k = 0; k < depth; ++k) {
        va[i][k] = small();
        vb[k][i] = small();
        for (const Place& p : places(a[i][k])) put(ra, p, encode(type_a, va[i][k]));
        for (const Place& p : places(b[k][i])) put(rb, p, encode(type_b, vb[k][i]));
      }
    for (size_t i = 0; i < 16; ++i)
      for (size_t j = 0; j < 16; ++j) {
        int sum = small();
        for (const Place& p : places(d[i][j])) put(rc, p, encode_result(result, sum));
        for (size_t k = 0; k < depth; ++k) sum += va[i][k] * vb[k][j];
        for (const Place& p : places(d[i][j])) put(want, p, encode_result(result, sum));
      }
    // Memory holds a lane's registers side by side.
    const auto by_lane = [](const std::vector<uint32_t>& registers) {
      std::vector<uint32_t> memory(registers.size());
      const size_t count = registers.size() / 32;
      for (size_t r = 0; r < count; ++r)
        for (size_t lane = 0; lane < 32; ++lane) memory[lane * count + r] = registers[r * 32 + lane];
      return memory;
    };
    uint32_t *da = device.upload(by_lane(ra)), *db = device.upload(by_lane(rb)),
             *dc = device.upload(by_lane(rc));
    uint32_t* dd = device.allocate<uint32_t>(rc.size());
    device.run("t_" + name, {.grid = 1, .block = 32}, da, db, dc, dd);
    EXPECT_EQ(device.download(dd, rc.size()), by_lane(want));
  }
}

INSTANTIATE_TEST_SUITE_P(Chips, ExecMatrix, testing::Values("gfx1100", "gfx1200"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace emu::test
