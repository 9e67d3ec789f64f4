// SPDX-License-Identifier: Apache-2.0
#include "backends/gpu/rtc/code_info.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "backends/gpu/rtc/code_object.h"
#include "core/fail.h"
#include "core/os/symbols.h"

namespace beeswax::gpu::rtc {
namespace {

// Words and signs of PTX; comments and blanks lie between them.
class Words {
 public:
  explicit Words(std::string_view text) : text_(text) {}
  // The next word, or one of the signs between words; empty at the end.
  std::string_view next() {
    for (;;) {
      while (at_ < text_.size() && (text_[at_] <= ' ')) ++at_;
      if (!text_.substr(at_).starts_with("//")) break;
      at_ = std::min(text_.find('\n', at_), text_.size());
    }
    const size_t start = at_;
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    if (at_ == start && at_ < text_.size()) ++at_;
    return text_.substr(start, at_ - start);
  }
  // Steps over the next word where it is this one.
  bool is_next(std::string_view expected) {
    const size_t before = at_;
    if (next() == expected) return true;
    at_ = before;
    return false;
  }

 private:
  static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '$' || c == '%';
  }
  std::string_view text_;
  size_t at_ = 0;
};

uint32_t number(std::string_view word) {
  uint32_t value = 0;
  std::from_chars(word.data(), word.data() + word.size(), value);
  return value;
}

// After "(": ".param .align 8 .b8 name[24]" or ".param .u64 .ptr .global .align 4 name", with commas, to ")".
void read_parameters(Words& words, KernelInfo& kernel) {
  Parameter parameter;
  for (std::string_view word = words.next(); !word.empty(); word = words.next()) {
    if (word == ".align") {
      words.next();
    } else if (word == ".ptr") {
      parameter.kind = Parameter::Kind::Pointer;
    } else if (word == "[") {
      parameter.bytes *= number(words.next());
    } else if (word == "," || word == ")") {
      if (parameter.bytes > 0) kernel.parameters.push_back(parameter);
      parameter = {};
      if (word == ")") return;
    } else if (word.size() > 2 && word[0] == '.' && std::strchr("bfsu", word[1]) != nullptr) {
      if (const uint32_t bits = number(word.substr(2)); bits > 0) parameter.bytes = bits / 8;
    }
  }
}

std::vector<KernelInfo> ptx_kernels(std::string_view text) {
  std::vector<KernelInfo> out;
  Words words(text);
  for (std::string_view word = words.next(); !word.empty(); word = words.next()) {
    if (word != ".entry") continue;
    KernelInfo kernel;
    kernel.symbol = words.next();
    // Before the body stand the parameters, if there are any, and the bounds of a block.
    for (word = words.next(); !word.empty() && word != "{" && word != ";"; word = words.next()) {
      if (word == "(") {
        read_parameters(words, kernel);
      } else if (word == ".maxntid" || word == ".reqntid") {
        kernel.most_threads = number(words.next());
        while (words.is_next(",")) kernel.most_threads *= number(words.next());
      }
    }
    if (word != ";") out.push_back(std::move(kernel));  // else it is only declared
  }
  return out;
}

// "void image::blur<float>(float*, int)" without what it gives and takes.
std::string source_name(const std::string& symbol) {
  std::string name = os::demangled(symbol);
  if (name == symbol) return name;
  if (name.ends_with(')')) {
    int depth = 0;
    for (size_t at = name.size(); at-- > 0;) {
      depth += name[at] == ')' ? 1 : name[at] == '(' ? -1 : 0;
      if (depth == 0) {
        name.resize(at);
        break;
      }
    }
  }
  return name.starts_with("void ") ? name.substr(5) : name;
}

}  // namespace

std::vector<KernelInfo> kernels_of(std::span<const std::byte> code) {
  constexpr std::string_view kElf = "\177ELF";
  const std::string_view text(reinterpret_cast<const char*>(code.data()), code.size());
  std::vector<KernelInfo> out;
  if (text.starts_with(kElf)) {
    out = code_object_kernels(code);
  } else if (text.find(".version") != std::string_view::npos) {
    out = ptx_kernels(text.substr(0, text.find('\0')));
  } else {
    fail(ErrorKind::Format, "compile", "the compiled code is neither a code object nor PTX");
  }
  for (KernelInfo& kernel : out) kernel.name = source_name(kernel.symbol);
  return out;
}

const KernelInfo& find_kernel(std::span<const KernelInfo> kernels, std::string_view name) {
  const KernelInfo* found = nullptr;
  int count = 0;
  for (const KernelInfo& kernel : kernels) {
    const bool ends = kernel.name.ends_with(name) && kernel.name.size() > name.size() + 2 &&
                      kernel.name.substr(kernel.name.size() - name.size() - 2, 2) == "::";
    if (kernel.symbol == name) return kernel;
    if (name.empty() || (kernel.name != name && !ends)) continue;
    found = &kernel;
    ++count;
  }
  if (count == 1) return *found;
  std::string have, advice;
  for (const KernelInfo& kernel : kernels)
    have += (have.empty() ? "" : ", ") + (count > 1 ? kernel.symbol : kernel.name);
  if (count == 0 && name.find('<') != std::string_view::npos)
    advice =
        join_text("; a template has code only where the source instantiates it: 'template __global__ void ",
                  name, "(...);', with the types of its parameters for the dots");
  fail(ErrorKind::InvalidArgument, "compile",
       count > 1 ? join_text("the source has ", count, " kernels '", name, "'; name one by its symbol: ")
                 : join_text("the source has no kernel '", name, "'; it has "),
       have.empty() ? "none" : have, advice);
}

}  // namespace beeswax::gpu::rtc
