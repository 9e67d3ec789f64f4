// SPDX-License-Identifier: Apache-2.0
// Any bytes as model.safetensors.index.json beside two sound files open those that they list, or are an
// error; no file outside the folder is looked for.
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "beeswax/error.h"
#include "fuzz/bytes.h"
#include "fuzz/scratch_folder.h"
#include "io/safetensors.h"

using namespace beeswax;

namespace {

// The tensors "NAME0" and "NAME1", of one byte each.
void write_tensors(const fuzz::ScratchFolder& folder, const std::string& name) {
  const std::string header = R"({")" + name + R"(0":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},")" +
                             name + R"(1":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})";
  std::vector<std::byte> file(8 + header.size() + 2);
  const uint64_t length = header.size();
  std::memcpy(file.data(), &length, 8);
  std::memcpy(file.data() + 8, header.data(), header.size());
  folder.write(name, file);
}

const fuzz::ScratchFolder& scratch() {
  static const fuzz::ScratchFolder folder;
  static const bool written = [] {
    for (const char* name : {"a", "b"}) write_tensors(folder, name);
    return true;
  }();
  static_cast<void>(written);
  return folder;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const fuzz::ScratchFolder& folder = scratch();
  folder.write("model.safetensors.index.json", std::as_bytes(std::span(data, size)));
  try {
    const auto file = io::SafetensorsFile::open(folder.path(""));
    fuzz::require(file->tensors().size() % 2 == 0 && file->tensors().size() <= 4,
                  "files are read once and whole");
    for (const io::SafetensorsTensor& tensor : file->tensors()) {
      fuzz::require(file->find(tensor.name) == &tensor, "a name finds its tensor");
      fuzz::require(tensor.bytes.size() == 1, "tensors are those of the files");
    }
  } catch (const Error& error) {
    const std::string_view message = error.what();
    fuzz::require(error.kind() == ErrorKind::Format || error.kind() == ErrorKind::Io,
                  "a bad index is refused");
    fuzz::require(error.kind() == ErrorKind::Format || message.find(folder.path("")) != message.npos,
                  "a file that is missing is one of the folder");
  }
  return 0;
}
