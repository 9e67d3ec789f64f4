// SPDX-License-Identifier: Apache-2.0
#include "text/tokenizer.h"

#include "text/utf8.h"

namespace beeswax::text {

Tokenizer::Tokenizer(Vocabulary vocabulary)
    : vocabulary_(std::move(vocabulary)),
      added_(
          vocabulary_, [](const Piece& piece) { return !piece.normalized; },
          [](std::string_view text) { return std::string(text); }) {}

std::vector<int32_t> Tokenizer::encode(std::string_view text, const EncodeOptions& options) const {
  const SpecialTokens& special = vocabulary_.special();
  std::vector<int32_t> ids;
  if (options.add_special && special.add_bos && special.bos >= 0) ids.push_back(special.bos);
  for (const AddedTokens::Part& part : added_.split(vocabulary_, text, options.parse_special)) {
    if (part.id >= 0) {
      ids.push_back(part.id);
    } else {
      encode_part(part.text, {part.text.data() == text.data(), options.parse_special}, ids);
    }
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
