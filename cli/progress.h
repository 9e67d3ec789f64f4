// SPDX-License-Identifier: Apache-2.0
// How far a long piece of work is: one line on standard error that the next one overwrites, where a person
// watches; else whatever the caller prints itself.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace beeswax::cli {

class Progress {
 public:
  /// `total` in any unit of work.
  explicit Progress(double total);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  bool shown() const { return shown_; }
  /// A bar, the share that is done, how long the rest will take, and `what` is worked on.
  void show(double done, const std::string& what) const;
  void clear() const;

 private:
  double total_;
  bool shown_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// "4.65 GiB"
std::string size_text(uint64_t bytes);

}  // namespace beeswax::cli
