// SPDX-License-Identifier: Apache-2.0
#include "text/normal_form.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <vector>

#include "text/utf8.h"

namespace beeswax::text {
namespace {

struct CombiningRange {
  uint32_t first, last;
  uint8_t combining_class;
};
constexpr CombiningRange kCombining[] = {
#define BW_COMBINING(first, last, combining_class) {first, last, combining_class},
#define BW_DECOMPOSE(...)
#define BW_COMPOSE(...)
#include "text/unicode_forms.inc"
};

// For each character: its code, whether the step is for compatibility only, how many parts, the parts.
constexpr uint32_t kDecompositions[] = {
#define BW_COMBINING(...)
#define BW_DECOMPOSE(code, compatibility, count, ...) code, compatibility, count, __VA_ARGS__,
#define BW_COMPOSE(...)
#include "text/unicode_forms.inc"
};

struct Composition {
  uint32_t first, second, code;
};
constexpr Composition kCompositions[] = {
#define BW_COMBINING(...)
#define BW_DECOMPOSE(...)
#define BW_COMPOSE(first, second, code) {first, second, code},
#include "text/unicode_forms.inc"
};

// Where each character's row of kDecompositions begins.
const std::vector<uint32_t>& decomposition_rows() {
  static const std::vector<uint32_t> rows = [] {
    std::vector<uint32_t> out;
    for (uint32_t at = 0; at < std::size(kDecompositions); at += 3 + kDecompositions[at + 2])
      out.push_back(at);
    return out;
  }();
  return rows;
}

// Hangul syllables are composed by arithmetic: a leading consonant, a vowel, perhaps a trailing consonant.
constexpr uint32_t kSyllables = 0xac00, kLeads = 0x1100, kVowels = 0x1161, kTrails = 0x11a7;
constexpr uint32_t kLeadCount = 19, kVowelCount = 21, kTrailCount = 28;
constexpr uint32_t kSyllableCount = kLeadCount * kVowelCount * kTrailCount;

struct Character {
  uint32_t code;
  uint8_t combining_class;
};

uint8_t combining_class_of(uint32_t code) {
  if (code < 0x300) return 0;
  const auto* it = std::ranges::upper_bound(kCombining, code, {}, &CombiningRange::first);
  if (it == std::begin(kCombining)) return 0;
  --it;
  return code <= it->last ? it->combining_class : 0;
}

void decompose(uint32_t code, bool compatibility, std::vector<Character>& out) {
  if (code < 0xa0) return out.push_back({code, 0});
  if (code - kSyllables < kSyllableCount) {
    const uint32_t index = code - kSyllables;
    out.push_back({kLeads + index / (kVowelCount * kTrailCount), 0});
    out.push_back({kVowels + index / kTrailCount % kVowelCount, 0});
    if (const uint32_t trail = index % kTrailCount; trail != 0) out.push_back({kTrails + trail, 0});
    return;
  }
  const auto& rows = decomposition_rows();
  const auto it = std::ranges::lower_bound(rows, code, {}, [](uint32_t at) { return kDecompositions[at]; });
  const uint32_t* row = it == rows.end() ? nullptr : kDecompositions + *it;
  if (row == nullptr || row[0] != code || (row[1] != 0 && !compatibility))
    return out.push_back({code, combining_class_of(code)});
  for (uint32_t i = 0; i < row[2]; ++i) decompose(row[3 + i], compatibility, out);
}

// 0 where the two do not compose.
uint32_t compose(uint32_t first, uint32_t second) {
  if (first - kLeads < kLeadCount && second - kVowels < kVowelCount)
    return kSyllables + ((first - kLeads) * kVowelCount + (second - kVowels)) * kTrailCount;
  if (first - kSyllables < kSyllableCount && (first - kSyllables) % kTrailCount == 0 && second > kTrails &&
      second < kTrails + kTrailCount)
    return first + (second - kTrails);
  const auto key = std::tuple(first, second);
  const auto* it = std::ranges::lower_bound(
      kCompositions, key, {}, [](const Composition& c) { return std::tuple(c.first, c.second); });
  return it != std::end(kCompositions) && it->first == first && it->second == second ? it->code : 0;
}

// Marks behind a character come in the order of their classes.
void sort_marks(std::vector<Character>& text) {
  for (auto it = text.begin(); it != text.end();) {
    if (it->combining_class == 0) {
      ++it;
      continue;
    }
    const auto end = std::find_if(it, text.end(), [](const Character& c) { return c.combining_class == 0; });
    std::stable_sort(it, end, [](const Character& a, const Character& b) {
      return a.combining_class < b.combining_class;
    });
    it = end;
  }
}

void compose_all(std::vector<Character>& text) {
  size_t kept = 0;
  size_t starter = text.size();  // the last character of class 0 among those kept
  for (size_t i = 0; i < text.size(); ++i) {
    const Character c = text[i];
    // A mark of the same or a higher class between the two keeps them apart.
    const bool blocked = starter + 1 < kept && text[kept - 1].combining_class >= c.combining_class;
    if (starter < kept && !blocked) {
      if (const uint32_t code = compose(text[starter].code, c.code); code != 0) {
        text[starter].code = code;
        continue;
      }
    }
    if (c.combining_class == 0) starter = kept;
    text[kept++] = c;
  }
  text.resize(kept);
}

}  // namespace

std::string normal_form(std::string_view text, NormalForm form) {
  std::vector<Character> characters;
  characters.reserve(text.size());
  while (!text.empty()) {
    const Utf8Char c = utf8_decode(text);
    decompose(c.code, form == NormalForm::Nfkc || form == NormalForm::Nfkd, characters);
    text.remove_prefix(c.length);
  }
  sort_marks(characters);
  if (form == NormalForm::Nfc || form == NormalForm::Nfkc) compose_all(characters);
  std::string out;
  for (const Character& c : characters) append_utf8(c.code, out);
  return out;
}

}  // namespace beeswax::text
