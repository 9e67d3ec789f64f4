// SPDX-License-Identifier: Apache-2.0
#include "text/piece_models.h"

#include <algorithm>
#include <limits>

#include "core/fail.h"
#include "text/utf8.h"

namespace beeswax::text {

WordPieceModel::WordPieceModel(const Vocabulary& vocabulary, std::string begins, std::string goes_on,
                               size_t most_characters)
    : begins_(std::move(begins)), goes_on_(std::move(goes_on)), most_characters_(most_characters) {
  if (vocabulary.special().unknown < 0)
    fail(ErrorKind::Format, "tokenizer", "a WordPiece vocabulary needs an unknown token");
  for (int32_t id = 0; id < vocabulary.size(); ++id)
    longest_ = std::max(longest_, vocabulary.piece(id).text.size());
}

void WordPieceModel::encode(const Vocabulary& vocabulary, std::string_view word,
                            std::vector<int32_t>& ids) const {
  const size_t before = ids.size();
  const auto unknown = [&] {
    ids.resize(before);
    ids.push_back(vocabulary.special().unknown);
  };
  size_t characters = 0;
  for (const char c : word) characters += (static_cast<unsigned char>(c) & 0xc0) != 0x80 ? 1 : 0;
  if (characters > most_characters_) return unknown();
  std::string piece = begins_;
  for (size_t at = 0; at < word.size();) {
    const size_t head = piece.size();
    piece.append(word.substr(at, longest_));
    std::optional<int32_t> id;
    while (piece.size() > head && !(id = vocabulary.find_for_model(piece))) {
      // One character less.
      do {
        piece.pop_back();
      } while (piece.size() > head &&
               (static_cast<unsigned char>(word[at + piece.size() - head]) & 0xc0) == 0x80);
    }
    if (!id) return unknown();
    ids.push_back(*id);
    at += piece.size() - head;
    piece = goes_on_;
  }
}

UnigramModel::UnigramModel(const Vocabulary& vocabulary, std::vector<double> scores, bool byte_fallback)
    : scores_(std::move(scores)), byte_fallback_(byte_fallback), bytes_(byte_pieces(vocabulary)) {
  constexpr double kUnknownCost = 10;
  if (scores_.empty()) fail(ErrorKind::Format, "tokenizer", "a Unigram model without pieces");
  unknown_score_ = std::ranges::min(scores_) - kUnknownCost;
  for (int32_t id = 0; id < static_cast<int32_t>(scores_.size()); ++id) {
    const std::string& text = vocabulary.piece(id).text;
    if (!text.empty() && vocabulary.find(text) == id) pieces_.push_back({text, id});
  }
  std::ranges::sort(pieces_, {}, &Entry::text);
}

void UnigramModel::encode(const Vocabulary& vocabulary, std::string_view word,
                          std::vector<int32_t>& ids) const {
  // The best way to each place: what it costs, and its last piece.
  struct Node {
    double score = -std::numeric_limits<double>::infinity();
    size_t from = 0;
    int32_t id = -1;
    bool reached = false;
  };
  std::vector<Node> nodes(word.size() + 1);
  nodes[0] = {0, 0, -1, true};
  const auto offer = [&](size_t from, size_t to, int32_t id, double score) {
    Node& node = nodes[to];
    if (!node.reached || score > node.score) node = {score, from, id, true};
  };
  for (size_t at = 0; at < word.size();) {
    const size_t character = utf8_decode(word.substr(at)).length;
    bool alone = false;  // the character is a piece
    auto first = pieces_.begin(), last = pieces_.end();
    for (size_t size = 1; at + size <= word.size(); ++size) {
      // Those that begin with the next `size` bytes.
      const std::string_view head = word.substr(at, size);
      const auto cut = [&](const Entry& e) { return e.text.substr(0, size); };
      first = std::ranges::lower_bound(first, last, head, {}, cut);
      last = std::ranges::upper_bound(first, last, head, {}, cut);
      if (first == last) break;
      if (first->text.size() != size) continue;
      offer(at, at + size, first->id, nodes[at].score + scores_[static_cast<size_t>(first->id)]);
      alone = alone || size == character;
    }
    if (!alone) offer(at, at + character, -1, nodes[at].score + unknown_score_);
    at += character;
  }
  std::vector<Span> way;
  for (size_t at = word.size(); at > 0; at = nodes[at].from) way.push_back({nodes[at].from, at});
  for (size_t i = way.size(); i-- > 0;) {
    Span span = way[i];
    const auto is_unknown = [&](const Span& s) {
      return nodes[s.to].id < 0 || nodes[s.to].id == vocabulary.special().unknown;
    };
    if (!is_unknown(span)) {
      ids.push_back(nodes[span.to].id);
      continue;
    }
    while (i > 0 && is_unknown(way[i - 1])) span.to = way[--i].to;
    const std::string_view text = word.substr(span.from, span.to - span.from);
    const auto byte_id = [&](char c) { return bytes_[static_cast<unsigned char>(c)]; };
    if (const auto id = vocabulary.find_for_model(text)) {
      ids.push_back(*id);
    } else if (byte_fallback_ && std::ranges::all_of(text, [&](char c) { return byte_id(c) >= 0; })) {
      for (const char c : text) ids.push_back(byte_id(c));
    } else if (vocabulary.special().unknown >= 0) {
      ids.push_back(vocabulary.special().unknown);
    } else {
      fail(ErrorKind::Unsupported, "tokenizer", "'", text,
           "' is no piece of the Unigram vocabulary, which has no unknown token");
    }
  }
}

void WordLevelModel::encode(const Vocabulary& vocabulary, std::string_view word,
                            std::vector<int32_t>& ids) const {
  const auto id = vocabulary.find_for_model(word);
  if (id || vocabulary.special().unknown >= 0) {
    ids.push_back(id.value_or(vocabulary.special().unknown));
  } else if (!missing_unknown_.empty()) {
    fail_unknown(word, missing_unknown_);
  }
}

}  // namespace beeswax::text
