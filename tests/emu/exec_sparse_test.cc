// SPDX-License-Identifier: Apache-2.0
// SMFMAC and SWMMAC: products with a sparse A of small integers, which every format holds exactly. Where
// elements and indexes lie: AMD's matrix instruction calculator (its README tells the compression index of
// gfx942) and the tests of AMD's simulator rocjitsu, of which both SWMMAC's and the 8-bit SMFMAC's orders of
// k come. D lies as in the dense instructions of the same shape.
#include <gtest/gtest.h>

#include <random>

#include "emu/support/compile.h"
#include "emu/support/launcher.h"

namespace emu::test {
namespace {

struct Case {
  std::string name;
  unsigned side, depth, bits;
  bool wave32;
  const char *a, *b, *d;
  unsigned lanes() const { return wave32 ? 32 : 64; }
  unsigned stored() const { return depth / 2 * side / lanes(); }  // of A in a lane
};

/// Where row k of B lies: the group of lanes and the element there.
struct Spot {
  unsigned group, element;
};
Spot dense(const Case& c, unsigned k) {
  if (!c.wave32) {
    const unsigned groups = 64 / c.side;
    return {k / 8 % groups, k % 8 + 8 * (k / (8 * groups))};
  }
  if (c.bits == 16) return {k / 8 % 2, k % 8 + 8 * (k / 16)};
  return {k / (c.depth / 2), k % (c.depth / 2)};
}
/// Where the stored element n (0 or 1) of the four that begin at k lies.
Spot sparse(const Case& c, unsigned k, unsigned n) {
  const Spot first = dense(c, k);
  return {first.group, first.element / 2 + n};
}

uint32_t encode(const std::string& type, int value, bool fnuz) {
  const uint32_t magnitude = uint32_t(value < 0 ? -value : value);  // 0, 1, 2
  const auto of = [&](uint32_t one, uint32_t two, uint32_t sign) {
    return magnitude == 0 ? 0 : (magnitude == 1 ? one : two) | (value < 0 ? sign : 0);
  };
  if (type == "f16") return of(0x3c00, 0x4000, 0x8000);
  if (type == "bf16") return of(0x3f80, 0x4000, 0x8000);
  if (type == "fp8") return fnuz ? of(0x40, 0x48, 0x80) : of(0x38, 0x40, 0x80);
  if (type == "bf8") return fnuz ? of(0x40, 0x44, 0x80) : of(0x3c, 0x40, 0x80);
  return uint32_t(value) & (type == "i4" ? 15 : 255);
}
uint32_t encode_result(const std::string& type, int value) {
  const uint32_t f = std::bit_cast<uint32_t>(float(value));
  if (type == "f32") return f;
  if (type == "bf16") return f >> 16;
  if (type == "f16") return value == 0 ? 0 : (f >> 16 & 0x8000) | ((f >> 13 & 0x3ffff) - (112u << 10));
  return uint32_t(value);
}
/// Sets bits of a lane's register; memory holds a lane's registers side by side.
void put(std::vector<uint32_t>& block, unsigned registers, unsigned lane, unsigned at, unsigned bits,
         uint32_t value) {
  uint32_t& word = block[lane * registers + at * bits / 32];
  const uint32_t mask = (bits == 32 ? ~0u : (1u << bits) - 1) << at * bits % 32;
  word = (word & ~mask) | (value << at * bits % 32 & mask);
}

std::vector<Case> cases(bool wave32) {
  std::vector<Case> all;
  const auto add = [&](const std::string& name, unsigned side, unsigned depth, unsigned bits, const char* a,
                       const char* b,
                       const char* d) { all.push_back({name, side, depth, bits, wave32, a, b, d}); };
  if (wave32) {
    add("v_swmmac_f32_16x16x32_f16", 16, 32, 16, "f16", "f16", "f32");
    add("v_swmmac_f32_16x16x32_bf16", 16, 32, 16, "bf16", "bf16", "f32");
    add("v_swmmac_f16_16x16x32_f16", 16, 32, 16, "f16", "f16", "f16");
    add("v_swmmac_bf16_16x16x32_bf16", 16, 32, 16, "bf16", "bf16", "bf16");
    add("v_swmmac_i32_16x16x32_iu8", 16, 32, 8, "i8", "i8", "i32");
    add("v_swmmac_i32_16x16x32_iu4", 16, 32, 4, "i4", "i4", "i32");
    add("v_swmmac_i32_16x16x64_iu4", 16, 64, 4, "i4", "i4", "i32");
  } else {
    add("v_smfmac_f32_16x16x32_f16", 16, 32, 16, "f16", "f16", "f32");
    add("v_smfmac_f32_32x32x16_f16", 32, 16, 16, "f16", "f16", "f32");
    add("v_smfmac_f32_16x16x32_bf16", 16, 32, 16, "bf16", "bf16", "f32");
    add("v_smfmac_f32_32x32x16_bf16", 32, 16, 16, "bf16", "bf16", "f32");
    add("v_smfmac_i32_16x16x64_i8", 16, 64, 8, "i8", "i8", "i32");
    add("v_smfmac_i32_32x32x32_i8", 32, 32, 8, "i8", "i8", "i32");
  }
  for (const char* a : {"fp8", "bf8"})
    for (const char* b : {"fp8", "bf8"}) {
      const std::string types = std::string(a) + "_" + b;
      if (wave32) {
        add("v_swmmac_f32_16x16x32_" + types, 16, 32, 8, a, b, "f32");
      } else {
        add("v_smfmac_f32_16x16x64_" + types, 16, 64, 8, a, b, "f32");
        add("v_smfmac_f32_32x32x32_" + types, 32, 32, 8, a, b, "f32");
      }
    }
  return all;
}
unsigned registers(unsigned elements, unsigned bits) { return elements * bits / 32; }

class ExecSparse : public testing::TestWithParam<const char*> {};

TEST_P(ExecSparse, EveryInstruction) {
  EMU_NEEDS_CLANG();
  const bool wave32 = std::string(GetParam()) == "gfx1200";
  const std::vector<Case> all = cases(wave32);
  const auto sets = [](const Case& c) { return 16 / c.stored() ? 16 / c.stored() : 1; };
  std::string source = "typedef int v1;\n";
  for (unsigned n = 2; n <= 16; n *= 2)
    source += "typedef int v" + std::to_string(n) + " __attribute__((ext_vector_type(" + std::to_string(n) +
              ")));\n";
  const auto result_registers = [](const Case& c) {
    return c.side * c.side / c.lanes() * (c.d[0] == 'f' && c.d[1] == '3' ? 32 : c.d[0] == 'i' ? 32 : 16) / 32;
  };
  for (const Case& c : all)
    for (unsigned set = 0; set < sets(c); ++set) {
      const auto vector = [](unsigned n) { return "v" + std::to_string(n); };
      const std::string modifier = wave32 ? (set ? " index_key:" + std::to_string(set) : "") +
                                                std::string(c.d[0] == 'i' ? " neg_lo:[1,1,0]" : "")
                                   : set ? " abid:" + std::to_string(set)
                                         : "";
      const std::string d = vector(result_registers(c));
      source += "extern \"C\" __global__ void t_" + c.name + "_" + std::to_string(set) + "(const " +
                vector(registers(c.stored(), c.bits)) + "* a, const " +
                vector(registers(2 * c.stored(), c.bits)) + "* b, const int* index, const " + d + "* c, " +
                d + "* d) {\n  " + d + " r = c[thread_x()];\n  asm volatile(\"" + c.name + " %0, %1, %2, %3" +
                modifier +
                "\" : \"+v\"(r) : \"v\"(a[thread_x()]), \"v\"(b[thread_x()]), \"v\"(index[thread_x()]));\n  "
                "d[thread_x()] = r;\n}\n";
    }
  Device device(GetParam(), compile(source, GetParam()));
  std::mt19937 random(11);
  const auto small = [&] { return int(random() % 5) - 2; };
  for (const Case& c : all)
    for (unsigned set = 0; set < sets(c); ++set) {
      SCOPED_TRACE(c.name + " " + std::to_string(set));
      const unsigned lanes = c.lanes(), na = registers(c.stored(), c.bits), nb = 2 * na,
                     nd = result_registers(c);
      const unsigned result_bits = c.d == std::string("f32") || c.d == std::string("i32") ? 32 : 16;
      std::vector<uint32_t> ra(lanes * na), rb(lanes * nb), index(lanes), rc(lanes * nd), want(lanes * nd);
      for (uint32_t& i : index) i = uint32_t(random());  // the other sets hold anything
      std::vector<std::vector<int>> a(c.side, std::vector<int>(c.depth)),
          b(c.depth, std::vector<int>(c.side));
      for (unsigned m = 0; m < c.side; ++m)
        for (unsigned k = 0; k < c.depth; k += 4) {
          const unsigned first = unsigned(random() % 3),
                         second = first + 1 + unsigned(random() % (3 - first));
          for (unsigned n = 0; n < 2; ++n) {
            const Spot at = sparse(c, k, n);
            const unsigned lane = at.group * c.side + m, which = n ? second : first;
            a[m][k + which] = small();
            put(ra, na, lane, at.element, c.bits, encode(c.a, a[m][k + which], !wave32));
            put(index, 1, lane, set * c.stored() + at.element, 2, which);
          }
        }
      for (unsigned k = 0; k < c.depth; ++k)
        for (unsigned n = 0; n < c.side; ++n) {
          b[k][n] = small();
          const Spot at = dense(c, k);
          put(rb, nb, at.group * c.side + n, at.element, c.bits, encode(c.b, b[k][n], !wave32));
        }
      for (unsigned m = 0; m < c.side; ++m)
        for (unsigned n = 0; n < c.side; ++n) {
          const unsigned groups = lanes / c.side;
          const unsigned lane = n + c.side * (wave32 ? m / 8 : m / 4 % groups);
          const unsigned element = wave32 ? m % 8 : m % 4 + 4 * (m / (4 * groups));
          int sum = small();
          put(rc, nd, lane, element, result_bits, encode_result(c.d, sum));
          for (unsigned k = 0; k < c.depth; ++k) sum += a[m][k] * b[k][n];
          put(want, nd, lane, element, result_bits, encode_result(c.d, sum));
        }
      uint32_t *da = device.upload(ra), *db = device.upload(rb), *di = device.upload(index),
               *dc = device.upload(rc);
      uint32_t* dd = device.allocate<uint32_t>(rc.size());
      device.run("t_" + c.name + "_" + std::to_string(set), {.grid = 1, .block = lanes}, da, db, di, dc, dd);
      EXPECT_EQ(device.download(dd, rc.size()), want);
    }
}

INSTANTIATE_TEST_SUITE_P(Chips, ExecSparse, testing::Values("gfx942", "gfx1200"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace emu::test
