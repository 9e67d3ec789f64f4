// SPDX-License-Identifier: Apache-2.0
// Any bytes are tokenized and come back, what is not UTF-8 as U+FFFD; any bytes are a Pattern or a refusal.
#include <string>
#include <string_view>

#include "beeswax/error.h"
#include "fuzz/bytes.h"
#include "text/bpe.h"
#include "text/pattern.h"
#include "text/spm.h"
#include "text/utf8.h"

using namespace beeswax;
using namespace beeswax::text;

namespace {

// All bytes, and a few pieces that merges lead to.
const BpeTokenizer& bpe() {
  static const BpeTokenizer tokenizer = [] {
    std::vector<Piece> pieces;
    for (int byte = 0; byte < 256; ++byte)
      pieces.push_back({bytes_to_printable(std::string(1, static_cast<char>(byte))), 0, PieceKind::Normal});
    for (const char* piece : {"aa", "ab", "aab",
                              "\xc4\xa0"
                              "a"})
      pieces.push_back({piece, 0, PieceKind::Normal});
    return BpeTokenizer(Vocabulary(std::move(pieces), {}), {"a a", "a b", "a ab", "\xc4\xa0 a"},
                        PreTokenizer::named("llama-bpe"), false);
  }();
  return tokenizer;
}

const SpmTokenizer& spm() {
  static const SpmTokenizer tokenizer = [] {
    std::vector<Piece> pieces;
    for (int byte = 0; byte < 256; ++byte) {
      constexpr char kHex[] = "0123456789ABCDEF";
      pieces.push_back({std::string("<0x") + kHex[byte / 16] + kHex[byte % 16] + ">", 0, PieceKind::Byte});
    }
    float score = 0;
    for (const char* piece : {"\u2581", "a", "b", "aa", "ab", "aab", "\u2581a"})
      pieces.push_back({piece, score -= 1, PieceKind::Normal});
    return SpmTokenizer(Vocabulary(std::move(pieces), {}));
  }();
  return tokenizer;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  // What is not UTF-8 counts as U+FFFD, byte by byte.
  std::string clean;
  for (std::string_view rest = bytes; !rest.empty();) {
    const Utf8Char c = utf8_decode(rest);
    clean += c.valid ? rest.substr(0, c.length) : kReplacement;
    rest.remove_prefix(c.length);
  }
  fuzz::require(bpe().decode(bpe().encode(bytes)) == clean, "byte-level BPE brings the text back");
  // U+2581 is how SentencePiece writes a space.
  if (clean.find("\xe2\x96\x81") == std::string::npos)
    fuzz::require(spm().decode(spm().encode(bytes)) == clean, "SentencePiece brings the text back");
  try {
    const Pattern pattern(bytes);
  } catch (const Error& error) {
    fuzz::require(error.kind() == ErrorKind::InvalidArgument || error.kind() == ErrorKind::Unsupported,
                  "a bad pattern is refused");
  }
  return 0;
}
