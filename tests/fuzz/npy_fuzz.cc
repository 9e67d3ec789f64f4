// SPDX-License-Identifier: Apache-2.0
// Any bytes are a sound .npy file, a Format error, or an array of a type that tensors do not have; an array's
// tensor comes back when it is written and read again. An input that begins with a bracket is the header of a
// file.
#include <cstring>
#include <span>
#include <vector>

#include "beeswax/error.h"
#include "beeswax/npy.h"
#include "fuzz/bytes.h"

using namespace beeswax;

namespace {

void read(std::span<const std::byte> bytes) {
  try {
    const Tensor x = npy_from_bytes(bytes, "fuzz.npy", Device::cpu());
    fuzz::require(x.to_bytes().size() <= 2 * bytes.size(), "no more elements than the file holds");
    const Tensor y = npy_from_bytes(npy_to_bytes(x), "written.npy", Device::cpu());
    fuzz::require(y.shape() == x.shape() && y.dtype() == x.dtype() && y.to_bytes() == x.to_bytes(),
                  "what is written is what was read");
  } catch (const Error& error) {
    fuzz::require(error.kind() == ErrorKind::Format || error.kind() == ErrorKind::UnsupportedDType,
                  "a bad file is a Format error, another type an UnsupportedDType");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  read(bytes);
  if (size == 0 || data[0] != '{') return 0;
  // The header ends behind the last bracket; what follows is elements.
  auto length = static_cast<uint32_t>(size);
  while (data[length - 1] != '}' && length > 1) --length;
  std::vector<std::byte> file(12 + size);
  std::memcpy(file.data(), "\x93NUMPY\2\0", 8);
  std::memcpy(file.data() + 8, &length, 4);
  std::memcpy(file.data() + 12, data, size);
  read(file);
  return 0;
}
