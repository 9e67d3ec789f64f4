// SPDX-License-Identifier: Apache-2.0
// HIP's types as they cross the library's edge, and the frame of every exported function.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace emu::hip {

enum Error : int {
#define EMU_ERROR(name, code, text) name = code,
#include "emu/hip/errors.def"
};

struct Dim3 {
  uint32_t x, y, z;
};

enum CopyKind : int {
  kHostToHost = 0,
  kHostToDevice = 1,
  kDeviceToHost = 2,
  kDeviceToDevice = 3,
  kDefault = 4
};

// Opaque to programs.
class Stream;
class Event;
class Module;
class Graph;
class GraphExec;
struct Function;
struct GraphNode;
class Pool;
using StreamHandle = Stream*;

constexpr auto kLegacyStream = 1, kPerThreadStream = 2;  // handles with a meaning, besides null

/// A call cannot be done: the code for the program, the reason for the log.
struct ApiError : std::runtime_error {
  explicit ApiError(Error what_code, const std::string& why = "")
      : std::runtime_error(why), code(what_code) {}
  Error code;
};

inline void require(bool holds, Error code, const char* why = "") {
  if (!holds) throw ApiError(code, why);
}

/// What follows every exported function's body: the exception in flight becomes a code, which the thread
/// remembers.
Error caught(const char* function) noexcept;
/// Remembers a code that is returned without an exception.
Error remember(Error code) noexcept;
/// What every call returns once the library does nothing any more: hipErrorDeinitialized at the process's
/// end, hipErrorNotInitialized in a child of fork() whose parent used it. Until then hipSuccess.
Error refusal() noexcept;
inline bool alive() noexcept { return refusal() == hipSuccess; }
/// Whether this is such a child. It has none of its parent's workers, and what they held stays held.
inline bool forked() noexcept { return refusal() == hipErrorNotInitialized; }

/// Counts the calls that the program's threads are in; what those look at must not go.
struct UnderWay {
  UnderWay() noexcept { ++count; }
  ~UnderWay() { --count; }
  UnderWay(const UnderWay&) = delete;
  UnderWay& operator=(const UnderWay&) = delete;
  static inline std::atomic<int> count{0};
};

/// Throws hipErrorNotSupported where a host function or callback of a stream calls HIP, which it must not:
/// the stream goes on only when it has returned.
void forbid_in_host_function();

template <class Body>
int api(const char* function, Body body) noexcept {
  const UnderWay call;
  if (const Error code = refusal(); code != hipSuccess) return code;
  try {
    forbid_in_host_function();
    body();
    return hipSuccess;
  } catch (...) {
    return caught(function);
  }
}

}  // namespace emu::hip

#define EMU_API extern "C" __attribute__((visibility("default")))
