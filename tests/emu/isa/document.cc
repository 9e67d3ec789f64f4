// SPDX-License-Identifier: Apache-2.0
#include "emu/isa/document.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

namespace emu::isa {
namespace {

/// Encodings, and what they are called here: gfx12 has new names for some.
const std::pair<const char*, const char*> kFamilies[] = {
    {"VOP1", "VOP1"},        {"VOP2", "VOP2"},    {"VOP3", "VOP3"},      {"VOP3SD", "VOP3SD"},
    {"VOP3P", "VOP3P"},      {"VOPC", "VOPC"},    {"SOP1", "SOP1"},      {"SOP2", "SOP2"},
    {"SOPC", "SOPC"},        {"SOPK", "SOPK"},    {"DS", "DS"},          {"GLOBAL", "GLOBAL"},
    {"VGLOBAL", "GLOBAL"},   {"FLAT", "FLAT"},    {"VFLAT", "FLAT"},     {"SCRATCH", "SCRATCH"},
    {"VSCRATCH", "SCRATCH"}, {"MUBUF", "BUFFER"}, {"VBUFFER", "BUFFER"}, {"SMEM", "SMEM"}};

bool is_memory(const std::string& family) {
  for (const char* name : {"DS", "GLOBAL", "FLAT", "SCRATCH", "BUFFER", "SMEM"})
    if (family == name) return true;
  return false;
}
/// The operand's role under one name for all encodings; empty for addresses that the kernels choose.
std::string role_of(const std::string& role, const std::string& family, const std::string& name) {
  if (!is_memory(family))
    return role == "vsrc0" || role == "ssrc0" || role == "vsrc" ? "src0"
           : role == "vsrc1" || role == "ssrc1"                 ? "src1"
                                                                : role;
  if (role == "vdata" || role == "sdata")
    return name.find("_ATOMIC_") != std::string::npos ? "both"
           : name.find("_LOAD_") != std::string::npos ? "vdst"
                                                      : "data";
  if (role == "vsrc") return "data";
  return role == "vaddr" ? "addr" : role == "addr" || role == "vdst" || role.starts_with("data") ? role : "";
}

std::string without(const std::string& text, const std::string& prefix) {
  return text.starts_with(prefix) ? text.substr(prefix.size()) : text;
}
std::string text_of(const nlohmann::json& value) {  // some entries are null
  return value.is_string() ? value.get<std::string>() : "";
}
std::string upper(std::string text) {
  for (char& c : text) c = char(std::toupper(static_cast<unsigned char>(c)));
  return text;
}
/// The assembler's order of the operands.
int rank(const std::string& role) {
  static const char* const kRoles[] = {"vdst", "sdst", "src0", "src1", "src2", "simm16"};
  for (int i = 0; i < 6; ++i)
    if (role == kRoles[i]) return i;
  return 6;
}

}  // namespace

bool Operand::scalar() const {
  return type.find("VGPR") == std::string::npos && type[0] == 'S' && type != "SRC" &&
         !type.starts_with("SRC_");
}

const Operand* Instruction::operand(const std::string& role) const {
  for (const Operand& o : operands)
    if (o.role == role) return &o;
  return nullptr;
}

Document::Document(const std::string& name) : name_(name) {
  std::ifstream file(std::string(BW_SOURCE_DIR) + "/../shared/isa/" + name + ".json");
  if (!file) return;
  const nlohmann::json all = nlohmann::json::parse(file);
  for (const auto& [encoding, family] : kFamilies) {
    if (!all.contains(encoding)) continue;
    const nlohmann::json& table = all[encoding];
    for (const auto& [full, entry] : table.items()) {
      Instruction in;
      in.family = family;
      in.name = full;
      in.base = full.ends_with("_E32") || full.ends_with("_E64") ? full.substr(0, full.size() - 4) : full;
      // The same instruction stands under its plain name too.
      if (in.base == full && (table.contains(full + "_E32") || table.contains(full + "_E64"))) continue;
      in.opcode = entry["opcode"];
      const nlohmann::json operands = entry.value("operands", nlohmann::json::object());
      for (const auto& [role, operand] : operands.items()) {
        Operand o;
        o.role = role_of(role, in.family, in.name);
        if (o.role.empty()) continue;
        o.format = without(without(text_of(operand["format"]), "FMT_NUM_"), "FMT_");
        o.type = without(text_of(operand["type"]), "OPR_");
        o.bits = operand["bits"].is_number() ? operand["bits"].get<int>() : 0;
        in.operands.push_back(o);
      }
      std::stable_sort(in.operands.begin(), in.operands.end(),
                       [](const Operand& a, const Operand& b) { return rank(a.role) < rank(b.role); });
      // CDNA's table has the text of a VOP1 instruction in its short form only.
      nlohmann::json lines = entry.value("semantics", nlohmann::json::array());
      if (lines.empty() && std::string(family) == "VOP3" && all.contains("VOP1") &&
          all["VOP1"].contains(in.base))
        lines = all["VOP1"][in.base].value("semantics", nlohmann::json::array());
      for (const auto& line : lines) in.source += line.get<std::string>() + "\n";
      if (!in.source.empty()) {
        if (!trees_.contains(in.source)) {
          try {
            trees_[in.source] = parse(lines.get<std::vector<std::string>>());
          } catch (const TextError& error) {
            in.trouble = error.what();
          }
        }
        if (in.trouble.empty()) in.text = trees_[in.source].get();
        if (in.text != nullptr) by_base_.emplace(in.base, in.text);
      }
      (is_memory(in.family) ? memory_ : instructions_).push_back(std::move(in));
    }
  }
  library_ = [this](const std::string& called) -> const Node* {
    std::string wanted = upper(called);
    // Names that the text kept from older chips.
    if (wanted == "S_FF1_I32_B32" && !by_base_.contains(wanted)) wanted = "S_CTZ_I32_B32";
    if (wanted == "S_FF1_I32_B64" && !by_base_.contains(wanted)) wanted = "S_CTZ_I32_B64";
    const auto found = by_base_.find(wanted);
    return found == by_base_.end() ? nullptr : found->second;
  };
}

}  // namespace emu::isa
