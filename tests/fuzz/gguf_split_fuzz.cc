// SPDX-License-Identifier: Apache-2.0
// Any bytes as the two parts of a split GGUF file are one sound file or an error. The first two bytes are the
// length of the first part.
#include <algorithm>
#include <span>

#include "beeswax/error.h"
#include "fuzz/bytes.h"
#include "fuzz/scratch_folder.h"
#include "io/gguf.h"

using namespace beeswax;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const fuzz::ScratchFolder folder;
  if (size < 2) return 0;
  const auto bytes = std::as_bytes(std::span(data, size)).subspan(2);
  const size_t first = std::min<size_t>(size_t{data[0]} | size_t{data[1]} << 8, bytes.size());
  folder.write("m-00001-of-00002.gguf", bytes.first(first));
  folder.write("m-00002-of-00002.gguf", bytes.subspan(first));
  try {
    const auto file = io::GgufFile::open(folder.path("m-00001-of-00002.gguf"));
    fuzz::require(file->parts() == 1 || file->file_bytes() == bytes.size(),
                  "a whole has the bytes of its parts");
    fuzz::require(file->parts() == 1 || file->find("split.count") == nullptr, "a whole is no part");
    for (const io::GgufTensor& tensor : file->tensors())
      fuzz::require(file->find_tensor(tensor.name)->bytes.data() == tensor.bytes.data(),
                    "a name finds its tensor");
  } catch (const Error& error) {
    const bool newer = error.kind() == ErrorKind::Unsupported;  // types of tensors
    fuzz::require(newer || error.kind() == ErrorKind::Format, "bad parts are a Format error");
  }
  return 0;
}
