// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.h"

#include <algorithm>
#include <cstdio>
#include <iterator>

#include "core/os/terminal.h"

namespace beeswax::cli {

Progress::Progress(double total) : total_(total), shown_(os::is_terminal(os::Stream::Error)) {}

void Progress::show(double done, const std::string& what) const {
  if (!shown_) return;
  constexpr int kWidth = 24;
  const double share = total_ > 0 ? std::clamp(done / total_, 0.0, 1.0) : 1;
  const auto filled = static_cast<size_t>(share * kWidth);
  const std::string bar = std::string(filled, '#') + std::string(kWidth - filled, '.');
  const double spent = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  std::string left;
  if (share > 0.01)
    left = ", " + std::to_string(static_cast<int>(spent / share * (1 - share) + 0.5)) + " s left";
  std::fprintf(stderr, "\r\033[K[%s] %3.0f%%%s  %s", bar.c_str(), 100 * share, left.c_str(), what.c_str());
  std::fflush(stderr);
}

void Progress::clear() const {
  if (shown_) std::fprintf(stderr, "\r\033[K");
}

std::string size_text(uint64_t bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  auto size = static_cast<double>(bytes);
  size_t unit = 0;
  for (; size >= 1024 && unit + 1 < std::size(kUnits); ++unit) size /= 1024;
  char text[32];
  std::snprintf(text, sizeof(text), unit == 0 ? "%.0f %s" : "%.2f %s", size, kUnits[unit]);
  return text;
}

}  // namespace beeswax::cli
