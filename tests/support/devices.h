// SPDX-License-Identifier: Apache-2.0
// The devices that backend tests run on: BEESWAX_TEST_DEVICES (a comma-separated list), or the CPU.
#pragma once

#include <cctype>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "beeswax/device.h"
#include "beeswax/dtype.h"

namespace beeswax::test {

inline std::vector<Device> devices() {
  const char* list = std::getenv("BEESWAX_TEST_DEVICES");
  std::istringstream names(list != nullptr ? list : "cpu");
  std::vector<Device> out;
  for (std::string name; std::getline(names, name, ',');) out.push_back(Device::parse(name));
  return out;
}

/// A GPU beside `first`: on the software GPU another chip, else the next of its kind, which there may not be.
inline Device another_device(const Device& first) {
  const std::string name = first.to_string();
  if (first.kind() == DeviceKind::Emu)
    return Device::parse(name == "emu:gfx90a" ? "emu:gfx1100" : "emu:gfx90a");
  return Device::parse(name.substr(0, name.find(':')) + ":" + std::to_string(first.ordinal() + 1));
}

/// Whether the default device is the CPU, which checks values before it writes, and whose order of additions
/// is fixed.
inline bool on_cpu() { return Device::default_device().is_cpu(); }
/// Whether it is the software AMD GPU, which takes a thousand times as long.
inline bool on_software_gpu() { return Device::default_device().kind() == DeviceKind::Emu; }

/// A text that names tensors on the CPU, as it reads for the default device.
inline std::string here(std::string text) {
  const std::string device = " " + Device::default_device().to_string();
  for (size_t at = 0; (at = text.find(" cpu", at)) != std::string::npos;) {
    const bool whole = at + 4 == text.size() || std::isalnum(static_cast<unsigned char>(text[at + 4])) == 0;
    if (whole) text.replace(at, 4, device);
    at += whole ? device.size() : 4;
  }
  return text;
}

inline std::vector<DType> arithmetic_dtypes() {
  std::vector<DType> out;
  for (int i = 0; i < kArithmeticDTypeCount; ++i) out.push_back(static_cast<DType>(i));
  return out;
}

/// A name that gtest accepts: letters, digits and underscores.
inline std::string test_name(std::string text) {
  for (char& c : text)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return text;
}

}  // namespace beeswax::test
