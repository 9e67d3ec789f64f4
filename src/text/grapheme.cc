// SPDX-License-Identifier: Apache-2.0
#include "text/grapheme.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "text/utf8.h"

namespace beeswax::text {
namespace {

enum class Class : uint8_t {
  Other,
  CR,
  LF,
  Control,
  Extend,
  Joiner,
  Regional,
  Prepend,
  Spacing,
  L,    // Hangul: leading consonants,
  V,    // vowels,
  T,    // trailing consonants,
  LV,   // syllables without
  LVT,  // and with one
  Pictograph,
};
enum class Conjunct : uint8_t { None, Linker, Consonant, Extend };

struct Kind {
  Class cluster = Class::Other;
  Conjunct conjunct = Conjunct::None;
};
struct ClusterRange {
  uint32_t first, last;
  Kind kind;
};
constexpr ClusterRange kClusters[] = {
#define BW_CLUSTER(first, last, cluster, conjunct) {first, last, {Class::cluster, Conjunct::conjunct}},
#include "text/unicode_graphemes.inc"
};

Kind kind_of(uint32_t code) {
  constexpr uint32_t kSyllables = 0xac00, kSyllableCount = 11172, kTrailCount = 28;
  if (code - kSyllables < kSyllableCount)
    return {(code - kSyllables) % kTrailCount == 0 ? Class::LV : Class::LVT, Conjunct::None};
  const auto* it = std::ranges::upper_bound(kClusters, code, {}, &ClusterRange::first);
  if (it == std::begin(kClusters)) return {};
  --it;
  return code <= it->last ? it->kind : Kind{};
}

bool is_control(Class one) { return one == Class::CR || one == Class::LF || one == Class::Control; }

// What the characters of a cluster so far say about the next one. Rules by their numbers in UAX #29.
class Cluster {
 public:
  explicit Cluster(Kind first) { add(first); }

  bool takes(Kind next) const {
    if (last_ == Class::CR && next.cluster == Class::LF) return true;                          // GB3
    if (is_control(last_) || is_control(next.cluster)) return false;                           // GB4, 5
    if (joins_hangul(next.cluster)) return true;                                               // GB6-8
    if (next.cluster == Class::Extend || next.cluster == Class::Joiner) return true;           // GB9
    if (next.cluster == Class::Spacing || last_ == Class::Prepend) return true;                // GB9a, b
    if (conjunct_ && linked_ && next.conjunct == Conjunct::Consonant) return true;             // GB9c
    if (picture_ && last_ == Class::Joiner && next.cluster == Class::Pictograph) return true;  // GB11
    return last_ == Class::Regional && next.cluster == Class::Regional && odd_regionals_;      // GB12
  }

  void add(Kind next) {
    if (next.conjunct == Conjunct::Consonant) {
      conjunct_ = true;
      linked_ = false;
    } else if (next.conjunct == Conjunct::None) {
      conjunct_ = false;
    } else {
      linked_ = linked_ || next.conjunct == Conjunct::Linker;
    }
    if (next.cluster == Class::Pictograph) {
      picture_ = true;
    } else if (next.cluster != Class::Extend && next.cluster != Class::Joiner) {
      picture_ = false;
    } else if (last_ == Class::Joiner) {
      picture_ = false;  // only the last may be one
    }
    odd_regionals_ = next.cluster == Class::Regional && !(last_ == Class::Regional && odd_regionals_);
    last_ = next.cluster;
  }

 private:
  bool joins_hangul(Class next) const {
    switch (last_) {
      case Class::L:
        return next == Class::L || next == Class::V || next == Class::LV || next == Class::LVT;
      case Class::V:
      case Class::LV:
        return next == Class::V || next == Class::T;
      case Class::T:
      case Class::LVT:
        return next == Class::T;
      default:
        return false;
    }
  }

  Class last_ = Class::Other;
  bool conjunct_ = false;  // a consonant, then linkers and marks only
  bool linked_ = false;    // with a linker among them
  bool picture_ = false;   // a pictograph, then marks and one joiner at most
  bool odd_regionals_ = false;
};

}  // namespace

size_t cluster_length(std::string_view text) {
  const Utf8Char first = utf8_decode(text);
  size_t length = first.length;
  Cluster cluster(kind_of(first.code));
  while (length < text.size()) {
    const Utf8Char next = utf8_decode(text.substr(length));
    const Kind kind = kind_of(next.code);
    if (!cluster.takes(kind)) break;
    cluster.add(kind);
    length += next.length;
  }
  return length;
}

}  // namespace beeswax::text
