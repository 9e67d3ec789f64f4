// SPDX-License-Identifier: Apache-2.0
#include "backends/gpu/rtc/compile.h"

#include <algorithm>
#include <set>

#include "backends/gpu/bundle.h"
#include "core/fail.h"

namespace beeswax::gpu::rtc {

std::vector<const Compiler*> compilers_for(std::string_view target, KernelCompiler which) {
  std::vector<const Compiler*> out;
  std::string reasons;
  const auto consider = [&](const Compiler& compiler) {
    const std::string refusal = compiler.refusal(target);
    if (refusal.empty()) {
      out.push_back(&compiler);
    } else {
      reasons += (reasons.empty() ? "" : "; ") + refusal;
    }
  };
  if (which != KernelCompiler::Clang) consider(vendor_compiler(target));
  if (which != KernelCompiler::Vendor) consider(clang_compiler());
  if (out.empty())
    fail(ErrorKind::Unsupported, "compile", "no compiler of kernels for ", target, " is installed: ", reasons,
         "; install ",
         is_amd(target) ? "clang-19 and lld-19, or AMD's hiprtc" : "NVIDIA's NVRTC (libnvrtc), or clang-19");
  return out;
}

namespace {

// The text without the ends of lines behind a backslash, as compilers read it.
std::string joined_lines(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    const size_t end = text[i] == '\\' ? text.find_first_not_of(" \t\v\f", i + 1) : std::string_view::npos;
    if (end != std::string_view::npos && (text[end] == '\n' || text[end] == '\r')) {
      i = text.substr(end).starts_with("\r\n") ? end + 1 : end;
    } else {
      out += text[i];
    }
  }
  return out;
}

// What compilers may pass over within a line: control characters, and spaces beyond ASCII.
bool is_space(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return c != '\n' && (byte <= ' ' || byte >= 0x80);
}

// Whether every file that the text includes is one of `known`; no where that is hard to tell.
bool includes_only(std::string_view written, const std::set<std::string_view>& known) {
  const std::string lines = joined_lines(written);
  const std::string_view text = lines;
  // Inline assembly reads files too.
  for (const std::string_view directive : {"incbin", ".include"})
    if (text.find(directive) != std::string_view::npos) return false;
  for (const std::string_view word : {"include", "import", "embed"}) {
    for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
      std::string_view before = text.substr(0, at);
      if (before.ends_with("__has_")) return false;
      while (!before.empty() && is_space(before.back())) before.remove_suffix(1);
      // A comment may hide the sign.
      if (!before.ends_with("#") && !before.ends_with("%:") && !before.ends_with("*/")) continue;
      std::string_view rest = text.substr(at + word.size());
      while (!rest.empty() && is_space(rest.front())) rest.remove_prefix(1);
      if (rest.empty() || (rest[0] != '<' && rest[0] != '"')) return false;
      const size_t end = rest.find(rest[0] == '<' ? '>' : '"', 1);
      if (end == std::string_view::npos || !known.contains(rest.substr(1, end - 1))) return false;
    }
  }
  return true;
}

}  // namespace

bool is_whole(const Program& program) {
  std::set<std::string_view> known;
  for (const NamedText& header : Sources::embedded().headers) known.insert(header.name);
  for (const NamedText& header : program.headers) known.insert(header.name);
  const auto whole = [&](const std::string& text) { return includes_only(text, known); };
  return whole(program.text) && std::ranges::all_of(program.defines, whole) &&
         std::ranges::all_of(program.headers, whole, &NamedText::text);
}

Sha256Digest key_of(const Program& program, std::string_view target, const Compiler& compiler) {
  Sha256 hash;
  hash.add_text(BW_VERSION).add(Sources::embedded().digest);
  hash.add_text(compiler.identity()).add_text(target);
  const auto add_list = [&](const std::vector<std::string>& texts) {
    hash.add_text(std::to_string(texts.size()));
    for (const std::string& text : texts) hash.add_text(text);
  };
  add_list(compiler.flags(target));
  add_list(program.defines);
  hash.add_text(program.name).add_text(program.text).add_text(std::to_string(program.headers.size()));
  for (const NamedText& header : program.headers) hash.add_text(header.name).add_text(header.text);
  return hash.finish();
}

bool written_for(std::string_view target) {
  // Waves of 64 threads are gfx9's alone here; NVIDIA's chips from sm_80 on run the PTX that is carried.
  constexpr std::string_view kFamilies[] = {"gfx9", "gfx10", "gfx11", "gfx12"};
  return std::ranges::any_of(kFamilies, [&](std::string_view family) { return target.starts_with(family); });
}

const Compiler* compiler_of_ours(std::string_view target) {
  if (!written_for(target) || Bundle::embedded().targets().empty()) return nullptr;
  // clang first: the bundle is made by it, with these flags.
  for (const Compiler* compiler : {&clang_compiler(), &vendor_compiler(target)})
    if (compiler->refusal(target).empty()) return compiler;
  return nullptr;
}

CompiledCode code_of_module(std::string_view module, std::string_view target) {
  const NamedText* source = Sources::embedded().module(module);
  const Compiler* compiler = compiler_of_ours(target);
  if (source == nullptr || compiler == nullptr)
    fail(ErrorKind::Internal, "compile", "no source or compiler of the module ", module, " for ", target);
  return code_of({join_text("kernels/", module, ".cc"), source->text, {}, {}}, target, *compiler,
                 DiskCache::of_user());
}

CompiledCode code_of(const Program& program, std::string_view target, const Compiler& compiler,
                     const DiskCache& cache) {
  if (!is_whole(program)) return {compiler.compile(program, target), false};
  const Sha256Digest key = key_of(program, target, compiler);
  if (auto found = cache.find(key); found.has_value()) return {*std::move(found), true};
  const os::FileLock lock = cache.lock(key);
  // Another process may have made it while this one waited.
  if (auto found = cache.find(key); found.has_value()) return {*std::move(found), true};
  CompiledCode code = {compiler.compile(program, target), false};
  cache.keep(key, code.image);
  return code;
}

}  // namespace beeswax::gpu::rtc
