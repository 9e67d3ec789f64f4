// SPDX-License-Identifier: Apache-2.0
// ByteReader: bounded reading of a file's bytes, in the file's byte order.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/fail.h"

namespace beeswax::io {

/// Reverses the bytes of a number.
template <class T>
T reversed(T value) {
  std::byte bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  for (size_t i = 0; i < sizeof(T) / 2; ++i) std::swap(bytes[i], bytes[sizeof(T) - 1 - i]);
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

/// Whole elements of `size` bytes, each reversed.
inline std::vector<std::byte> with_reversed_elements(std::span<const std::byte> bytes, size_t size) {
  std::vector<std::byte> out(bytes.begin(), bytes.end());
  for (size_t at = 0; size > 1 && at + size <= out.size(); at += size)
    std::reverse(out.begin() + static_cast<std::ptrdiff_t>(at),
                 out.begin() + static_cast<std::ptrdiff_t>(at + size));
  return out;
}

class ByteReader {
 public:
  /// `reverse`: the file's byte order is not the machine's.
  ByteReader(std::string_view file, std::span<const std::byte> bytes, size_t at = 0, bool reverse = false)
      : file_(file), bytes_(bytes), at_(at), reverse_(reverse) {}

  size_t at() const { return at_; }
  size_t left() const { return bytes_.size() - at_; }
  void go_back_to(size_t at) { at_ = std::min(at, at_); }
  void set_reverse(bool reverse) { reverse_ = reverse; }
  bool reverse() const { return reverse_; }

  template <class T>
  T number(std::string_view what) {
    T value;
    std::memcpy(&value, take(sizeof(T), what).data(), sizeof(T));
    return reverse_ ? reversed(value) : value;
  }

  std::span<const std::byte> take(uint64_t count, std::string_view what) {
    if (count > left())
      refuse("ends at byte ", bytes_.size(), ", inside ", what, ", which takes ", count, " bytes at ", at_);
    const auto part = bytes_.subspan(at_, static_cast<size_t>(count));
    at_ += static_cast<size_t>(count);
    return part;
  }

  template <class... Parts>
  [[noreturn]] void refuse(const Parts&... parts) const {
    fail(ErrorKind::Format, "read", file_, " ", parts...);
  }

 private:
  std::string file_;
  std::span<const std::byte> bytes_;
  size_t at_;
  bool reverse_;
};

}  // namespace beeswax::io
