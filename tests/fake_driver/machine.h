// SPDX-License-Identifier: Apache-2.0
// The device behind a fake driver, for both vendors' names. Error numbers are those that HIP and CUDA share.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fake_driver/fake_driver.h"

#define BW_FAKE_EXPORT extern "C" __attribute__((visibility("default")))

namespace fake {

inline constexpr int kInvalid = 1, kNoMemory = 2, kNoDevice = 101, kBadImage = 200, kNotFound = 500,
                     kNotReady = 600, kNoPeers = 217, kPeersAlready = 704, kCaptureUnsupported = 900,
                     kCaptureInvalidated = 901;

enum class Kind { Allocation, Pinned, Stream, Event, Module, Graph, Instance };

struct Object {
  Kind kind = Kind::Allocation;
  int device = 0;                           // it was made on
  size_t bytes = 0;                         // of memory
  std::string image;                        // of a module
  std::vector<std::string*> functions;      // handles that it gave out
  std::vector<std::function<int()>> work;   // of a graph or an instance
  bool capturing = false, spoiled = false;  // a stream
  bool relaxed = false;                     // its capture
  int64_t nanoseconds = 0;                  // an event's time; 0: not recorded
  int64_t number = 0;                       // of a stream; of the stream that recorded an event
};

class Machine {
 public:
  static Machine& get();
  Control control{};
  std::mutex mutex;
  std::map<const void*, unsigned> allowed_shared;  // dynamic, of functions of CUDA's

  /// 0, or what the fault says.
  int enter(const char* name);
  /// Whether there is such a device; `use` makes it the calling thread's.
  int only_device(int ordinal) const { return ordinal >= 0 && ordinal < control.devices ? 0 : kNoDevice; }
  int use(int ordinal);
  void* make(Kind kind, Object object = {});
  /// The object, or null and a misuse. Streams and modules are those of the thread's device.
  Object* find(Kind kind, const void* handle);
  int release(Kind kind, void* handle);
  size_t free_bytes() const;
  int allocate(Kind kind, void** out, size_t bytes);
  int load(void** out, const void* image);
  int function(void** out, void* module, const char* name);
  /// Does it, or keeps it for the graph that the stream records. `what` as Submitted names it.
  int submit(void* stream, const std::string& what, std::function<int()> work);
  int copy(void* to, const void* from, size_t bytes, bool to_device, bool from_device, void* stream);
  int can_reach(int* can, int device, int peer);
  int reach(int peer);
  int copy_between(void* to, int to_device, const void* from, int from_device, size_t bytes, void* stream);
  int fill(void* to, int value, size_t bytes, void* stream);
  /// `bytes` of arguments, or what the test says that the kernel takes where it is 0.
  int launch(void* function, const unsigned (&blocks)[3], unsigned threads, const void* arguments,
             size_t bytes, void* stream, bool programmatic = false);
  int wait(void* stream);
  int query(void* stream);
  int make_wait(void* stream, void* event);
  int record(void* event, void* stream);
  /// By the clock of the host, as everything happens there.
  int elapsed(float* milliseconds, void* from, void* to);
  int begin_capture(void* stream, int mode);
  int end_capture(void* stream, void** graph);
  int instantiate(void** out, void* graph);
  int launch_graph(void* instance, void* stream);
  /// Whether a stream records; then the whole recording is spoiled, as drivers do for calls that may not be
  /// recorded. In relaxed mode they let them pass, and here only those of a thread that uses another device:
  /// nobody may rely on the driver to refuse the others.
  bool spoil_capture();
  int misuse(const std::string& what);

 private:
  Machine();
  int64_t& count(Kind kind);
  bool inside(const void* data, size_t bytes, int device = -1);
  std::map<const void*, Object> objects_;
  int64_t streams_made_ = 0;
  std::set<std::pair<int, int>> reached_;  // the second by the first
};

enum class Rule { Plain, NotWhileCapturing, Releases, ReleasesMemory };

/// The body of an exported function.
template <class Work>
int call(const char* name, const Work& work, Rule rule = Rule::Plain) {
  Machine& machine = Machine::get();
  const std::scoped_lock lock(machine.mutex);
  const int fault = machine.enter(name);
  if (fault != 0 && rule != Rule::Releases && rule != Rule::ReleasesMemory) return fault;
  const bool recordable = rule == Rule::Plain || rule == Rule::Releases;
  if (!recordable && machine.spoil_capture()) return kCaptureUnsupported;
  const int error = work(machine);
  return fault != 0 ? fault : error;
}

/// The body of a launch of a graph's instance, which two threads must not use at the same time. It lasts a
/// while, so that they meet.
int call_launch_graph(const char* name, void* instance, void* stream);

/// What an error number is called.
const char* error_words(int error);

}  // namespace fake
