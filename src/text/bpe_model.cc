// SPDX-License-Identifier: Apache-2.0
#include "text/bpe_model.h"

#include <algorithm>
#include <utility>

#include "core/fail.h"
#include "text/join_pairs.h"

namespace beeswax::text {
namespace {

uint64_t pair_key(int32_t left, int32_t right) {
  return static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32 | static_cast<uint32_t>(right);
}

}  // namespace

std::array<int32_t, 256> byte_pieces(const Vocabulary& vocabulary) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::array<int32_t, 256> ids;
  for (size_t byte = 0; byte < ids.size(); ++byte) {
    const char name[] = {'<', '0', 'x', kHex[byte / 16], kHex[byte % 16], '>'};
    ids[byte] = vocabulary.find({name, sizeof(name)}).value_or(-1);
  }
  return ids;
}

void fail_unknown(std::string_view text, std::string_view missing_unknown) {
  fail(ErrorKind::Unsupported, "tokenizer", "'", text,
       "' is no piece of the vocabulary, and neither is its unknown token '", missing_unknown, "'");
}

BpeModel::BpeModel(const Vocabulary& vocabulary, const std::vector<BpeMerge>& merges, BpeOptions options,
                   std::string missing_unknown)
    : options_(options), missing_unknown_(std::move(missing_unknown)), bytes_(byte_pieces(vocabulary)) {
  merges_.reserve(merges.size());
  for (size_t i = 0; i < merges.size(); ++i) {
    const auto id = [&](std::string_view text) {
      const auto found = vocabulary.find_for_model(text);
      if (!found)
        fail(ErrorKind::Format, "tokenizer", "merge ", i, " joins '", merges[i].left, "' and '",
             merges[i].right, "', but '", text, "' is no piece");
      return *found;
    };
    const Merge merge = {static_cast<int32_t>(i), id(merges[i].joined())};
    merges_.emplace(pair_key(id(merges[i].left), id(merges[i].right)), merge);
  }
}

void BpeModel::encode(const Vocabulary& vocabulary, std::string_view word, std::vector<int32_t>& ids) const {
  if (options_.whole_words)
    if (const auto id = vocabulary.find_for_model(word)) return ids.push_back(*id);
  std::vector<Symbol> symbols;
  std::string_view unknown;  // what waits to be an unknown token
  const auto flush = [&] {
    if (!unknown.empty()) append_symbol(symbols, unknown, vocabulary.special().unknown);
    unknown = {};
  };
  while (!word.empty()) {
    const std::string_view character = word.substr(0, utf8_decode(word).length);
    word.remove_prefix(character.size());
    const auto byte_id = [&](char c) { return bytes_[static_cast<unsigned char>(c)]; };
    if (const auto id = vocabulary.find_for_model(character)) {
      flush();
      append_symbol(symbols, character, *id);
    } else if (options_.byte_fallback &&
               std::ranges::all_of(character, [&](char c) { return byte_id(c) >= 0; })) {
      for (size_t i = 0; i < character.size(); ++i)
        append_symbol(symbols, character.substr(i, 1), byte_id(character[i]));
    } else if (vocabulary.special().unknown >= 0) {
      if (!options_.fuse_unknown) flush();
      unknown = {unknown.empty() ? character.data() : unknown.data(), unknown.size() + character.size()};
    } else if (!missing_unknown_.empty()) {
      fail_unknown(character, missing_unknown_);
    }
  }
  flush();
  join_pairs(symbols, [&](const Symbol& left, const Symbol& right) -> std::optional<Joined<int32_t>> {
    const auto it = merges_.find(pair_key(left.id, right.id));
    if (it == merges_.end()) return std::nullopt;
    return Joined<int32_t>{-it->second.rank, it->second.joined};
  });
  for (const Symbol& symbol : symbols)
    if (!symbol.text.empty()) ids.push_back(symbol.id);
}

}  // namespace beeswax::text
