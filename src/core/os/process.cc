// SPDX-License-Identifier: Apache-2.0
#include "core/os/process.h"

#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>

namespace beeswax::os {
namespace {

// What a child is started with: its folder, its standard streams, and no signal that this thread blocks.
class SpawnPlan {
 public:
  SpawnPlan(const std::string& folder, int output) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawnattr_init(&attributes_);
    good_ = posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0) == 0 &&
            posix_spawn_file_actions_adddup2(&actions_, output, STDOUT_FILENO) == 0 &&
            posix_spawn_file_actions_adddup2(&actions_, output, STDERR_FILENO) == 0;
    if (good_ && !folder.empty())
      good_ = posix_spawn_file_actions_addchdir_np(&actions_, folder.c_str()) == 0;
    sigset_t none;
    sigemptyset(&none);
    good_ = good_ && posix_spawnattr_setsigmask(&attributes_, &none) == 0 &&
            posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK) == 0;
  }
  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;

  std::optional<pid_t> start(const std::vector<std::string>& command,
                             std::span<const std::string_view> without) const {
    std::vector<char*> words;
    for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    std::vector<char*> variables;
    for (char** at = environ; at != nullptr && *at != nullptr; ++at) {
      const std::string_view variable = *at;
      if (std::ranges::find(without, variable.substr(0, variable.find('='))) == without.end())
        variables.push_back(*at);
    }
    variables.push_back(nullptr);
    pid_t child = 0;
    if (!good_ ||
        posix_spawnp(&child, words[0], &actions_, &attributes_, words.data(), variables.data()) != 0)
      return std::nullopt;
    return child;
  }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
  bool good_ = false;
};

constexpr int kNotFound = 127;

std::string read_all(int file) {
  std::string out;
  std::array<char, 4096> part{};
  for (;;) {
    const ssize_t count = ::read(file, part.data(), part.size());
    if (count > 0) {
      out.append(part.data(), static_cast<size_t>(count));
    } else if (count == 0 || errno != EINTR) {
      return out;
    }
  }
}

}  // namespace

std::optional<Finished> run_program(const std::vector<std::string>& command, const std::string& folder,
                                    std::span<const std::string_view> without) {
  std::array<int, 2> ends{};
  if (command.empty() || ::pipe2(ends.data(), O_CLOEXEC) != 0) return std::nullopt;
  const std::optional<pid_t> child = SpawnPlan(folder, ends[1]).start(command, without);
  ::close(ends[1]);
  if (!child.has_value()) {
    ::close(ends[0]);
    return std::nullopt;
  }
  Finished out;
  out.output = read_all(ends[0]);
  ::close(ends[0]);
  int status = 0;
  while (::waitpid(*child, &status, 0) < 0)
    if (errno != EINTR) return std::nullopt;  // somebody else waited for it: how it went is unknown
  out.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  // Where a child cannot tell its parent that there is no such program, it ends so (POSIX, posix_spawn).
  if (out.status == kNotFound && out.output.empty()) return std::nullopt;
  return out;
}

void in_forked_children(void (*fn)()) { ::pthread_atfork(nullptr, nullptr, fn); }

}  // namespace beeswax::os
