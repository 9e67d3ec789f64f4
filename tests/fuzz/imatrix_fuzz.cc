// SPDX-License-Identifier: Apache-2.0
// Any bytes are an importance matrix, in either format, or a Format error, or Unsupported; all numbers of one
// are finite and not negative, and there are no more of them than the bytes could hold.
#include <cmath>
#include <span>

#include "beeswax/error.h"
#include "fuzz/bytes.h"
#include "io/imatrix.h"

using namespace beeswax;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const auto matrix = io::Imatrix::from_bytes(std::as_bytes(std::span(data, size)), "fuzz.dat");
    fuzz::require(matrix.size() > 0, "a matrix says something");
    size_t numbers = 0;
    for (const auto& [name, values] : matrix.entries()) {
      fuzz::require(matrix.find(name) == &values, "a name finds its numbers");
      fuzz::require(!values.empty(), "a name has numbers");
      numbers += values.size();
      for (const float value : values)
        fuzz::require(std::isfinite(value) && value >= 0, "importances are finite and not negative");
    }
    fuzz::require(numbers <= size / sizeof(float), "numbers come from the bytes");
  } catch (const Error& error) {
    const bool newer = error.kind() == ErrorKind::Unsupported;  // types of tensors
    fuzz::require(newer || error.kind() == ErrorKind::Format, "a bad file is a Format error");
  }
  return 0;
}
