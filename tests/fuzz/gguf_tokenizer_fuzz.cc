// SPDX-License-Identifier: Apache-2.0
// Any bytes are a GGUF file with a tokenizer that tokenizes, or are refused.
#include <algorithm>
#include <span>
#include <string>
#include <string_view>

#include "beeswax/error.h"
#include "fuzz/bytes.h"
#include "io/gguf.h"
#include "models/gguf_tokenizer.h"
#include "text/utf8.h"

using namespace beeswax;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const auto file = io::GgufFile::from_bytes(std::as_bytes(std::span(data, size)), "fuzz.gguf");
    const auto tokenizer = models::load_tokenizer(*file);
    const text::Vocabulary& vocabulary = tokenizer->vocabulary();
    for (const int32_t id : vocabulary.special().stop)
      fuzz::require(id >= 0 && id < vocabulary.size(), "what ends a generation is a token");
    for (const std::string_view text : {"", " ab  aab", "caf\xc3\xa9\n123 <s>", "\xff\xe2\x96"}) {
      for (const bool special : {false, true}) {
        const auto ids = tokenizer->encode(text, {.add_special = special, .parse_special = special});
        fuzz::require(std::ranges::all_of(ids, [&](int32_t id) { return id >= 0 && id < vocabulary.size(); }),
                      "ids are tokens");
        const std::string decoded = tokenizer->decode(ids);
        fuzz::require(text::valid_utf8(decoded) == decoded, "decoded text is UTF-8");
      }
    }
  } catch (const Error& error) {
    fuzz::require(error.kind() == ErrorKind::Format || error.kind() == ErrorKind::Unsupported ||
                      error.kind() == ErrorKind::InvalidArgument || error.kind() == ErrorKind::TooLarge,
                  "a bad vocabulary is refused");
  }
  return 0;
}
