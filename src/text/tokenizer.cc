// SPDX-License-Identifier: Apache-2.0
#include "text/tokenizer.h"

#include "text/utf8.h"

namespace beeswax::text {
namespace {

// The special token that begins earliest in `text`, the longest of those; -1 where there is none.
struct Cut {
  size_t at;
  int32_t id;
};

Cut next_cut(const Vocabulary& vocabulary, std::string_view text, bool control_too) {
  Cut best = {std::string_view::npos, -1};
  for (const int32_t id : vocabulary.cut_pieces()) {
    const Piece& piece = vocabulary.piece(id);
    if (piece.kind == PieceKind::Control && !control_too) continue;
    const size_t at =
        text.substr(0, best.at == std::string_view::npos ? text.size() : best.at + piece.text.size() - 1)
            .find(piece.text);
    if (at < best.at) best = {at, id};
  }
  return best;
}

}  // namespace

std::vector<int32_t> Tokenizer::encode(std::string_view text, const EncodeOptions& options) const {
  const SpecialTokens& special = vocabulary_.special();
  std::vector<int32_t> ids;
  if (options.add_special && special.add_bos && special.bos >= 0) ids.push_back(special.bos);
  bool first = true;
  while (!text.empty()) {
    const Cut cut = next_cut(vocabulary_, text, options.parse_special);
    const std::string_view part = text.substr(0, cut.at);
    if (!part.empty()) encode_part(part, first, ids);
    if (cut.id < 0) break;
    ids.push_back(cut.id);
    text.remove_prefix(cut.at + vocabulary_.piece(cut.id).text.size());
    first = true;
  }
  if (options.add_special && special.add_eos && special.eos >= 0) ids.push_back(special.eos);
  return ids;
}

std::string Tokenizer::decode(const std::vector<int32_t>& ids) const {
  StreamDecoder decoder(*this);
  std::string out;
  for (const int32_t id : ids) out += decoder.push(id);
  return out + decoder.finish();
}

struct StreamDecoder::State {
  const Tokenizer& tokenizer;
  Utf8Stream stream;
  bool begun = false;
};

StreamDecoder::StreamDecoder(const Tokenizer& tokenizer, const std::vector<int32_t>& before)
    : state_(std::make_unique<State>(
          State{tokenizer, {}, !before.empty() && !tokenizer.token_bytes(before.back()).empty()})) {}
StreamDecoder::~StreamDecoder() = default;

std::string StreamDecoder::push(int32_t id) {
  std::string bytes = state_->tokenizer.token_bytes(id);
  if (!state_->begun && !bytes.empty()) {
    state_->begun = true;
    if (state_->tokenizer.strips_first_space() && bytes[0] == ' ') bytes.erase(0, 1);
  }
  return state_->stream.push(bytes);
}

std::string StreamDecoder::finish() { return state_->stream.finish(); }

}  // namespace beeswax::text
