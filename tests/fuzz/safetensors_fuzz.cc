// SPDX-License-Identifier: Apache-2.0
// Any bytes are a sound safetensors file or a Format error; what is read lies inside the bytes, fills them,
// and makes tensors. An input of which JSON begins at once gets its length in front, so that damage reaches
// the header's rules.
#include <cstring>
#include <span>
#include <vector>

#include "beeswax/error.h"
#include "fuzz/bytes.h"
#include "io/safetensors.h"

using namespace beeswax;

namespace {

void read(std::span<const std::byte> bytes) {
  try {
    const auto file = io::SafetensorsFile::from_bytes(bytes, "fuzz.safetensors");
    size_t sum = 0;
    for (const io::SafetensorsTensor& tensor : file->tensors()) {
      fuzz::require(file->find(tensor.name) == &tensor, "a name finds its tensor");
      const auto part = tensor.bytes;
      fuzz::require(part.empty() || (part.data() >= bytes.data() && part.size() <= bytes.size() &&
                                     part.data() + part.size() <= bytes.data() + bytes.size()),
                    "a tensor lies inside the file");
      sum += part.size();
      if (!tensor.type->dtype) continue;
      fuzz::require(tensor.to_tensor().shape() == tensor.shape, "a tensor has its shape");
    }
    fuzz::require(sum <= bytes.size(), "tensors do not overlap");
  } catch (const Error& error) {
    fuzz::require(error.kind() == ErrorKind::Format, "a bad file is a Format error");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  read(bytes);
  if (size == 0 || data[0] != '{') return 0;
  // The header ends behind the last bracket; what follows is data.
  uint64_t length = size;
  while (data[length - 1] != '}' && length > 1) --length;
  std::vector<std::byte> file(8 + size);
  std::memcpy(file.data(), &length, 8);
  std::memcpy(file.data() + 8, data, size);
  read(file);
  return 0;
}
