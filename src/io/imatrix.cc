// SPDX-License-Identifier: Apache-2.0
#include "io/imatrix.h"

#include <cmath>
#include <cstring>

#include "core/fail.h"
#include "core/os/file.h"
#include "io/byte_reader.h"
#include "io/gguf.h"
#include "io/json_events.h"

namespace beeswax::io {
namespace {

using Entries = std::map<std::string, std::vector<float>, std::less<>>;

std::vector<float> floats_of(std::span<const std::byte> bytes) {
  std::vector<float> out(bytes.size() / sizeof(float));
  if (!out.empty()) std::memcpy(out.data(), bytes.data(), out.size() * sizeof(float));
  return out;
}

// Little-endian: a count of entries, then for each the length of the name, the name, a number of calls, a
// count of values and the values, each multiplied by the calls. What may follow says where they come from.
Entries read_old(std::span<const std::byte> bytes, std::string_view name) {
  ByteReader in(name, bytes, 0, std::endian::native != std::endian::little);
  const auto count = in.number<int32_t>("the number of entries");
  if (count < 1 || static_cast<size_t>(count) > in.left() / 16)
    in.refuse("is no importance matrix: it claims ", count, " entries in ", bytes.size(), " bytes");
  Entries out;
  for (int32_t i = 0; i < count; ++i) {
    const auto length = in.number<int32_t>("the length of a name");
    if (length < 1) in.refuse("is no importance matrix: entry ", i, " has a name of ", length, " bytes");
    const auto text = in.take(static_cast<uint64_t>(length), "a name");
    const std::string key(reinterpret_cast<const char*>(text.data()), text.size());
    const std::string shown = "'" + shown_name(key) + "'";
    const auto calls = in.number<int32_t>(shown);
    const auto size = in.number<int32_t>(shown);
    if (size < 1) in.refuse("has ", size, " values for ", shown);
    std::vector<float> values = floats_of(in.take(static_cast<uint64_t>(size) * sizeof(float), shown));
    if (in.reverse())
      for (float& value : values) value = reversed(value);
    if (calls > 0)
      for (float& value : values) value /= static_cast<float>(calls);
    out.insert_or_assign(key, std::move(values));
  }
  return out;
}

// Tensors NAME.in_sum2 and NAME.counts: sums of squares, and how many tokens are in each row of them.
Entries read_gguf(const GgufFile& file) {
  constexpr std::string_view kSums = ".in_sum2", kCounts = ".counts";
  const auto refuse = [&](const auto&... parts) { fail(ErrorKind::Format, "read", file.name(), parts...); };
  if (file.reversed()) refuse(" holds tensors in the other byte order");
  Entries out;
  for (const GgufTensor& sums : file.tensors()) {
    if (!sums.name.ends_with(kSums)) continue;
    const std::string key(sums.name.substr(0, sums.name.size() - kSums.size()));
    const GgufTensor* counts = file.find_tensor(key + std::string(kCounts));
    if (counts == nullptr || counts->type->dtype != DType::F32 || sums.type->dtype != DType::F32)
      refuse(" has no counts for '", shown_name(key), "', or they or the sums are not f32");
    std::vector<float> values = floats_of(sums.bytes);
    const std::vector<float> times = floats_of(counts->bytes);
    if (times.empty() || values.empty() || values.size() % times.size() != 0)
      refuse(": '", shown_name(key), "' has ", values.size(), " sums for ", times.size(), " counts");
    const size_t columns = values.size() / times.size();
    // An expert that no token chose says nothing.
    for (size_t i = 0; i < values.size(); ++i) {
      const float count = times[i / columns];
      values[i] = count > 0 ? values[i] / count : 1.0f;
    }
    out.insert_or_assign(key, std::move(values));
  }
  if (out.empty()) refuse(" holds no importance matrix: no tensor is named *", kSums);
  return out;
}

}  // namespace

Imatrix Imatrix::open(const std::string& path) {
  const os::MappedFile file(path);
  return from_bytes(file.bytes(), path);
}

Imatrix Imatrix::from_bytes(std::span<const std::byte> bytes, std::string_view name) {
  Imatrix out;
  out.name_ = name;
  const bool gguf = bytes.size() >= 4 && std::memcmp(bytes.data(), "GGUF", 4) == 0;
  out.entries_ = gguf ? read_gguf(*GgufFile::from_bytes(bytes, name)) : read_old(bytes, name);
  for (const auto& [key, values] : out.entries_)
    for (const float value : values)
      if (!std::isfinite(value) || value < 0)
        fail(ErrorKind::Format, "read", name, ": '", shown_name(key), "' holds ", value,
             "; importances are finite and not negative");
  return out;
}

const std::vector<float>* Imatrix::find(std::string_view tensor) const {
  const auto it = entries_.find(tensor);
  return it == entries_.end() ? nullptr : &it->second;
}

}  // namespace beeswax::io
