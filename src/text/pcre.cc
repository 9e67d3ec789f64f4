// SPDX-License-Identifier: Apache-2.0
#include "text/pcre.h"

#include <algorithm>
#include <cstdint>
#include <new>

#ifdef BW_PCRE2
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#endif

#include "core/fail.h"

namespace beeswax::text {
#ifdef BW_PCRE2

namespace {
// A match takes a few hundred steps, and every character that none begins with a few more.
constexpr size_t kMostSteps = 1'000'000, kStepsPerByte = 64;
constexpr uint32_t kMostMemory = 64 << 10;  // KiB
constexpr uint32_t kDeepest = 250'000;
constexpr size_t kLongest = 16 << 10;

std::string message_of(int code) {
  PCRE2_UCHAR buffer[256];
  if (pcre2_get_error_message(code, buffer, sizeof(buffer)) < 0) return "error " + std::to_string(code);
  return reinterpret_cast<const char*>(buffer);
}

template <auto Free>
struct Freer {
  template <class T>
  void operator()(T* p) const {
    Free(p);
  }
};
}  // namespace

struct Pcre::Code {
  std::string expression;
  std::unique_ptr<pcre2_code, Freer<pcre2_code_free>> code;
};

bool pcre_has_script(std::string_view name) {
  const std::string expression = "\\p{sc:" + std::string(name) + "}";
  int error = 0;
  size_t at = 0;
  const std::unique_ptr<pcre2_code, Freer<pcre2_code_free>> code(pcre2_compile(
      reinterpret_cast<PCRE2_SPTR>(expression.data()), expression.size(), PCRE2_UTF, &error, &at, nullptr));
  return code != nullptr;
}

Pcre::Pcre(std::string_view expression) : code_(std::make_unique<Code>()) {
  if (expression.size() > kLongest)
    fail(ErrorKind::TooLarge, "pattern", "an expression of ", expression.size(), " bytes; the most is ",
         kLongest);
  code_->expression = expression;
  const std::string translated = to_pcre(expression);
  int error = 0;
  size_t at = 0;
  // Oniguruma's ^ and $ stand at every line.
  constexpr uint32_t kOptions = PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C;
  code_->code.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(translated.data()), translated.size(),
                                  kOptions, &error, &at, nullptr));
  if (code_->code == nullptr)
    fail(ErrorKind::Format, "pattern", message_of(error), " at byte ", at, " of ", translated);
}

std::vector<Span> Pcre::matches(std::string_view text) const {
  std::vector<Span> out;
  const std::unique_ptr<pcre2_match_data, Freer<pcre2_match_data_free>> data(
      pcre2_match_data_create_from_pattern(code_->code.get(), nullptr));
  const std::unique_ptr<pcre2_match_context, Freer<pcre2_match_context_free>> limits(
      pcre2_match_context_create(nullptr));
  if (data == nullptr || limits == nullptr) throw std::bad_alloc();
  pcre2_set_match_limit(limits.get(), static_cast<uint32_t>(std::min<size_t>(
                                          kMostSteps + kStepsPerByte * text.size(), UINT32_MAX)));
  pcre2_set_heap_limit(limits.get(), kMostMemory);
  pcre2_set_depth_limit(limits.get(), kDeepest);
  if (text.empty()) return out;
  for (size_t at = 0; at <= text.size();) {
    // The first call has looked at the text's UTF-8.
    const int found =
        pcre2_match(code_->code.get(), reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), at,
                    out.empty() && at == 0 ? 0 : PCRE2_NO_UTF_CHECK, data.get(), limits.get());
    if (found == PCRE2_ERROR_NOMATCH) break;
    if (found < 0)
      fail(ErrorKind::TooLarge, "pattern", code_->expression, " cannot be matched to a text of ", text.size(),
           " bytes: ", message_of(found));
    const size_t* ends = pcre2_get_ovector_pointer(data.get());
    if (ends[0] < ends[1] || out.empty() || ends[1] != out.back().to) {
      out.push_back({ends[0], ends[1]});
      at = ends[1];
    } else {
      do {
        ++at;
      } while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80);
    }
  }
  return out;
}

#else

struct Pcre::Code {};

bool pcre_has_script(std::string_view) { return false; }

Pcre::Pcre(std::string_view expression) {
  fail(ErrorKind::Unsupported, "pattern", "the pattern ", to_pcre(expression),
       " is none of those known, and this build is without PCRE2 (BW_PCRE2)");
}

std::vector<Span> Pcre::matches(std::string_view) const { return {}; }

#endif

Pcre::~Pcre() = default;
Pcre::Pcre(Pcre&&) noexcept = default;
Pcre& Pcre::operator=(Pcre&&) noexcept = default;

}  // namespace beeswax::text
