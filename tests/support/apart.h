// SPDX-License-Identifier: Apache-2.0
// Parts of a test in processes of their own: what a library keeps for the length of a process (an opened
// driver) is fresh in each, and a crash is a failure like others.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace beeswax::test {

/// Runs `part` in a child process and returns the text that it returns. A failed expectation there, an
/// exception or a crash fails the test here.
template <class Part>
std::string run_apart(const Part& part) {
  int ends[2];
  if (::pipe(ends) != 0) {
    ADD_FAILURE() << "no pipe";
    return "";
  }
  std::fflush(nullptr);
  const bool failed_before = testing::Test::HasFailure();
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    std::string text;
    try {
      text = part();
    } catch (const std::exception& e) {
      ADD_FAILURE() << "an exception: " << e.what();
    }
    const bool written = ::write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size());
    ::close(ends[1]);
    std::exit((testing::Test::HasFailure() && !failed_before) || !written
                  ? 1
                  : 0);  // with the destructors of statics, and leak checks
  }
  ::close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t n = 0; (n = ::read(ends[0], buffer, sizeof(buffer))) > 0;)
    text.append(buffer, static_cast<size_t>(n));
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status)) << "the process ended by signal " << WTERMSIG(status);
  EXPECT_EQ(WIFEXITED(status) ? WEXITSTATUS(status) : 0, 0);
  return text;
}

}  // namespace beeswax::test
