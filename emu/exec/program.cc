// SPDX-License-Identifier: Apache-2.0
#include "emu/exec/program.h"

#include <llvm-c/Disassembler.h>
#include <llvm-c/Target.h>

#include <cstring>
#include <stdexcept>

#include "emu/exec/decode.h"
#include "emu/exec/host_calls.h"
#include "emu/exec/registers.h"
#include "emu/exec/service.h"

namespace emu::exec {
namespace {

/// LLVM's disassembler of one chip; one thread at a time.
class Disassembler {
 public:
  Disassembler(const char* chip, bool wave64) {
    static std::once_flag once;
    std::call_once(once, [] {
      LLVMInitializeAMDGPUTargetInfo();
      LLVMInitializeAMDGPUTargetMC();
      LLVMInitializeAMDGPUDisassembler();
    });
    context_ = LLVMCreateDisasmCPUFeatures("amdgcn-amd-amdhsa", chip,
                                           wave64 ? "+wavefrontsize64" : "+wavefrontsize32", nullptr, 0,
                                           nullptr, nullptr);
    if (context_ == nullptr) throw std::runtime_error(std::string("LLVM cannot disassemble ") + chip);
  }
  ~Disassembler() { LLVMDisasmDispose(context_); }
  Disassembler(const Disassembler&) = delete;
  Disassembler& operator=(const Disassembler&) = delete;

  /// Bytes of the instruction, 0 when it is none.
  size_t next(const std::byte* at, size_t bytes, uint64_t pc, std::string& text) {
    char buffer[512];
    const size_t size = LLVMDisasmInstruction(
        context_, reinterpret_cast<uint8_t*>(const_cast<std::byte*>(at)), bytes, pc, buffer, sizeof(buffer));
    text = size == 0 ? "" : buffer;
    while (!text.empty() && (text.front() == '\t' || text.front() == ' ')) text.erase(0, 1);
    return size;
  }

 private:
  LLVMDisasmContextRef context_;
};

bool reads(const Op& op, uint16_t vector_register, uint8_t words) {
  for (const Source& s : op.src)
    if (s.place == Place::Vector && s.reg < vector_register + words && vector_register < s.reg + s.words)
      return true;
  return false;
}

}  // namespace

uint32_t generation_of(const Kernel& kernel) {
  // The last two digits are minor and stepping.
  const std::string_view name = kernel.chip->name;
  uint32_t major = 0;
  for (char c : name.substr(3, name.size() - 5)) major = major * 10 + uint32_t(c - '0');
  return major;
}

/// Appends operations; VOPD's two halves become two or three.
class Decoder {
 public:
  explicit Decoder(Program& program)
      : p_(program), context_{program.lanes_,   program.generation_, &program.rows_,
                              &program.row_of_, &program.dpps_,      &program.vector_registers_} {}

  void run(bool function) {
    Disassembler disassembler(p_.kernel_.chip->name, p_.lanes_ == 64);
    const size_t bytes = p_.code_.size();
    uint32_t furthest = 0;  // of branch targets: a function goes on at least to there
    for (size_t at = 0; at + 4 <= bytes;) {
      std::string text;
      size_t size = disassembler.next(p_.code_.data() + at, bytes - at, p_.base_ + at, text);
      const bool known = size != 0;
      if (!known) {
        size = 4;
        text = "(no instruction)";
      }
      uint32_t raw[8] = {};
      std::memcpy(raw, p_.code_.data() + at, size < sizeof(raw) ? size : sizeof(raw));
      p_.at_[uint32_t(at)] = uint32_t(p_.ops_.size());
      p_.texts_.push_back(text);
      append(text, known, raw, size / 4, uint32_t(at));
      const Op& last = p_.ops_.back();
      if (last.row != nullptr && last.row->form == Form::Branch) {
        const int64_t target = int64_t(at) + last.imm;
        if (target > int64_t(furthest)) furthest = uint32_t(target);
      }
      at += size;
      if (text.starts_with("s_swappc") || text.starts_with("s_setpc") || text.starts_with("s_call"))
        p_.calls_ = true;
      if (text.starts_with("s_code_end")) break;
      const bool ends = text.starts_with("s_setpc") || text.starts_with("s_endpgm");
      if (function && ends && furthest < at) break;
    }
    Op stop{};
    stop.run = unknown_instruction;
    p_.texts_.emplace_back("(end of the code)");
    place(stop, uint32_t(p_.code_.size()));
    for (Op& op : p_.ops_) {
      if (op.row == nullptr || op.row->form != Form::Branch) continue;
      const auto found = p_.at_.find(uint32_t(int64_t(op.offset) - offset_base() + op.imm));
      op.target = found == p_.at_.end() ? &p_.ops_.back() : &p_.ops_[found->second];
    }
    if (p_.kernel_.image != nullptr)
      replace_heap_functions(*p_.kernel_.image, p_.base_, bytes, p_.at_, p_.ops_);
  }

 private:
  // Operations of functions count their offsets from the kernel's entry too.
  int64_t offset_base() const {
    return int64_t(p_.base_) - int64_t(reinterpret_cast<uint64_t>(p_.kernel_.code));
  }
  void place(Op op, uint32_t at) {
    op.offset = uint32_t(int64_t(at) + offset_base());
    op.text = uint32_t(p_.texts_.size() - 1);
    op.index = uint32_t(op.flags & kSecond ? Class::Count : op.row != nullptr ? op.row->cls : Class::Other);
    p_.ops_.push_back(op);
  }
  void append(const std::string& text, bool known, const uint32_t* raw, size_t words, uint32_t at) {
    const size_t pair = text.find("::");
    if (pair != std::string::npos) return append_pair(text, pair, raw, words, at);
    Op op{};
    op.run = unknown_instruction;
    if (known) decode_operation(parse_text(text), raw, words, context_, op);
    place(op, at);
  }
  /// Both halves read before either writes: Y goes first, or X's result waits in a spare register.
  void append_pair(const std::string& text, size_t pair, const uint32_t* raw, size_t words, uint32_t at) {
    Op x, y;
    decode_half(text.substr(0, pair), raw, words, x);
    decode_half(text.substr(pair + 2), raw, words, y);
    if (x.row == nullptr || y.row == nullptr) {
      Op op{};
      op.run = unknown_instruction;
      return place(op, at);
    }
    if (!reads(y, x.dst, x.dst_words)) {
      y.flags |= kSecond;
      place(x, at);
      return place(y, at);
    }
    if (!reads(x, y.dst, y.dst_words)) {
      x.flags |= kSecond;
      place(y, at);
      return place(x, at);
    }
    constexpr uint16_t kSpare = kSpareRegister;
    Op move;
    decode_operation(parse_text("v_mov_b32_e32 v" + std::to_string(x.dst) + ", v0"), raw, words, context_,
                     move);
    move.src[0].reg = kSpare;
    move.src[0].offset = kSpare * p_.lanes_;
    x.dst = kSpare;
    x.dst_offset = kSpare * p_.lanes_;
    if (p_.vector_registers_ < kSpare + 1) p_.vector_registers_ = kSpare + 1;
    y.flags |= kSecond;
    move.flags |= kSecond;
    place(x, at);
    place(y, at);
    place(move, at);
  }
  void decode_half(std::string text, const uint32_t* raw, size_t words, Op& op) {
    const size_t dual = text.find("v_dual_");
    if (dual != std::string::npos) text.replace(dual, 7, "v_");
    decode_operation(parse_text(text), raw, words, context_, op);
  }

  Program& p_;
  DecodeContext context_;
};

Program::Program(const Kernel& kernel, const std::byte* begin, const std::byte* end, bool function)
    : kernel_(kernel),
      base_(reinterpret_cast<uint64_t>(begin)),
      lanes_(kernel.wavefront_size),
      generation_(generation_of(kernel)),
      code_(begin, end) {
  if (lanes_ != 32 && lanes_ != 64) lanes_ = kernel.chip->wave_size();
  Decoder(*this).run(function);
}

std::shared_ptr<Program> Program::of(const Kernel& kernel) {
  static std::mutex mutex;
  // Never destroyed: workers may run while the process ends.
  static auto& programs = *new std::map<std::pair<uint64_t, uint64_t>, std::shared_ptr<Program>>;
  const std::lock_guard lock(mutex);
  std::shared_ptr<Program>& program =
      programs[{reinterpret_cast<uint64_t>(kernel.code), kernel.descriptor_address}];
  if (program == nullptr || program->code_.size() != kernel.code_bytes ||
      program->kernel_.chip != kernel.chip || program->kernel_.wavefront_size != kernel.wavefront_size ||
      std::memcmp(program->code_.data(), kernel.code, kernel.code_bytes) != 0)
    program = std::make_shared<Program>(kernel, kernel.code, kernel.code + kernel.code_bytes, false);
  return program;
}

const Op* Program::find(uint64_t address) {
  const auto here = [address](const Program& p) -> const Op* {
    if (address < p.base_ || address >= p.base_ + p.code_.size()) return nullptr;
    const auto found = p.at_.find(uint32_t(address - p.base_));
    return found == p.at_.end() ? nullptr : &p.ops_[found->second];
  };
  if (const Op* op = here(*this)) return op;
  const std::lock_guard lock(mutex_);
  for (const auto& function : functions_)
    if (const Op* op = here(*function)) return op;
  const Image* image = kernel_.image;
  if (image == nullptr) return nullptr;
  const std::byte* at = reinterpret_cast<const std::byte*>(address);
  const std::byte* end = image->text() + image->text_bytes();
  if (at < image->text() || at >= end || address % 4 != 0) return nullptr;
  functions_.push_back(std::make_unique<Program>(kernel_, at, end, true));
  return here(*functions_.back());
}

const Program& Program::owner(const Op* op) const {
  const auto holds = [op](const Program& p) {
    return op >= p.ops_.data() && op < p.ops_.data() + p.ops_.size();
  };
  if (holds(*this)) return *this;
  const std::lock_guard lock(mutex_);
  for (const auto& function : functions_)
    if (holds(*function)) return *function;
  return *this;
}

}  // namespace emu::exec
