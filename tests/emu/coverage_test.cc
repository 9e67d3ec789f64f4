// SPDX-License-Identifier: Apache-2.0
// Which of each chip's instructions the software GPU executes. The instructions are what LLVM's disassembler
// knows for the chip: every opcode of every encoding is tried with a few choices of operands, and the
// emulator must bind each of the texts that come out to a row of its tables. What it leaves out stands in
// coverage_exceptions.txt, with the reason; an entry that is no longer needed is an error too. Where
// ../shared/isa is, the enumeration itself is compared with the names that AMD documents.
#include <gtest/gtest.h>
#include <llvm-c/Disassembler.h>
#include <llvm-c/Target.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "emu/exec/program.h"
#include "emu/exec/text.h"

namespace emu::exec {
namespace {

struct Sample {
  std::array<uint32_t, 4> words{};
  size_t bytes = 0;
  std::string text;
};

class Disassembler {
 public:
  explicit Disassembler(const Chip& chip) {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUDisassembler();
    context_ = LLVMCreateDisasmCPUFeatures("amdgcn-amd-amdhsa", chip.name,
                                           chip.wave_size() == 64 ? "+wavefrontsize64" : "+wavefrontsize32",
                                           nullptr, 0, nullptr, nullptr);
  }
  ~Disassembler() { LLVMDisasmDispose(context_); }
  Disassembler(const Disassembler&) = delete;
  Disassembler& operator=(const Disassembler&) = delete;
  bool decode(Sample& sample) {
    char text[512];
    sample.bytes = LLVMDisasmInstruction(context_, reinterpret_cast<uint8_t*>(sample.words.data()), 16, 0,
                                         text, sizeof(text));
    if (sample.bytes == 0) return false;
    sample.text = text;
    sample.text.erase(0, sample.text.find_first_not_of(" \t"));
    return sample.text.find("/*") == std::string::npos && sample.text.find("nvalid") == std::string::npos;
  }

 private:
  LLVMDisasmContextRef context_ = nullptr;
};

/// Rules for what is not of the kind that HIP programs compute with.
const char* graphics_or_tools(const std::string& name) {
  const auto begins = [&](const char* what) { return name.starts_with(what); };
  const auto holds = [&](const char* what) { return name.find(what) != std::string::npos; };
  if (begins("image_") || begins("exp") || begins("v_interp") || begins("lds_param") || begins("ds_param"))
    return "graphics";
  if (begins("tbuffer_") || (begins("buffer_") && holds("_format_"))) return "typed buffers";
  if (holds("bvh") || holds("ray_")) return "ray tracing";
  if (begins("ds_gws_sema") || begins("ds_ordered_count"))
    return "semaphores of global wave sync, ordered append of graphics";
  return nullptr;
}

/// Every instruction of the chip: what LLVM prints for it, by mnemonic.
class Enumeration {
 public:
  explicit Enumeration(const Chip& c) : chip(c), disassembler_(c) {
    std::string digits(std::string_view(chip.name).substr(3));
    generation_ = unsigned(std::stoul(digits.substr(0, digits.size() - 2), nullptr, 10));
    scalar();
    vector();
    packed();
    memory();
    if (generation_ >= 11) dual();
  }
  const Chip& chip;
  std::map<std::string, std::vector<Sample>> found;  // by mnemonic with its suffix

 private:
  void add(uint32_t w0, uint32_t w1 = 0x01020304, uint32_t w2 = 0, uint32_t w3 = 0) {
    Sample s;
    s.words = {w0, w1, w2, w3};
    if (!disassembler_.decode(s)) return;
    std::string key = s.text.substr(0, s.text.find_first_of(" \t"));
    if (s.text.ends_with(" lds") || s.text.find(" lds ") != std::string::npos) key += " lds";
    if (const size_t pair = s.text.find("::"); pair != std::string::npos) {
      std::string second = s.text.substr(pair + 2);
      second.erase(0, second.find_first_not_of(" \t"));
      key += " :: " + second.substr(0, second.find(' '));
    }
    std::vector<Sample>& samples = found[key];
    for (const Sample& other : samples)
      if (other.text == s.text) return;
    samples.push_back(s);
  }
  // Fields that an instruction does not have must be zero, so each field is tried with and without a value.
  void scalar() {
    for (uint32_t op = 0; op < 256; ++op)
      for (uint32_t target : {4u, 0u})
        for (uint32_t source : {8u, 0xc1u, 0u}) add(0xbe800000 | target << 16 | op << 8 | source);
    for (uint32_t op = 0; op < 128; ++op) {
      add(0x80000000 | op << 23 | 4 << 16 | 8 << 8 | 12);
      add(0x80000000 | op << 23 | 8 << 8 | 12);
      add(0xbf000000 | op << 16 | 8 << 8 | 12);
      for (uint32_t immediate : {0u, 1u}) add(0xbf800000 | op << 16 | immediate);
    }
    const uint32_t null = generation_ == 10 ? 125 : 124;
    for (uint32_t op = 0; op < 32; ++op)
      for (uint32_t target : {4u, null, 0u}) add(0xb0000000 | op << 23 | target << 16 | 1);
    for (uint32_t op = 0; op < 256; ++op)
      for (uint32_t data : {16u, 0u})
        for (uint32_t base : {4u, 0u}) {
          const uint32_t common = data << 6 | base;
          if (generation_ == 9) {
            for (uint32_t offset : {16u, 0u}) add(0xc0000000 | op << 18 | 1 << 17 | common, offset);
            add(0xc0000000 | op << 18 | common, 12);
            add(0xc0000000 | op << 18 | common, 0);
            add(0xc0000000 | op << 18 | 1 << 17 | 1 << 14 | common, 16 | 12u << 25);
            add(0xc0000000 | op << 18 | 1 << 17 | 1 << 16 | common, 16);
          } else if (generation_ < 12) {
            for (uint32_t offset : {16u, 0u}) add(0xf4000000 | op << 18 | common, offset | null << 25);
            add(0xf4000000 | op << 18 | common, 0);
            add(0xf4000000 | op << 18 | common, 16 | 12u << 25);
            add(0xf4000000 | op << 18 | 1 << 16 | common, 16 | null << 25);
          } else if (op < 64) {
            for (uint32_t offset : {16u, 0u}) add(0xf4000000 | op << 13 | common, offset | null << 25);
            add(0xf4000000 | op << 13 | common, 0);
            add(0xf4000000 | op << 13 | common, 16 | 12u << 25);
          }
        }
  }
  uint32_t dpp() const { return 0xff000000 | 0x111 << 8 | 8; }        // row_shr:1 of v8
  uint32_t sdwa() const { return 6 << 24 | 6 << 16 | 6 << 8 | 8; }    // all of v8
  uint32_t sdwa_b() const { return 4 << 24 | 1 << 16 | 6 << 8 | 8; }  // parts
  uint32_t dpp8() const { return 0x00fac688u << 8 | 8; }
  void vector() {
    const uint32_t v8 = 0x108, v12 = 0x10c, v16 = 0x110;
    for (uint32_t op = 0; op < 256; ++op) {
      const uint32_t one = 0x7e000000 | 4 << 17 | op << 9, compare = 0x7c000000 | op << 17 | 12 << 9;
      add(0x7e000000 | op << 9);
      for (const uint32_t base : {one, compare}) {
        add(base | v8);
        add(base | 8);
        add(base | 0xfa, dpp());
        add(base | 0xf9, sdwa());
        add(base | 0xf9, sdwa_b());
        add(base | 0xf9, sdwa() | 0x80008000);
        if (generation_ >= 10) add(base | 0xe9, dpp8());
      }
    }
    for (uint32_t op = 0; op < 64; ++op) {
      const uint32_t base = op << 25 | 4 << 17 | 12 << 9;
      add(base | v8);
      add(base | 8);
      add(base | 0xfa, dpp());
      add(base | 0xf9, sdwa());
      add(base | 0xf9, sdwa_b());
      if (generation_ >= 10) add(base | 0xe9, dpp8());
    }
    const uint32_t three = generation_ == 9 ? 0xd0000000 : 0xd4000000;
    for (uint32_t op = 0; op < 1024; ++op)
      for (const uint32_t second : {v12, 12u, 0u})
        for (const uint32_t third : {v16, 16u, 0u}) {
          for (const uint32_t other : {0u, 10u << 8}) {
            add(three | op << 16 | other | 4, v8 | second << 9 | third << 18);
            add(three | op << 16 | other | 4, 8 | second << 9 | third << 18);
          }
          if (generation_ < 11) continue;
          for (const uint32_t other : {0u, 10u << 8}) {
            add(three | op << 16 | other | 4, 0xfa | second << 9 | third << 18, dpp());
            add(three | op << 16 | other | 4, 0xe9 | second << 9 | third << 18, dpp8());
          }
        }
  }
  void packed() {
    const uint32_t base = generation_ == 9 ? 0xd3800000 : 0xcc000000;
    for (uint32_t op = 0; op < 128; ++op)
      for (const uint32_t c : {0x140u, 0x110u, 0x80u, 0u}) {
        const uint32_t w1 = 0x120 | 0x130 << 9 | c << 18;
        add(base | op << 16 | 0x4000 | 0x40, w1 | 0x18000000);
        add(base | op << 16 | 0x40, w1);
        if (generation_ >= 11)
          add(base | op << 16 | 0x4000 | 0x40, 0xfa | 0x130 << 9 | c << 18 | 0x18000000, dpp());
      }
  }
  void memory() {
    for (uint32_t op = 0; op < 256; ++op)
      for (uint32_t with = 0; with < 32; ++with) {
        const auto value = [with](unsigned bit, uint32_t field) { return with >> bit & 1 ? field : 0; };
        add((generation_ == 9 ? 0xd8000000 | op << 17 : 0xd8000000 | op << 18) | value(0, 16),
            value(1, 12u << 24) | value(2, 8 << 16) | value(3, 4 << 8) | value(4, 2));
      }
    // Global wave sync: with the bit of the memory of all groups, whose other instructions nobody emits.
    for (const uint32_t op : {24u, 25u, 26u, 27u, 28u, 29u})
      if (generation_ < 12) add(generation_ == 9 ? 0xd9010000 | op << 17 : 0xd8020000 | op << 18, 2);
    if (generation_ < 12)
      old_memory();
    else
      new_memory();
  }
  void old_memory() {
    const uint32_t none = generation_ == 9 ? 0x7f : generation_ == 10 ? 0x7d : 0x7c;
    for (uint32_t op = 0; op < 128; ++op)
      for (uint32_t bits = 0; bits < 256; ++bits) {
        const auto value = [bits](unsigned bit, uint32_t field) { return bits >> bit & 1 ? field : 0; };
        const uint32_t segment = bits & 3;
        const uint32_t flags = generation_ == 11 ? segment << 16 | value(2, 1 << 14)
                                                 : segment << 14 | value(2, 1 << 16) | value(3, 1 << 13);
        for (uint32_t base : {4u, none, 0u})
          add(0xdc000000 | op << 18 | flags | value(4, 16),
              value(5, 12u << 24) | base << 16 | value(6, 8 << 8) | value(7, 2));
      }
    for (uint32_t op = 0; op < 256; ++op)
      for (uint32_t bits = 0; bits < 32; ++bits) {
        const uint32_t index = bits & 1, offset = bits >> 1 & 1, returns = bits >> 2 & 1, lds = bits >> 3 & 1;
        const uint32_t w1 = 12u << 24 | 2 << 16 | (bits >> 4 ? 16 << 8 : 0) | (index | offset ? 2 : 0);
        if (generation_ == 11)
          add(0xe0000000 | op << 18 | returns << 14, w1 | offset << 22 | index << 23);
        else if (op < 128 || generation_ == 10)
          add(0xe0000000 | op << 18 | returns << 14 | index << 13 | offset << 12 | lds << 16, w1);
        add(0xe0000000 | op << 18, 0);
      }
  }
  void new_memory() {
    for (uint32_t op = 0; op < 256; ++op) {
      for (uint32_t bits = 0; bits < 64; ++bits)
        for (uint32_t segment = 0; segment < 3; ++segment) {
          const auto value = [bits](unsigned bit, uint32_t field) { return bits >> bit & 1 ? field : 0; };
          add(0xec000000 | segment << 24 | op << 14 | (bits & 1 ? 4 : 0x7c),
              value(1, 12) | value(2, 1 << 20) | value(3, 8 << 23) | value(5, 1 << 17),
              value(4, 2 | 16 << 8));
        }
      for (uint32_t bits = 0; bits < 4; ++bits)
        for (uint32_t hint : {0u, 1u << 20})
          add(0xc4000000 | op << 14 | 0x7c, 12 | 8 << 9 | hint | bits << 30, bits ? 2 | 16 << 8 : 16 << 8);
      add(0xcc000000 | op << 16, 4);
      add(0xce000000 | op << 16 | 4, 0);
    }
  }
  void dual() {
    for (uint32_t x = 0; x < 16; ++x)
      for (uint32_t y = 0; y < 32; ++y)
        for (uint32_t with = 0; with < 4; ++with)
          add(0xc8000000 | x << 22 | y << 17 | (with & 1 ? 12 << 9 : 0) | 0x108,
              5u << 24 | 2 << 17 | (with & 2 ? 13 << 9 : 0) | 0x109, 0x3f800000);
    for (uint32_t op = 0; op < 4; ++op) add(0xce000000 | op << 20 | 4, 0);
  }

  Disassembler disassembler_;
  unsigned generation_ = 0;
};

struct Exception {
  std::string reason;
  bool used = false;
};
/// "name chip[,chip..] reason". The chip `doc`: a name (or a prefix and *) that AMD documents and LLVM's
/// disassembler of these chips does not know.
std::map<std::pair<std::string, std::string>, Exception> read_exceptions() {
  std::map<std::pair<std::string, std::string>, Exception> all;
  std::ifstream file(std::string(BW_SOURCE_DIR) + "/tests/emu/coverage_exceptions.txt");
  EXPECT_TRUE(file.good());
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::string name, chips, chip, reason;
    words >> name >> chips;
    std::getline(words >> std::ws, reason);
    EXPECT_FALSE(reason.empty()) << "an exception needs a reason: " << line;
    std::istringstream list(chips);
    while (std::getline(list, chip, ',')) all[{name, chip}] = {reason, false};
  }
  return all;
}

std::string base_name(const std::string& key) { return parse_text(key.substr(0, key.find(' '))).mnemonic; }

class Coverage : public testing::TestWithParam<const char*> {};

TEST_P(Coverage, EveryInstructionHasARow) {
  const Chip* chip = find_chip(GetParam());
  ASSERT_NE(chip, nullptr);
  const Enumeration all(*chip);
  // One program of all samples, one behind the other.
  std::vector<std::byte> code;
  std::vector<std::pair<std::string, std::string>> order;
  for (const auto& [key, samples] : all.found) {
    if (key == "s_code_end" || graphics_or_tools(base_name(key))) continue;
    for (const Sample& s : samples) {
      const auto* bytes = reinterpret_cast<const std::byte*>(s.words.data());
      code.insert(code.end(), bytes, bytes + s.bytes);
      order.emplace_back(key, s.text);
    }
  }
  Kernel kernel;
  kernel.chip = chip;
  kernel.code = code.data();
  kernel.wavefront_size = chip->wave_size();
  const Program program(kernel, code.data(), code.data() + code.size(), false);

  std::map<std::string, std::vector<std::string>> missing;  // by mnemonic: the texts that do not bind
  std::set<std::string> names;
  std::map<uint32_t, bool> ok;  // by index of the text
  for (const Op& op : program.ops()) {
    const auto [at, fresh] = ok.try_emplace(op.text, true);
    at->second = at->second && op.row != nullptr;
  }
  ASSERT_EQ(ok.size(), order.size() + 1);
  for (size_t i = 0; i < order.size(); ++i) {
    // (The form of a load that goes to LDS counts by itself.)
    const std::string name = base_name(order[i].first) + (order[i].first.ends_with(" lds") ? "+lds" : "");
    names.insert(name);
    if (!ok[uint32_t(i)]) missing[name].push_back(order[i].second);
  }
  auto exceptions = read_exceptions();
  for (const auto& [name, texts] : missing) {
    const auto found = exceptions.find({name, GetParam()});
    if (found != exceptions.end()) {
      found->second.used = true;
      continue;
    }
    ADD_FAILURE() << name << ": " << texts[0]
                  << (texts.size() > 1 ? " and " + std::to_string(texts.size() - 1) + " more" : "");
  }
  for (const auto& [key, exception] : exceptions)
    EXPECT_TRUE(exception.used || key.second != GetParam())
        << key.first << " is executed now, or no instruction of " << key.second
        << ": take it out of the exceptions";
  std::printf("%s: %zu of %zu instructions\n", GetParam(), names.size() - missing.size(), names.size());
}

INSTANTIATE_TEST_SUITE_P(Chips, Coverage,
                         testing::Values("gfx906", "gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1151",
                                         "gfx1200", "gfx1201"),
                         [](const auto& info) { return std::string(info.param); });

/// The enumeration finds what AMD documents, as far as LLVM knows it.
TEST(Coverage, EnumerationFindsWhatIsDocumented) {
  std::ifstream absent(std::string(BW_SOURCE_DIR) + "/../shared/isa/rdna4.json");
  if (!absent) GTEST_SKIP() << "no ../shared/isa";
  std::vector<std::string> unknown;
  for (const auto& [key, exception] : read_exceptions())
    if (key.second == "doc") unknown.push_back(key.first);
  const auto is_unknown = [&](const std::string& name) {
    return std::any_of(unknown.begin(), unknown.end(), [&](const std::string& u) {
      return u.ends_with('*') ? name.starts_with(u.substr(0, u.size() - 1)) : name == u;
    });
  };
  const std::pair<const char*, std::vector<const char*>> tables[] = {
      {"cdna", {"gfx942"}}, {"rdna3", {"gfx1100", "gfx1151"}}, {"rdna4", {"gfx1200"}}};
  for (const auto& [table, chips] : tables) {
    std::ifstream file(std::string(BW_SOURCE_DIR) + "/../shared/isa/" + table + ".json");
    const nlohmann::json documented = nlohmann::json::parse(file);
    std::set<std::string> known;
    for (const char* name : chips)
      for (const auto& [key, samples] : Enumeration(*find_chip(name)).found) {
        known.insert(base_name(key));
        if (const size_t pair = key.find(":: "); pair != std::string::npos)
          known.insert(key.substr(pair + 3));
      }
    for (const auto& [encoding, instructions] : documented.items())
      for (const auto& [upper, row] : instructions.items()) {
        std::string lower = upper;
        std::transform(lower.begin(), lower.end(), lower.begin(),
                       [](unsigned char c) { return char(std::tolower(c)); });
        lower = parse_text(lower).mnemonic;
        EXPECT_TRUE(known.contains(lower) || graphics_or_tools(lower) || is_unknown(lower))
            << table << " " << encoding << ": no opcode that was tried gives " << lower;
      }
  }
}

}  // namespace
}  // namespace emu::exec
