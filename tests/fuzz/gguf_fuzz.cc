// SPDX-License-Identifier: Apache-2.0
// Any bytes are a sound GGUF file or a Format error; what is read lies inside the bytes, and prints.
#include <span>

#include "beeswax/error.h"
#include "fuzz/bytes.h"
#include "io/gguf.h"

using namespace beeswax;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  try {
    const auto file = io::GgufFile::from_bytes(bytes, "fuzz.gguf");
    for (const auto& [key, value] : file->metadata()) {
      fuzz::require(file->find(key) == &value, "a key finds its value");
      fuzz::require(!value.to_string().empty(), "a value has a text");
      static_cast<void>(value.as_floats());
      static_cast<void>(value.as_ints());
    }
    for (const io::GgufTensor& tensor : file->tensors()) {
      const auto part = tensor.bytes;
      fuzz::require(part.empty() || (part.data() >= bytes.data() && part.size() <= bytes.size() &&
                                     part.data() + part.size() <= bytes.data() + bytes.size()),
                    "a tensor lies inside the file");
    }
  } catch (const Error& error) {
    const bool newer = error.kind() == ErrorKind::Unsupported;  // types of tensors
    fuzz::require(newer || error.kind() == ErrorKind::Format, "a bad file is a Format error");
  }
  return 0;
}
