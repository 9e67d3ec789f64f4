// SPDX-License-Identifier: Apache-2.0
// Split GGUF files. The first part holds the metadata and says how many parts there are; their names are made
// of the name that the caller gave, never of anything a file says.
#include "io/gguf_split.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <utility>

#include "core/fail.h"
#include "io/gguf.h"

namespace beeswax::io {
namespace {

constexpr size_t kDigits = 5;
constexpr std::string_view kOf = "-of-", kEnd = ".gguf";

std::optional<uint32_t> number_of(std::string_view digits) {
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

// Cuts the last `count` characters off `text` and returns them; all of them where there are fewer.
std::string_view cut(std::string_view* text, size_t count) {
  const size_t at = text->size() - std::min(count, text->size());
  const std::string_view end = text->substr(at);
  *text = text->substr(0, at);
  return end;
}

[[noreturn]] void refuse(const std::string& file, const std::string& what) {
  fail(ErrorKind::Format, "read", file, " ", what);
}

}  // namespace

std::string SplitName::to_string() const {
  char end[40];
  std::snprintf(end, sizeof(end), "-%05u-of-%05u.gguf", number, count);
  return prefix + end;
}

std::optional<SplitName> split_name(std::string_view path) {
  if (cut(&path, kEnd.size()) != kEnd) return std::nullopt;
  const auto count = number_of(cut(&path, kDigits));
  if (cut(&path, kOf.size()) != kOf) return std::nullopt;
  const auto number = number_of(cut(&path, kDigits));
  if (cut(&path, 1) != "-" || !number || !count || *number < 1 || *number > *count) return std::nullopt;
  return SplitName{std::string(path), *number, *count};
}

int64_t GgufFile::split_count() const { return get_int("split.count", 1); }

// Whether this is part `number` (from 0) of `count`.
void GgufFile::check_part(int64_t number, int64_t count) const {
  const int64_t found = get_int("split.no");
  if (split_count() != count)
    refuse(name_, join_text("is a part of ", split_count(), ", but the first is one of ", count));
  if (found != number) refuse(name_, join_text("says that it is part ", found + 1, ", not ", number + 1));
}

void GgufFile::append_parts() {
  const int64_t count = split_count();
  auto name = split_name(name_);
  if (!name || name->count != count)
    refuse(name_, join_text("is one of ", count, " parts, but its name does not end in ",
                            SplitName{"", 1, static_cast<uint32_t>(count)}.to_string(),
                            ": the others cannot be found"));
  if (name->number != 1 || get_int("split.no") != 0) {
    const uint32_t number = std::exchange(name->number, 1);
    if (get_int("split.no") + 1 == number)
      fail(ErrorKind::InvalidArgument, "read", name_, " is part ", number, " of ", count,
           "; open the first, ", name->to_string());
    refuse(name_, join_text("is part ", get_int("split.no") + 1, " of ", count, " by its metadata and part ",
                            number, " by its name; open the first, ", name->to_string()));
  }
  for (name->number = 2; name->number <= name->count; ++name->number) {
    try {
      append(*open_one(name->to_string()), name->number - 1);
    } catch (Error& error) {
      throw error.while_doing(join_text("opening part ", name->number, " of ", count, " of ", name_));
    }
  }
  const int64_t total = get_int("split.tensors.count");
  if (total != static_cast<int64_t>(tensors_.size()))
    refuse(name_, join_text("has ", total, " tensors in ", count, " parts by its metadata, but ",
                            tensors_.size(), " are there"));
  // What is whole must not say that it is a part: a file with a copy of these metadata would be taken for
  // one.
  std::erase_if(metadata_, [](const auto& value) { return value.first.starts_with("split."); });
  keys_.clear();
  for (size_t i = 0; i < metadata_.size(); ++i) keys_.emplace(metadata_[i].first, i);
}

void GgufFile::append(const GgufFile& part, int64_t number) {
  part.check_part(number, split_count());
  if (part.reversed_ != reversed_) refuse(part.name_, "is of another byte order than the first part");
  for (const GgufTensor& tensor : part.tensors_) {
    if (!names_.emplace(tensor.name, tensors_.size()).second)
      refuse(part.name_, join_text("holds tensor '", tensor.name, "', which a part before holds too"));
    tensors_.push_back(tensor);
  }
  file_bytes_ += part.file_bytes_;
  maps_.insert(maps_.end(), part.maps_.begin(), part.maps_.end());
}

}  // namespace beeswax::io
