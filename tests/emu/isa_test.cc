// SPDX-License-Identifier: Apache-2.0
// Every instruction of AMD's documents that the assembler takes, against AMD's own pseudo-code. See
// isa/README.md.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "emu/isa/oracle.h"
#include "emu/support/compile.h"
#include "emu/support/launcher.h"

namespace emu::isa {
namespace {

struct Chip {
  Target target;
  const char* document;
  bool opcodes;                  // the document is this chip's: its opcodes hold
  const char* memory = nullptr;  // another document whose memory instructions come first
};
void PrintTo(const Chip& chip, std::ostream* out) { *out << chip.target.chip; }
// One chip of each generation runs in waves of 64 lanes.
const Chip kChips[] = {
    {{"gfx906", 9, 64, false}, "cdna", true},    {{"gfx90a", 9, 64, true}, "cdna", true},
    {{"gfx942", 9, 64, true}, "cdna", true},     {{"gfx1030", 10, 32, false}, "rdna3", false, "cdna"},
    {{"gfx1100", 11, 32, false}, "rdna3", true}, {{"gfx1151", 11, 64, false}, "rdna3", true},
    {{"gfx1200", 12, 32, false}, "rdna4", true}, {{"gfx1201", 12, 64, false}, "rdna4", true}};

const Document& document(const std::string& name) {
  static std::map<std::string, Document> all;
  return all.try_emplace(name, name).first->second;
}

/// Lines of a data file: a pattern, the document or *, and the rest of the line.
struct Entry {
  std::string pattern, document, rest;
  bool matches(const std::string& name, const std::string& doc) const {
    return (document == "*" || document == doc) && fits(pattern.c_str(), name.c_str());
  }
  static bool fits(const char* p, const char* s) {
    for (; *p != '\0' && *p != '*'; ++p, ++s)
      if (*p != *s) return false;
    if (*p == '\0') return *s == '\0';
    for (;; ++s) {
      if (fits(p + 1, s)) return true;
      if (*s == '\0') return false;
    }
  }
};
const std::vector<Entry>& entries(const std::string& file) {
  static std::map<std::string, std::vector<Entry>> all;
  auto [at, fresh] = all.try_emplace(file);
  if (!fresh) return at->second;
  std::ifstream in(std::string(BW_SOURCE_DIR) + "/tests/emu/isa/" + file);
  EXPECT_TRUE(in.good()) << file;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    Entry e;
    words >> e.pattern >> e.document;
    std::getline(words >> std::ws, e.rest);
    EXPECT_FALSE(e.rest.empty()) << file << ": " << line;
    at->second.push_back(e);
  }
  return at->second;
}
const Entry* entry(const std::string& file, const Instruction& in, const std::string& doc) {
  for (const Entry& e : entries(file))
    if (e.matches(in.name, doc)) return &e;
  return nullptr;
}

struct Counts {
  int documented = 0, assembled = 0, implemented = 0, tested = 0, bounded = 0, excluded = 0, forms = 0;
};
std::map<std::string, std::map<std::string, Counts>> g_counts;  // chip, family

/// The opcode's bits in the first word of the machine code. Encodings: AMD's ISA documents, "Microcode
/// formats".
int opcode_in(const std::string& family, uint32_t word, int generation) {
  const auto bits = [word](int high, int low) { return int(word >> low & ((1u << (high - low + 1)) - 1)); };
  if (family == "VOP1") return bits(16, 9);
  if (family == "VOP2") return bits(30, 25);
  if (family == "VOPC") return bits(24, 17);
  if (family == "VOP3" || family == "VOP3SD") return bits(25, 16);
  if (family == "VOP3P") return bits(22, 16);
  if (family == "SOP1") return bits(15, 8);
  if (family == "SOP2") return bits(29, 23);
  if (family == "SOPC") return bits(22, 16);
  if (family == "SOPK") return bits(27, 23);
  (void)generation;
  return -1;
}

bool is_nan(u128 bits, int width, bool bfloat) {
  Value v = make(bfloat ? Base::Bfloat : Base::Float, width, bits);
  return as_number(v).nan();
}
/// Bits of a register range; where arithmetic made a NaN, any NaN will do.
bool same(const Value& want, u128 got, int bits, const Element& e) {
  for (int low = 0; low < bits; low += e.width) {
    const u128 w = want.bits >> low & ones(e.width), g = got >> low & ones(e.width);
    if (w == g) continue;
    if (!e.floating || !is_nan(g, e.width, e.bfloat)) return false;
    const bool any = (want.loose >> low & ones(e.width)) != 0;
    // Where the text hands on a signaling NaN, hardware that follows IEEE 754 makes it quiet.
    const int mantissa = e.bfloat ? 7 : e.width == 64 ? 52 : e.width == 32 ? 23 : 10;
    if (!any && !(is_nan(w, e.width, e.bfloat) && (w | u128(1) << (mantissa - 1)) == g)) return false;
  }
  return true;
}
/// How many representable numbers lie between; -1 where one is a NaN and the other is not.
int64_t distance(u128 want, u128 got, const Element& e) {
  if (is_nan(want, e.width, e.bfloat) || is_nan(got, e.width, e.bfloat))
    return is_nan(want, e.width, e.bfloat) && is_nan(got, e.width, e.bfloat) ? 0 : -1;
  const auto ordered = [&](u128 v) {
    const int64_t magnitude = int64_t(v & ones(e.width - 1));
    return (v >> (e.width - 1) & 1) != 0 ? -magnitude : magnitude;
  };
  const int64_t d = ordered(want) - ordered(got);
  return d < 0 ? -d : d;
}
std::string hex(u128 v) {
  char text[40];
  std::snprintf(text, sizeof text, v >> 64 != 0 ? "%llx%016llx" : "%.0llx%llx",
                static_cast<unsigned long long>(v >> 64), static_cast<unsigned long long>(uint64_t(v)));
  return text;
}

u128 wide(const uint32_t* words) {
  return u128(words[0]) | u128(words[1]) << 32 | u128(words[2]) << 64 | u128(words[3]) << 96;
}

/// The first difference in words, empty where there is none.
std::string difference(const Case& c, const Chip& chip, const std::vector<Item>& items,
                       const std::vector<Expected>& want, const std::vector<uint32_t>& got, int ulps) {
  const Instruction& in = *c.instruction;
  const Target& t = chip.target;
  const Operand* vdst = in.operand("vdst");
  const Operand* sdst = in.operand("sdst");
  int differences = 0;
  std::string first;
  const auto note = [&](size_t i, const std::string& what, u128 w, u128 g) {
    if (differences++ > 0) return;
    const Item& item = items[i];
    first = what + " of item " + std::to_string(i) + " is " + hex(g) + ", not " + hex(w) + "; S0 " +
            hex(item.source[0] & ones(64)) + " S1 " + hex(item.source[1] & ones(64)) + " S2 " +
            hex(item.source[2]) + " D0 " + hex(item.destination) + " bit " + std::to_string(item.vcc);
  };
  for (size_t i = 0; i < items.size(); ++i) {
    const uint32_t* out = &got[i * kOutputWords];
    const Expected& e = want[i];
    const Item& item = items[i];
    if (is_scalar(in)) {
      if (sdst != nullptr) {
        const Element element = element_of(sdst->format);
        // What scalar instructions do with the other half of a 16-bit result is not said.
        const int bits = sdst->bits == 16 ? 16 : 32 * sdst->registers();
        if (!same(e.d0, wide(out) & ones(bits), bits,
                  element.width == 16 ? Element{16, element.floating, false} : element))
          note(i, "destination", e.d0.bits & ones(bits), wide(out) & ones(bits));
      }
      if (out[4] != uint32_t(e.vcc)) note(i, "SCC", e.vcc, out[4]);
      if (out[5] != uint32_t(e.exec_word)) note(i, "EXEC", uint32_t(e.exec_word), out[5]);
      if (t.lanes == 64 && out[6] != uint32_t(e.exec_word >> 32))
        note(i, "EXEC's upper half", e.exec_word >> 32, out[6]);
      continue;
    }
    const bool mask = gives_mask(in), writes_exec = in.base.starts_with("V_CMPX");
    // Part of a NaN: which one is not said.
    const bool part = c.sdwa.on() && c.sdwa.destination != 6 && e.nan;
    if (vdst != nullptr && !mask && !part) {
      Element element = element_of(vdst->format);
      int bits = 32 * vdst->registers();
      // The other half of a 16-bit result: gfx9 clears it or keeps it by instruction, which the tables do not
      // say.
      if (vdst->bits == 16 && t.generation == 9 && (!c.sdwa.on() || c.sdwa.destination == 6)) bits = 16;
      const u128 value = (vdst->scalar() ? u128(out[7]) : wide(out)) & ones(bits);
      if (ulps > 0 && item.active) {
        const int64_t d = distance(e.d0.bits & ones(element.width), value & ones(element.width), element);
        if (d < 0 || d > ulps) note(i, "destination", e.d0.bits & ones(bits), value);
      } else if (!same(e.d0, value, bits, element)) {
        note(i, item.active ? "destination" : "destination of a lane that is off", e.d0.bits & ones(bits),
             value);
      }
    }
    const bool short_form = in.family == "VOPC" || in.family == "VOP2" || in.family == "VOP1";
    const bool carries =
        sdst != nullptr || (in.family == "VOP2" && in.base.find("_CO_") != std::string::npos);
    bool vcc = item.vcc;
    if (short_form && (mask || carries) && !(writes_exec && t.generation >= 10)) vcc = mask ? e.mask : e.vcc;
    if (out[4] != uint32_t(vcc)) note(i, "VCC", vcc, out[4]);
    if (!short_form && (mask || carries) && !(writes_exec && t.generation >= 10) &&
        out[5] != uint32_t(e.mask))
      note(i, "mask", e.mask, out[5]);
    const bool exec = writes_exec ? e.exec : item.active;
    if (out[6] != uint32_t(exec)) note(i, "EXEC", exec, out[6]);
    const u128 source = u128(out[8]) | u128(out[9]) << 32;
    const u128 kept = in.base.find("SWAP") != std::string::npos ? e.source0.bits : item.source[0];
    if (source != (kept & ones(64))) note(i, "first source", kept & ones(64), source);
  }
  if (differences > 1) first += " (and " + std::to_string(differences - 1) + " more)";
  return first;
}

class Isa : public testing::TestWithParam<Chip> {};

TEST_P(Isa, VectorAndScalarInstructions) {
  EMU_NEEDS_CLANG();
  const Chip& chip = GetParam();
  const Target& target = chip.target;
  const Document& doc = document(chip.document);
  if (doc.instructions().empty()) GTEST_SKIP() << "no ../shared/isa/" << chip.document << ".json";
  std::vector<Case> cases;
  auto& counts = g_counts[target.chip];
  for (const Instruction& in : doc.instructions()) {
    ++counts[in.family].documented;
    std::vector<uint32_t> literals = {0x42280000};
    if (in.operand("simm16") != nullptr) literals = {0, 1, 0x7fff, 0x8000, 0xffff};
    for (const uint32_t literal : literals) {
      Case c;
      c.instruction = &in;
      c.literal = in.base.ends_with("F16") ? 0x4100 : literal;
      c.line = written(in, target, c.literal);
      // V_FMA_MIX takes whole registers unless told otherwise.
      c.op_sel_hi = in.base.find("_MIX") != std::string::npos ? 0 : 7;
      const Entry* excluded = entry("exclusions.txt", in, doc.name());
      if (excluded != nullptr && excluded->rest.starts_with("not run:")) continue;
      // The other chip of the generation runs these in waves of 64 lanes.
      if (target.lanes == 32 && in.source.find("EXEC.u64 =") != std::string::npos) continue;
      if (c.line.empty()) continue;
      // How far roundings move an approximation, and what its last bits are, is not said.
      const bool bounded = entry("bounds.txt", in, doc.name()) != nullptr;
      for (Case& form : with_modifiers(c, target))
        if (!bounded || (form.mode.rounding == Rounding::NearestEven && form.sdwa.destination == 6))
          cases.push_back(std::move(form));
    }
  }
  std::vector<std::string> lines;
  for (const Case& c : cases) lines.push_back(c.line);
  const std::vector<bool> ok = accepted(lines, target);
  std::vector<Body> bodies;
  std::vector<Mode> modes;
  {
    std::vector<Case> kept;
    lines.clear();
    for (size_t i = 0; i < cases.size(); ++i)
      if (ok[i]) {
        lines.push_back(cases[i].line);
        bodies.push_back(is_scalar(*cases[i].instruction) ? Body::Scalar : Body::Vector);
        modes.push_back(cases[i].mode);
        kept.push_back(std::move(cases[i]));
      }
    cases = std::move(kept);
  }
  test::Device device(target.chip, kernels(lines, bodies, modes, target));
  device.options.check = Check::None;
  device.options.threads = 1;
  uint32_t* input = device.upload(std::vector<uint32_t>(kItems * kInputWords));
  uint32_t* output = device.allocate<uint32_t>(kItems * kOutputWords);
  std::map<const Instruction*, std::string> outcome;  // "": passed
  std::map<const Instruction*, bool> implemented;
  for (size_t i = 0; i < cases.size(); ++i) {
    const Case& c = cases[i];
    const Instruction& in = *c.instruction;
    const std::string kernel = "t" + std::to_string(i);
    auto [at, fresh] = outcome.try_emplace(&in);
    if (fresh) ++counts[in.family].assembled;
    // gfx906 has the short form of v_mul_legacy_f32 as well, and the assembler takes it.
    if (chip.opcodes && !c.dpp.on() && !c.sdwa.on() &&
        !(target.chip == "gfx906" && in.base == "V_MUL_LEGACY_F32")) {
      uint32_t word = 0;
      std::memcpy(&word, device.image().find_kernel(kernel)->code + 4, 4);
      EXPECT_EQ(opcode_in(in.family, word, target.generation), in.opcode) << in.name << ": " << c.line;
    }
    const std::vector<Item> items = items_for(in);
    std::vector<uint32_t> memory(kItems * kInputWords);
    for (size_t k = 0; k < kItems; ++k) {
      uint32_t* words = &memory[k * kInputWords];
      const auto put = [&](int word, u128 value, int count) {
        for (int w = 0; w < count; ++w) words[word + w] = uint32_t(value >> (32 * w));
      };
      put(0, items[k].source[0], 2);
      put(2, items[k].source[1], 2);
      put(4, items[k].source[2], 4);
      put(8, items[k].destination, 4);
      words[12] = items[k].vcc;
      words[13] = items[k].active;
    }
    std::memcpy(input, memory.data(), 4 * memory.size());
    std::vector<uint32_t> got;
    try {
      device.run(kernel, {.grid = 1, .block = kItems}, input, output);
      got = device.download(output, kItems * kOutputWords);
    } catch (const Fault& fault) {
      if (fault.kind != Fault::Kind::UnknownInstruction) at->second += std::string(fault.what()) + "\n";
    }
    if (got.empty()) continue;
    implemented[&in] = true;
    ++counts[in.family].forms;
    if (in.text == nullptr) {
      at->second += in.trouble.empty() ? "no pseudo-code\n" : in.trouble + "\n";
      continue;
    }
    try {
      const Entry* bound = entry("bounds.txt", in, doc.name());
      Case asked = c;
      asked.flush = bound != nullptr && bound->rest.find("flush") != std::string::npos;
      const std::vector<Expected> want = expect(asked, items, doc, target);
      const std::string what =
          difference(c, chip, items, want, got, bound == nullptr ? 0 : std::stoi(bound->rest));
      if (!what.empty()) at->second += c.line + ": " + what + "\n";
    } catch (const TextError& error) {
      at->second += std::string("text: ") + error.what() + "\n";
    }
  }
  for (const auto& [in, what] : outcome) {
    Counts& count = counts[in->family];
    if (!implemented[in]) continue;
    ++count.implemented;
    const Entry* excluded = entry("exclusions.txt", *in, doc.name());
    if (excluded != nullptr) {
      ++count.excluded;
      if (what.empty()) ADD_FAILURE() << in->name << " passes and is excluded: " << excluded->rest;
    } else if (!what.empty()) {
      ADD_FAILURE() << in->name << " " << what << in->source;
    } else {
      ++count.tested;
      if (entry("bounds.txt", *in, doc.name()) != nullptr) ++count.bounded;
    }
  }
}

/// What the text adds or compares tells the operands' format; the tables do not.
std::string format_in(const std::string& text) {
  for (const auto& [word, format] :
       {std::pair{"f64", "F64"}, {"bf16", "PK2_BF16"}, {"f16", "PK2_F16"}, {"f32", "F32"}})
    if (text.find(word) != std::string::npos) return format;
  return text.find("u64") != std::string::npos || text.find("i64") != std::string::npos ? "B64" : "B32";
}

/// A load of 16 bytes and more: what the text leaves in its registers, 16 bytes at a time. Empty where it is
/// the same.
std::string wide_difference(const Instruction& in, const Document& doc, const uint32_t* memory,
                            const uint32_t* got) {
  for (int window = 0; window < 4; ++window) {
    State s;
    s.wide = true;
    s.window = window;
    s.memory = make(Base::Bits, 128, wide(memory + 4 * window));
    const u128 before = kWideBefore;
    s.d0 = make(Base::Bits, 128, before | before << 32 | before << 64 | before << 96);
    run(*in.text, s, doc.library());
    const u128 d = wide(got + 4 * window);
    if (d != s.d0.bits)
      return " leaves " + hex(d) + " in register " + std::to_string(4 * window) + " and on, not " +
             hex(s.d0.bits) + "\n";
  }
  return "";
}

TEST_P(Isa, MemoryInstructions) {
  EMU_NEEDS_CLANG();
  const Chip& chip = GetParam();
  const Target& target = chip.target;
  const Document& doc = document(chip.document);
  if (doc.instructions().empty()) GTEST_SKIP() << "no ../shared/isa/" << chip.document << ".json";
  auto& counts = g_counts[target.chip];
  // gfx1030 has the names of CDNA, and what they mean there, but for those that only RDNA3 has.
  std::vector<const Document*> documents = {&doc};
  if (chip.memory != nullptr) documents.insert(documents.begin(), &document(chip.memory));
  std::vector<const Instruction*> all, kept;
  std::map<const Instruction*, const Document*> of;
  std::set<std::string> known;
  std::vector<std::string> lines, taken;
  for (const Document* from : documents)
    for (const Instruction& in : from->memory()) {
      if (!known.insert(in.family + in.name).second) continue;
      if (from == documents[0]) ++counts[in.family].documented;
      const Entry* excluded = entry("exclusions.txt", in, from->name());
      if (excluded != nullptr && excluded->rest.starts_with("not run:")) continue;
      all.push_back(&in);
      of[&in] = from;
      lines.push_back(written_memory(in, target));
    }
  const std::vector<bool> ok = accepted(lines, target);
  std::vector<Body> bodies;
  for (size_t i = 0; i < all.size(); ++i)
    if (ok[i]) {
      kept.push_back(all[i]);
      taken.push_back(lines[i]);
      bodies.push_back(body_of(*all[i]));
    }
  test::Device device(target.chip, kernels(taken, bodies, {}, target));
  device.options.check = Check::None;
  device.options.threads = 1;
  uint32_t* input = device.upload(std::vector<uint32_t>(kItems * kInputWords));
  uint32_t* output = device.allocate<uint32_t>(kItems * kOutputWords);
  for (size_t k = 0; k < kept.size(); ++k) {
    const Instruction& in = *kept[k];
    const Document& text = *of[&in];
    Counts& count = counts[in.family];
    ++count.assembled;
    const std::string format = format_in(in.source);
    std::vector<Item> items = make_items({format, format, format}, "B32");
    std::vector<uint32_t> memory(kItems * kInputWords);
    for (size_t i = 0; i < kItems; ++i) {
      Item& item = items[i];
      // Comparisons that never hold would say little.
      if (i % 3 == 0) item.source[2] = (item.source[2] & ones(32)) | (item.source[0] & ones(64)) << 32;
      if (i % 3 == 1) item.source[2] = (item.source[0] & ones(64)) | item.source[0] << 64;
      if (i % 5 == 0) item.source[1] = item.source[0];
      uint32_t* words = &memory[i * kInputWords];
      const auto put = [&](int word, u128 value, int n) {
        for (int w = 0; w < n; ++w) words[word + w] = uint32_t(value >> (32 * w));
      };
      put(0, item.source[0], 2);
      put(2, item.source[1], 2);
      put(4, item.source[2], 4);
      put(8, item.destination, 4);
      words[13] = item.active;
      if (bodies[k] == Body::SmemWide)
        for (const int w : {12, 13, 14, 15}) words[w] = uint32_t(0x9e3779b9u * (16 * i + size_t(w)));
    }
    std::memcpy(input, memory.data(), 4 * memory.size());
    std::vector<uint32_t> got;
    std::string what;
    try {
      device.run("t" + std::to_string(k), {.grid = 1, .block = kItems}, input, output);
      got = device.download(output, kItems * kOutputWords);
    } catch (const Fault& fault) {
      if (fault.kind == Fault::Kind::UnknownInstruction) continue;
      what = fault.what();
    }
    ++count.implemented;
    ++count.forms;
    try {
      if (in.text == nullptr) throw TextError(in.source.empty() ? "no pseudo-code" : in.trouble);
      const Element element = element_of(format);
      for (size_t i = 0; i < kItems && what.empty(); ++i) {
        if (bodies[k] == Body::SmemWide) {
          what = wide_difference(in, text, &memory[i * kInputWords], &got[i * kOutputWords]);
          if (!what.empty()) what = taken[k] + ": item " + std::to_string(i) + what;
          continue;
        }
        const Item& item = items[i];
        State s;
        s.lanes = target.lanes;
        s.ocp = target.generation >= 12;
        s.memory = make(Base::Bits, 128, (item.source[0] & ones(64)) | item.source[1] << 64);
        s.source[1] = make(Base::Bits, 128, item.source[1] & ones(64));
        s.source[2] = make(Base::Bits, 128, item.source[2]);
        s.d0 = make(Base::Bits, 128, item.destination);
        s.offset1 = 1;
        const bool scalar = in.family == "SMEM", both = in.operand("both") != nullptr;
        s.stores = in.operand("vdst") == nullptr && !both;
        if (both) s.d0 = s.source[2];
        const u128 before = s.memory.bits;
        if (item.active || scalar) run(*in.text, s, text.library());
        if (s.stores) s.d0 = make(Base::Bits, 128, item.destination);
        const u128 d = wide(&got[i * kOutputWords]), m = wide(&got[i * kOutputWords + 12]);
        if (!same(s.d0, d, 128, element) || !same(s.memory, m, 128, element))
          what = taken[k] + ": item " + std::to_string(i) + " returns " + hex(d) + ", not " + hex(s.d0.bits) +
                 ", and leaves " + hex(m) + ", not " + hex(s.memory.bits) + "; memory " + hex(before) +
                 " data " + hex(item.source[2]) + " second " + hex(item.source[1] & ones(64)) + "\n";
      }
    } catch (const TextError& error) {
      what = std::string("text: ") + error.what() + "\n";
    }
    const Entry* excluded = entry("exclusions.txt", in, text.name());
    if (excluded != nullptr) {
      ++count.excluded;
      if (what.empty()) ADD_FAILURE() << in.name << " passes and is excluded: " << excluded->rest;
    } else if (!what.empty()) {
      ADD_FAILURE() << in.name << " " << what << in.source;
    } else {
      ++count.tested;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Chips, Isa, testing::ValuesIn(kChips),
                         [](const auto& info) { return info.param.target.chip; });

/// The table of README.md.
class Table : public testing::Environment {
 public:
  void TearDown() override {
    for (const auto& [chip, families] : g_counts)
      for (const auto& [family, c] : families)
        std::printf("| %-7s | %-6s | %4d | %4d | %4d | %4d | %3d | %3d | %5d |\n", chip.c_str(),
                    family.c_str(), c.documented, c.assembled, c.implemented, c.tested, c.bounded, c.excluded,
                    c.forms);
  }
};
const auto* const kTable = testing::AddGlobalTestEnvironment(new Table);

}  // namespace
}  // namespace emu::isa
