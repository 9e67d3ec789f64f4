// SPDX-License-Identifier: Apache-2.0
// Any bytes are a tokenizer.json that tokenizes, or are refused. The file ends at the first zero byte; what
// is behind it is a text to tokenize.
#include <algorithm>
#include <string>
#include <string_view>

#include "beeswax/error.h"
#include "fuzz/bytes.h"
#include "models/tokenizer_json.h"
#include "text/utf8.h"

using namespace beeswax;

namespace {

bool refuses(const Error& error) {
  return error.kind() == ErrorKind::Format || error.kind() == ErrorKind::Unsupported ||
         error.kind() == ErrorKind::InvalidArgument || error.kind() == ErrorKind::TooLarge;
}

void tokenize(const text::Tokenizer& tokenizer, std::string_view text) {
  for (const bool special : {false, true}) {
    std::vector<int32_t> ids;
    try {
      ids = tokenizer.encode(text, {.add_special = special, .parse_special = special});
    } catch (const Error& error) {
      // An expression that takes too long; a character that a vocabulary without an unknown token lacks.
      fuzz::require(error.kind() == ErrorKind::TooLarge || error.kind() == ErrorKind::Unsupported,
                    "a text is refused for what it holds");
      return;
    }
    fuzz::require(
        std::ranges::all_of(ids, [&](int32_t id) { return id >= 0 && id < tokenizer.vocabulary().size(); }),
        "ids are tokens");
    const std::string decoded = tokenizer.decode(ids);
    fuzz::require(text::valid_utf8(decoded) == decoded, "decoded text is UTF-8");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const size_t end = std::min(bytes.find('\0'), size);
  try {
    const auto tokenizer = models::parse_tokenizer_json(bytes.substr(0, end), "fuzz.json");
    tokenize(*tokenizer, bytes.substr(std::min(end + 1, size)));
    tokenize(*tokenizer, " Hello, w\u00f6rld 123\n\n\u65e5\u672c <s>\xff");
  } catch (const Error& error) {
    fuzz::require(refuses(error), "a bad file is refused");
  }
  return 0;
}
