// SPDX-License-Identifier: Apache-2.0
// Programs over fake drivers whose calls fail in turn.
#pragma once

#include <functional>
#include <string>

#include "beeswax/error.h"
#include "support/apart.h"
#include "support/fake_gpu.h"

namespace beeswax::test {

inline bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// The Error that `program` throws, with its kind, or "".
inline std::string failure_of(const std::function<void()>& program, ErrorKind* kind) {
  try {
    program();
  } catch (const Error& e) {
    *kind = e.kind();
    return e.what();
  }
  return "";
}

// Calls whose failure a program need not notice: questions for a report, releases, memory that is asked for
// once more, and finished code that gives way to PTX.
inline bool may_pass(std::string_view call, int error) {
  const bool lost = error == 719;
  return has(call, "GetVersion") || has(call, "Free") || has(call, "Destroy") || has(call, "Unload") ||
         (!lost && has(call, "Peer")) ||  // what no device can do goes by way of the host
         (error == 2 &&
          (call == "cuMemAlloc_v2" || call == "hipMalloc" || has(call, "ModuleLoadData") ||
           has(call, "StreamCreate") || has(call, "EventCreate") || has(call, "HostAlloc") ||
           has(call, "HostMalloc") || has(call, "HostGetDevicePointer") || has(call, "GraphInstantiate"))) ||
         (!lost && error != 2 && call == "cuModuleLoadData");
}
// A driver that does not open stays closed to the process.
inline bool closes_driver(std::string_view call) { return call == "cuInit" || call == "hipInit"; }

inline std::string_view words_of(int error) {
  return error == 1 ? "invalid argument" : error == 2 ? "out of memory" : "a failure on request";
}

/// Calls part(control, n) in processes of their own, for n = 1, 2, ... until the fault that it sets finds no
/// call.
template <class Part>
void for_every_call(const FakeGpu& fake, const Part& part) {
  int64_t n = 0;
  for (std::string hit = "first"; !hit.empty() && !testing::Test::HasFailure();) {
    ++n;
    SCOPED_TRACE(testing::Message() << "call " << n);
    hit = run_apart([&] {
      fake::Control& control = fake.control();
      part(control, n);
      return std::string(control.failed);
    });
  }
  EXPECT_GT(n, 20);
}

/// Each call of `program` fails in turn, with some errors: an Error says so, nothing leaks, and the program
/// then runs. It may use `others` too. `optional`: a call by whose lack of memory the program may pass.
inline void expect_any_call_may_fail(const FakeGpu& fake, const std::function<void(const Device&)>& program,
                                     const std::vector<Device>& others = {}, std::string_view optional = {}) {
  for (const int error : {1, 2, 801})
    for_every_call(fake, [&](fake::Control& control, int64_t n) {
      const Device device = fake.device();
      control.devices = static_cast<int>(others.size()) + 1;
      set_fault(control, "", n, error);
      ErrorKind kind{};
      const std::string text = failure_of([&] { program(device); }, &kind);
      const std::string hit = control.failed;
      if (hit.empty()) return;
      if (text.empty()) {
        EXPECT_TRUE(may_pass(hit, error) || (error == 2 && hit == optional))
            << hit << " failed and nobody noticed";
      } else {
        EXPECT_TRUE(has(text, words_of(error))) << text;
        EXPECT_EQ(kind, error == 2 && !closes_driver(hit) ? ErrorKind::OutOfMemory : ErrorKind::Device);
      }
      if (closes_driver(hit)) return;
      control.fail_nth = 0;
      program(device);
      expect_nothing_leaks(fake, control, others);
    });
}

}  // namespace beeswax::test
