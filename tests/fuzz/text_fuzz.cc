// SPDX-License-Identifier: Apache-2.0
// Names of devices and dtypes: any text either parses and prints as something that parses to the same value,
// or is an InvalidArgument.
#include <string_view>

#include "beeswax/device.h"
#include "beeswax/dtype.h"
#include "beeswax/error.h"
#include "fuzz/bytes.h"

using namespace beeswax;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const Device device = Device::parse(text);
    fuzz::require(Device::parse(device.to_string()) == device, "a device's text names that device");
  } catch (const Error& error) {
    fuzz::require(error.kind() == ErrorKind::InvalidArgument, "a bad device name is an InvalidArgument");
  }
  try {
    fuzz::require(dtype_name(parse_dtype(text)) == text, "a dtype's name is the text it was parsed from");
  } catch (const Error& error) {
    fuzz::require(error.kind() == ErrorKind::InvalidArgument, "a bad dtype name is an InvalidArgument");
  }
  return 0;
}
