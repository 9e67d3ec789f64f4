// SPDX-License-Identifier: Apache-2.0
#include "emu/isa/assembly.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>

#include "emu/support/compile.h"

namespace emu::isa {
namespace {

std::string range(char file, int first, int count) {
  if (count == 1) return file + std::to_string(first);
  return std::string(1, file) + "[" + std::to_string(first) + ":" + std::to_string(first + count - 1) + "]";
}
std::string lower(std::string text) {
  for (char& c : text) c = char(std::tolower(static_cast<unsigned char>(c)));
  return text;
}
std::string hexadecimal(uint32_t value) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%x", value);
  return text;
}

std::string command(const Target& t, const std::string& more) {
  return std::string(EMU_CLANG) + " -x assembler --target=amdgcn-amd-amdhsa -mcpu=" + t.chip +
         (t.generation >= 10 ? t.lanes == 64 ? " -mwavefrontsize64" : " -mno-wavefrontsize64" : "") +
         " -mcode-object-version=5 " + more;
}
std::vector<std::byte> bytes_of(const std::string& text) {
  const auto* start = reinterpret_cast<const std::byte*>(text.data());
  return {start, start + text.size()};
}

/// Names that changed between the generations.
struct Names {
  std::string load4, store4, store2, scalar_load4, wait_scalar, wait_load, exec, vcc, move;
  explicit Names(const Target& t) {
    const bool old = t.generation <= 10;
    load4 = old ? "global_load_dwordx4 " : "global_load_b128 ";
    store4 = old ? "global_store_dwordx4 " : "global_store_b128 ";
    store2 = old ? "global_store_dwordx2 " : "global_store_b64 ";
    scalar_load4 = old ? "s_load_dwordx4 " : "s_load_b128 ";
    wait_scalar = t.generation >= 12 ? "s_wait_kmcnt 0x0\n" : "s_waitcnt lgkmcnt(0)\n";
    wait_load = t.generation >= 12 ? "s_wait_loadcnt 0x0\n" : "s_waitcnt vmcnt(0)\n";
    exec = t.lanes == 64 ? "exec" : "exec_lo";
    vcc = t.lanes == 64 ? "vcc" : "vcc_lo";
    move = t.lanes == 64 ? "s_mov_b64 " : "s_mov_b32 ";
  }
};

/// S0 v[8:9], S1 v[10:11], S2 v[12:15], destination v[16:19], VCC's bit v20, EXEC's bit v21.
void vector_body(std::ostream& out, const std::string& line, const Target& t, const Names& n) {
  const int words = t.lanes == 64 ? 2 : 1;
  const auto mask = [&](int first) { return range('s', first, words); };
  out << "v_cmp_ne_u32_e64 " << mask(22) << ", 0, v20\n"
      << "v_cmp_ne_u32_e64 " << mask(20) << ", 0, v21\n"
      << n.move << n.vcc << ", " << mask(22) << "\n"
      << n.move << mask(24) << ", 0\n"
      << "s_mov_b32 s28, 0\n"
      << "v_readfirstlane_b32 s30, v8\nv_readfirstlane_b32 s29, v10\nv_readfirstlane_b32 s31, v12\n"
      << "s_mov_b32 m0, s29\n"
      << n.move << n.exec << ", " << mask(20) << "\n"
      << line << "\n"
      << n.move << mask(26) << ", " << n.exec << "\n"
      << n.move << n.exec << ", -1\n"
      << "v_cndmask_b32_e64 v24, 0, 1, " << n.vcc << "\n"
      << "v_cndmask_b32_e64 v25, 0, 1, " << mask(24) << "\n"
      << "v_cndmask_b32_e64 v26, 0, 1, " << mask(26) << "\n"
      << "v_mov_b32 v27, s28\n";
}
std::string wait_all(const Target& t) {
  return t.generation >= 12 ? "s_wait_loadcnt 0x0\ns_wait_storecnt 0x0\ns_wait_dscnt 0x0\ns_wait_kmcnt 0x0\n"
         : t.generation >= 10 ? "s_waitcnt 0x0\ns_waitcnt_vscnt null, 0x0\n"
                              : "s_waitcnt 0x0\n";
}
/// Data in v[12:15] and v[10:11] (v[16:19] where the result replaces it), LDS address in v7, offset in memory
/// in v6, the item's address less 48 in v[22:23], 16 in v5; a buffer over the output in s[44:47], 32 in s43.
void memory_body(std::ostream& out, const std::string& line, const Target& t, const Names& n, Body body) {
  const int words = t.lanes == 64 ? 2 : 1;
  const bool old = t.generation <= 10;
  const std::string wait = wait_all(t), mask = range('s', 20, words);
  const std::string put = body == Body::Lds
                              ? old ? "ds_write_b128 v7, v[8:11]\n" : "ds_store_b128 v7, v[8:11]\n"
                          : body == Body::Scratch ? old ? "scratch_store_dwordx4 v5, v[8:11], off offset:16\n"
                                                        : "scratch_store_b128 v5, v[8:11], off offset:16\n"
                                                  : n.store4 + "v6, v[8:11], s[6:7]\n";
  out << "v_lshlrev_b32 v7, 4, v0\nv_or_b32 v6, 48, v1\nv_mov_b32 v5, 16\n"
      << (t.generation >= 12 ? "v_mad_co_u64_u32" : "v_mad_u64_u32") << " v[22:23], " << mask
      << ", v0, 64, s[6:7]\n"
      << "s_mov_b64 s[44:45], s[6:7]\ns_mov_b32 s46, 0x10000\ns_mov_b32 s47, 0x31014000\ns_mov_b32 s43, 32\n";
  if (body == Body::Replaced)
    for (int i = 0; i < 4; ++i) out << "v_mov_b32 v" << 16 + i << ", v" << 12 + i << "\n";
  out << put << wait << "v_cmp_ne_u32_e64 " << mask << ", 0, v21\n"
      << n.move << n.exec << ", " << mask << "\n"
      << line << "\n"
      << wait << n.move << n.exec << ", -1\n";
  if (body == Body::Lds) out << (old ? "ds_read_b128 v[28:31], v7\n" : "ds_load_b128 v[28:31], v7\n");
  if (body == Body::Scratch)
    out << (old ? "scratch_load_dwordx4" : "scratch_load_b128") << " v[28:31], v5, off offset:16\n";
  if (body == Body::Lds || body == Body::Scratch)
    out << wait << n.store4 << "v1, v[28:31], s[6:7] offset:48\n";
}
/// One lane after the other: data or destination s[12:15] (s[48:63] of the wide ones), the item's address
/// less 48 s[44:45], which begins a buffer s[44:47] too, 16 in s43.
void scalar_memory_body(std::ostream& out, const std::string& line, const Target& t, const Names& n,
                        Body body, size_t index) {
  const bool wide = body == Body::SmemWide;
  out << "v_or_b32 v6, 48, v1\n"
      << (t.generation >= 12 ? "v_mad_co_u64_u32" : "v_mad_u64_u32") << " v[22:23], "
      << range('s', 20, t.lanes == 64 ? 2 : 1) << ", v0, 64, " << (wide ? "s[4:5]" : "s[6:7]") << "\n";
  if (!wide) out << n.store4 << "v6, v[8:11], s[6:7]\n";
  out << wait_all(t) << "s_mov_b32 s43, 16\ns_mov_b32 s40, 0\n.Lloop" << index << ":\n";
  for (int i = 0; i < 4; ++i)
    out << "v_readlane_b32 s" << 12 + i << ", v" << (body == Body::SmemLoad ? 16 : 12) + i << ", s40\n";
  out << "v_readlane_b32 s44, v22, s40\nv_readlane_b32 s45, v23, s40\ns_mov_b32 s46, "
      << (wide ? "0x70" : "0x40") << "\ns_mov_b32 s47, 0x31014000\n";
  if (wide) {
    out << "s_sub_u32 s44, s44, 48\ns_subb_u32 s45, s45, 0\n";
    for (int i = 0; i < 16; ++i) out << "s_movk_i32 s" << 48 + i << ", " << kWideBefore << "\n";
  }
  out << line << "\n" << wait_all(t) << "s_mov_b32 m0, s40\n";
  for (int i = 0; i < 16 && wide; ++i) out << "v_writelane_b32 v" << 32 + i << ", s" << 48 + i << ", m0\n";
  if (body == Body::SmemLoad || body == Body::SmemAtomic)
    for (int i = 0; i < 4; ++i) out << "v_writelane_b32 v" << 16 + i << ", s" << 12 + i << ", m0\n";
  out << "s_add_i32 s40, s40, 1\ns_cmp_lt_u32 s40, " << t.lanes << "\ns_cbranch_scc1 .Lloop" << index << "\n";
}
/// One lane after the other: S0 s[8:9], S1 s[10:11], destination s[12:13], SCC s14, EXEC s[16:17], VCC
/// s[34:35].
void scalar_body(std::ostream& out, const std::string& line, const Target& t, const Names& n, size_t index) {
  out << "s_mov_b32 s40, 0\n.Lloop" << index << ":\n";
  const int from[][2] = {{8, 8},   {9, 9},   {10, 10}, {11, 11}, {12, 16},
                         {13, 17}, {14, 20}, {16, 12}, {17, 13}};
  for (const auto& [s, v] : from) out << "v_readlane_b32 s" << s << ", v" << v << ", s40\n";
  out << "s_cmp_lg_u32 s14, 0\n"
      << n.move << n.exec << ", " << range('s', 16, t.lanes == 64 ? 2 : 1) << "\n"
      << line << "\n"
      << n.move << range('s', 18, t.lanes == 64 ? 2 : 1) << ", " << n.exec << "\n"
      << "s_cselect_b32 s15, 1, 0\n"
      << n.move << n.exec << ", -1\n"
      << "s_mov_b32 m0, s40\n";
  const int to[][2] = {{12, 16}, {13, 17}, {15, 24}, {18, 25}, {19, 26}};
  for (const auto& [s, v] : to)
    if (s != 19 || t.lanes == 64) out << "v_writelane_b32 v" << v << ", s" << s << ", m0\n";
  out << "s_add_i32 s40, s40, 1\ns_cmp_lt_u32 s40, " << t.lanes << "\ns_cbranch_scc1 .Lloop" << index << "\n";
}

}  // namespace

std::string written(const Instruction& in, const Target& t, uint32_t literal, const Modifiers& modifiers) {
  const bool scalar = in.family[0] == 'S';
  const std::string vcc = t.lanes == 64 ? "vcc" : "vcc_lo";
  const int mask_words = t.lanes == 64 ? 2 : 1;
  std::vector<std::string> words;
  const bool compare = in.family == "VOPC";
  const bool writes_exec = in.base.starts_with("V_CMPX");
  if (compare && (!writes_exec || t.generation == 9)) words.push_back(vcc);
  // The short forms with a carry name VCC, which the tables leave out.
  const bool carry = in.family == "VOP2" && in.base.find("_CO_") != std::string::npos;
  const bool carry_in =
      carry && (in.base.find("_CI_") != std::string::npos || in.base.find("ADDC") != std::string::npos ||
                in.base.find("SUBB") != std::string::npos);
  for (const Operand& o : in.operands) {
    std::string text;
    if (o.type == "EXEC") continue;
    if (o.role == "simm16") {
      if (o.type == "HWREG") return "";
      text = hexadecimal(literal & 0xffff);
    } else if (scalar) {
      const int first = o.role == "sdst" ? 12 : o.role == "src0" ? 8 : 10;
      text = range('s', first, o.registers());
    } else if (o.role == "sdst" ||
               (o.role == "vdst" && (o.format == "M64" || (o.scalar() && o.bits == 64)))) {
      text = range('s', 24, mask_words);
    } else if (o.role == "src2" && o.format == "M64") {
      text = range('s', 22, mask_words);
    } else if (o.role == "vdst") {
      text = o.scalar() ? "s28" : range('v', 16, o.registers());
    } else if (o.type == "SSRC_LANESEL") {
      text = "m0";
    } else if (o.type.starts_with("SSRC")) {
      text = o.role == "src0" ? "s30" : o.role == "src1" ? "s29" : "s31";
    } else {
      const int index = o.role == "src0" ? 0 : o.role == "src1" ? 1 : o.role == "src2" ? 2 : -1;
      if (index < 0) return "";
      text = range('v', 8 + 2 * index, o.registers());
      if ((modifiers.sext >> index & 1) != 0) text = "sext(" + text + ")";
      if ((modifiers.abs >> index & 1) != 0) text = "|" + text + "|";
      if ((modifiers.neg >> index & 1) != 0) text = "-" + text;
    }
    words.push_back(text);
    if (o.role == "vdst" && carry) words.push_back(vcc);
  }
  if (carry_in || (in.family == "VOP2" && in.base.starts_with("V_CNDMASK"))) words.push_back(vcc);
  const std::string constant = hexadecimal(literal);
  if (in.base.find("_FMAAK_") != std::string::npos || in.base.find("_MADAK_") != std::string::npos)
    words.push_back(constant);
  if (in.base.find("_FMAMK_") != std::string::npos || in.base.find("_MADMK_") != std::string::npos)
    words.insert(words.begin() + 2, constant);
  std::string line = modifiers.suffix.empty() ? lower(in.name) : lower(in.base) + modifiers.suffix;
  for (size_t i = 0; i < words.size(); ++i) line += (i == 0 ? " " : ", ") + words[i];
  // The text of these reads lanes that are off: op_sel asks for it.
  if (in.base.starts_with("V_PERMLANE") && in.base.find("16_") != std::string::npos && t.generation >= 10)
    line += " op_sel:[1,0]";
  return line + modifiers.after;
}

Body body_of(const Instruction& in) {
  const bool both = in.operand("both") != nullptr;
  if (in.family == "SMEM")
    return both                                                              ? Body::SmemAtomic
           : in.operand("data") != nullptr                                   ? Body::SmemStore
           : in.operand("vdst") != nullptr && in.operand("vdst")->bits > 128 ? Body::SmemWide
                                                                             : Body::SmemLoad;
  return in.family == "DS"        ? Body::Lds
         : in.family == "SCRATCH" ? Body::Scratch
         : both                   ? Body::Replaced
                                  : Body::Memory;
}

std::string written_memory(const Instruction& in, const Target& t) {
  const std::string& family = in.family;
  const auto has = [&](const char* role) { return in.operand(role) != nullptr; };
  const bool buffer = family == "BUFFER", scalar = family == "SMEM",
             scalar_buffer = in.base.starts_with("S_BUFFER");
  std::vector<std::string> words;
  const auto put = [&](const char* role, char file, int first) {
    if (has(role)) words.push_back(range(file, first, in.operand(role)->registers()));
  };
  std::string after;
  if (scalar) {
    for (const char* role : {"vdst", "data", "both"}) put(role, 's', body_of(in) == Body::SmemWide ? 48 : 12);
    words.emplace_back(scalar_buffer ? "s[44:47]" : "s[44:45]");
    words.emplace_back(t.generation <= 10 ? "0x30" : "s43 offset:0x20");
  } else {
    for (const char* role : {"vdst", "both"}) put(role, 'v', 16);
    if (buffer) put("data", 'v', 12);
    if (family == "DS" ? has("addr") : true)
      words.emplace_back(family == "DS"        ? "v7"
                         : family == "GLOBAL"  ? "v6"
                         : family == "FLAT"    ? "v[22:23]"
                         : family == "SCRATCH" ? "v5"
                                               : "v1");
    if (!buffer) put(family == "DS" ? "data0" : "data", 'v', 12);
    put("data1", 'v', 10);
    if (family == "GLOBAL") words.emplace_back("s[6:7]");
    if (family == "SCRATCH") words.emplace_back("off");
    if (buffer) words.insert(words.end(), {"s[44:47]", "s43"});
    after = family == "FLAT"      ? " offset:48"
            : family == "SCRATCH" ? " offset:16"
            : buffer              ? " offen offset:16"
                                  : "";
  }
  std::string line = lower(in.name);
  for (size_t i = 0; i < words.size(); ++i) line += (i == 0 ? " " : ", ") + words[i];
  line += after;
  // (Arguments of CalcDsAddr are OFFSET1.b32.)
  if (in.source.find("OFFSET1.u32") != std::string::npos) line += " offset1:1";
  if (in.base.find("ATOMIC") != std::string::npos && (has("vdst") || has("both")))
    line += t.generation >= 12 ? " th:TH_ATOMIC_RETURN" : t.chip == "gfx942" && !scalar ? " sc0" : " glc";
  return line;
}

std::vector<bool> accepted(const std::vector<std::string>& lines, const Target& target) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  const test::TemporaryFile input(".s", bytes_of(text)), errors(".txt", {});
  // The assembler names every line that it refuses.
  const std::string line_by_line = "-ferror-limit=0 -c " + input.path() + " -o /dev/null 2>" + errors.path();
  const int status = std::system(command(target, line_by_line).c_str());
  std::vector<bool> ok(lines.size(), true);
  if (status == 0) return ok;
  std::ifstream file(errors.path());
  for (std::string line; std::getline(file, line);) {
    unsigned number = 0;
    if (!line.starts_with(input.path() + ":") || line.find(" error: ") == std::string::npos) continue;
    if (std::sscanf(line.c_str() + input.path().size(), ":%u:", &number) == 1 && number >= 1 &&
        number <= ok.size())
      ok[number - 1] = false;
  }
  return ok;
}

std::vector<std::byte> kernels(const std::vector<std::string>& lines, const std::vector<Body>& bodies,
                               const std::vector<Mode>& modes, const Target& t) {
  const Names n(t);
  const std::string set_mode =
      std::string("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, ") + (t.generation < 12 ? "10" : "8") + "), ";
  std::ostringstream out, metadata;
  out << ".text\n";
  for (size_t i = 0; i < lines.size(); ++i) {
    out << ".globl t" << i << "\n.p2align 8\n.type t" << i << ",@function\nt" << i
        << ":\n"
        // The instruction stands behind a branch as well, where a test finds its machine code.
        << "s_branch .Lgo" << i << "\n"
        << lines[i] << "\n.Lgo" << i << ":\n"
        << n.scalar_load4 << "s[4:7], s[0:1], 0x0\n"
        << "v_and_b32 v0, 0x3ff, v0\nv_lshlrev_b32 v1, 6, v0\n"
        << n.wait_scalar;
    for (int k = 0; k < 4; ++k)
      out << n.load4 << range('v', 8 + 4 * k, 4) << ", v1, s[4:5] offset:" << 16 * k << "\n";
    for (int v = 24; v < 28; ++v) out << "v_mov_b32 v" << v << ", 0\n";
    out << n.wait_load;
    const bool other_mode = !modes.empty() && !modes[i].usual();
    if (other_mode) out << set_mode << modes[i].bits(t.generation) << "\n";
    if (bodies[i] == Body::Scalar)
      scalar_body(out, lines[i], t, n, i);
    else if (bodies[i] == Body::Vector)
      vector_body(out, lines[i], t, n);
    else if (bodies[i] >= Body::SmemLoad)
      scalar_memory_body(out, lines[i], t, n, bodies[i], i);
    else
      memory_body(out, lines[i], t, n, bodies[i]);
    if (other_mode) out << set_mode << Mode().bits(t.generation) << "\n";
    if (bodies[i] == Body::SmemWide)
      for (int k = 0; k < 4; ++k)
        out << n.store4 << "v1, " << range('v', 32 + 4 * k, 4) << ", s[6:7] offset:" << 16 * k << "\n";
    else
      out << n.store4 << "v1, v[16:19], s[6:7]\n"
          << n.store4 << "v1, v[24:27], s[6:7] offset:16\n"
          << n.store2 << "v1, v[8:9], s[6:7] offset:32\n";
    out << "s_endpgm\n.Lend" << i << ":\n.size t" << i << ", .Lend" << i << "-t" << i << "\n";
    metadata << "  - .name: t" << i << "\n    .symbol: t" << i << ".kd\n    .kernarg_segment_size: 16\n"
             << "    .kernarg_segment_align: 8\n    .group_segment_fixed_size: 16384\n    "
                ".private_segment_fixed_size: 64\n"
             << "    .wavefront_size: " << t.lanes << "\n    .sgpr_count: 64\n    .vgpr_count: 48\n"
             << "    .max_flat_workgroup_size: 1024\n    .args:\n"
             << "      - {.size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}\n"
             << "      - {.size: 8, .offset: 8, .value_kind: global_buffer, .address_space: global}\n";
  }
  out << ".rodata\n";
  for (size_t i = 0; i < lines.size(); ++i) {
    out << ".p2align 6\n.amdhsa_kernel t" << i << "\n.amdhsa_user_sgpr_kernarg_segment_ptr 1\n"
        << ".amdhsa_group_segment_fixed_size 16384\n.amdhsa_next_free_vgpr 48\n.amdhsa_next_free_sgpr "
           "64\n.amdhsa_float_denorm_mode_32 3\n"
        << ".amdhsa_float_denorm_mode_16_64 3\n.amdhsa_private_segment_fixed_size 64\n"
        << (t.generation >= 11 || t.chip == "gfx942"
                ? ".amdhsa_enable_private_segment 1\n"
                : ".amdhsa_system_sgpr_private_segment_wavefront_offset 1\n");
    if (t.generation >= 10) out << ".amdhsa_wavefront_size32 " << (t.lanes == 32) << "\n";
    if (t.accumulators) out << ".amdhsa_accum_offset 48\n";
    if (t.generation < 12) out << ".amdhsa_ieee_mode 1\n.amdhsa_dx10_clamp 1\n";
    out << ".end_amdhsa_kernel\n";
  }
  out << ".amdgpu_metadata\n---\namdhsa.version: [1, 2]\namdhsa.kernels:\n"
      << metadata.str() << "...\n.end_amdgpu_metadata\n";
  const test::TemporaryFile input(".s", bytes_of(out.str())), output(".hsaco", {});
  test::output_of(command(t, input.path() + " -o " + output.path() + " 2>&1"));
  std::ifstream file(output.path(), std::ios::binary);
  return bytes_of(std::string{std::istreambuf_iterator<char>(file), {}});
}

}  // namespace emu::isa
