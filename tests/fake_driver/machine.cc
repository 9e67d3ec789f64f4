// SPDX-License-Identifier: Apache-2.0
#include "fake_driver/machine.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace fake {
namespace {

template <size_t n>
void put(char (&to)[n], const std::string& text) {
  std::snprintf(to, n, "%s", text.c_str());
}

thread_local int current_device = -1;

// An ELF file has no length; it ends behind its section headers. Text ends at its zero.
size_t image_bytes(const char* image) {
  if (std::memcmp(image,
                  "\x7f"
                  "ELF",
                  4) != 0)
    return std::strlen(image);
  uint64_t table = 0;
  uint16_t size = 0, count = 0;
  std::memcpy(&table, image + 40, sizeof(table));
  std::memcpy(&size, image + 58, sizeof(size));
  std::memcpy(&count, image + 60, sizeof(count));
  return table + size_t{size} * count;
}

}  // namespace

Machine& Machine::get() {
  static Machine* machine = new Machine;  // the last calls may come from destructors of statics
  return *machine;
}

Machine::Machine() {
  control.memory_bytes = size_t{1} << 32;
  control.cluster_blocks = 64;
  if (const char* arch = std::getenv("FAKE_DRIVER_ARCH")) put(control.arch, arch);
  const char* devices = std::getenv("FAKE_DRIVER_DEVICES");
  control.devices = devices == nullptr ? 1 : std::atoi(devices);
  if (const char* version = std::getenv("FAKE_DRIVER_VERSION")) control.version = std::atoi(version);
  if (const char* fault = std::getenv("FAKE_DRIVER_FAIL")) {
    const std::string text = fault;
    const size_t first = text.find(':'), second = text.find(':', first + 1);
    put(control.fail_call, text.substr(0, first));
    control.fail_nth = std::atoi(text.c_str() + first + 1);
    control.fail_error = std::atoi(text.c_str() + second + 1);
  }
}

int Machine::enter(const char* name) {
  ++control.calls;
  if (control.fail_on && control.failed[0] != 0) return control.fail_error;
  if (control.fail_nth == 0 || (control.fail_call[0] != 0 && std::strcmp(control.fail_call, name) != 0))
    return 0;
  if (--control.fail_nth > 0) return 0;
  put(control.failed, name);
  return control.fail_error;
}

int Machine::use(int ordinal) {
  if (only_device(ordinal) != 0) return kNoDevice;
  current_device = ordinal;
  return 0;
}

int64_t& Machine::count(Kind kind) {
  int64_t* const counts[] = {&control.allocations, &control.pinned, &control.streams,  &control.events,
                             &control.modules,     &control.graphs, &control.instances};
  return *counts[static_cast<size_t>(kind)];
}

int Machine::misuse(const std::string& what) {
  ++control.misuses;
  put(control.misuse, what);
  return kInvalid;
}

void* Machine::make(Kind kind, Object object) {
  object.kind = kind;
  object.device = current_device;
  if (kind == Kind::Stream) object.number = streams_made_++;
  void* handle = nullptr;  // at a multiple of 256, as drivers allocate
  if (posix_memalign(&handle, 256, std::max<size_t>(object.bytes, 1)) != 0) std::abort();
  objects_.emplace(handle, std::move(object));
  ++count(kind);
  return handle;
}

Object* Machine::find(Kind kind, const void* handle) {
  const auto found = objects_.find(handle);
  if (found != objects_.end() && found->second.kind == kind) {
    if ((kind == Kind::Stream || kind == Kind::Module) && found->second.device != current_device)
      misuse("a stream or module of a device that is not the thread's");
    return &found->second;
  }
  misuse("a handle of kind " + std::to_string(static_cast<int>(kind)) + " that is not alive");
  return nullptr;
}

int Machine::release(Kind kind, void* handle) {
  const Object* object = find(kind, handle);
  if (object == nullptr) return kInvalid;
  for (const std::string* function : object->functions) delete function;
  objects_.erase(handle);
  std::free(handle);
  --count(kind);
  return 0;
}

size_t Machine::free_bytes() const {
  size_t used = 0;
  for (const auto& [handle, object] : objects_) used += object.bytes;
  return control.memory_bytes - std::min(used, control.memory_bytes);
}

int Machine::allocate(Kind kind, void** out, size_t bytes) {
  if (bytes > free_bytes()) return kNoMemory;
  Object object;
  object.bytes = bytes;
  *out = make(kind, std::move(object));
  return 0;
}

int Machine::load(void** out, const void* image) {
  ++control.loads;
  const char* bytes = static_cast<const char*>(image);
  const bool finished = bytes[0] == 0x7f;
  if (const int refusal = finished ? control.refuse_finished : control.refuse_text; refusal != 0)
    return refusal;
  Object module;
  module.image.assign(bytes, image_bytes(bytes));
  *out = make(Kind::Module, std::move(module));
  return 0;
}

int Machine::function(void** out, void* module, const char* name) {
  Object* object = find(Kind::Module, module);
  if (object == nullptr) return kInvalid;
  if (object->image.find(name) == std::string::npos) return kNotFound;
  object->functions.push_back(new std::string(name));
  *out = object->functions.back();
  return 0;
}

int Machine::submit(void* stream, const std::string& what, std::function<int()> work) {
  Object* object = find(Kind::Stream, stream);
  if (object == nullptr) return kInvalid;
  if (!object->capturing) {
    if (control.submitted != nullptr) control.submitted({object->number, what.c_str()});
    return work();
  }
  object->work.push_back(std::move(work));
  return 0;
}

bool Machine::inside(const void* data, size_t bytes, int device) {
  auto found = objects_.upper_bound(data);
  if (found == objects_.begin()) return false;
  --found;
  const char* begin = static_cast<const char*>(found->first);
  return found->second.kind == Kind::Allocation && (device < 0 || found->second.device == device) &&
         static_cast<const char*>(data) + bytes <= begin + found->second.bytes;
}

int Machine::copy(void* to, const void* from, size_t bytes, bool to_device, bool from_device, void* stream) {
  return submit(stream, "copy", [=, this] {
    if ((to_device && !inside(to, bytes)) || (from_device && !inside(from, bytes)))
      return misuse("a copy outside of an allocation");
    std::memcpy(to, from, bytes);
    return 0;
  });
}

int Machine::can_reach(int* can, int device, int peer) {
  if (only_device(device) + only_device(peer) != 0) return kNoDevice;
  *can = device != peer && !control.apart ? 1 : 0;
  return 0;
}

int Machine::reach(int peer) {
  if (only_device(peer) != 0) return kNoDevice;
  if (control.apart || peer == current_device) return kNoPeers;
  return reached_.emplace(current_device, peer).second ? 0 : kPeersAlready;
}

int Machine::copy_between(void* to, int to_device, const void* from, int from_device, size_t bytes,
                          void* stream) {
  if (only_device(to_device) + only_device(from_device) != 0) return kNoDevice;
  return submit(stream, "send " + std::to_string(to_device), [=, this] {
    if (!inside(to, bytes, to_device) || !inside(from, bytes, from_device))
      return misuse("a copy outside of the allocations of two devices");
    std::memcpy(to, from, bytes);
    if (control.loses_copies) static_cast<char*>(to)[bytes / 2] ^= 1;
    return 0;
  });
}

int Machine::fill(void* to, int value, size_t bytes, void* stream) {
  return submit(stream, "fill", [=, this] {
    if (!inside(to, bytes)) return misuse("a fill outside of an allocation");
    std::memset(to, value, bytes);
    return 0;
  });
}

int Machine::launch(void* function, const unsigned (&blocks)[3], unsigned threads, const void* arguments,
                    size_t bytes, void* stream, bool programmatic) {
  for (const unsigned n : blocks)
    if (n == 0) return misuse("a launch of no blocks");
  if (threads == 0 || threads > 1024) return misuse("a block of no or too many threads");
  const std::string& kernel = *static_cast<const std::string*>(function);
  if (bytes == 0 && control.argument_bytes != nullptr) bytes = control.argument_bytes(kernel.c_str());
  std::string kept(static_cast<const char*>(arguments), bytes);
  return submit(stream, kernel,
                [this, kernel, kept = std::move(kept), x = blocks[0], y = blocks[1], z = blocks[2], threads,
                 programmatic] {
                  ++control.launches;
                  if (control.run != nullptr)
                    control.run({kernel.c_str(), {x, y, z}, threads, kept.data(), programmatic});
                  return 0;
                });
}

int Machine::wait(void* stream) { return find(Kind::Stream, stream) == nullptr ? kInvalid : 0; }

int Machine::query(void* stream) {
  if (find(Kind::Stream, stream) == nullptr) return kInvalid;
  return control.busy ? kNotReady : 0;
}

int Machine::make_wait(void* stream, void* event) {
  const Object* object = find(Kind::Event, event);
  if (object == nullptr || object->nanoseconds == 0) return misuse("a wait for nothing");
  return submit(stream, "wait " + std::to_string(object->number), [] { return 0; });
}

int Machine::record(void* event, void* stream) {
  if (find(Kind::Event, event) == nullptr) return kInvalid;
  return submit(stream, "record", [event, stream, this] {
    Object* object = find(Kind::Event, event);
    if (object == nullptr) return kInvalid;
    if (const Object* on = find(Kind::Stream, stream); on != nullptr) object->number = on->number;
    object->nanoseconds = std::chrono::steady_clock::now().time_since_epoch().count();
    return 0;
  });
}

int Machine::elapsed(float* milliseconds, void* from, void* to) {
  const Object* first = find(Kind::Event, from);
  const Object* last = find(Kind::Event, to);
  if (first == nullptr || last == nullptr || first->nanoseconds == 0 || last->nanoseconds == 0)
    return kInvalid;
  *milliseconds = static_cast<float>(static_cast<double>(last->nanoseconds - first->nanoseconds) * 1e-6);
  return 0;
}

int Machine::begin_capture(void* stream, int mode) {
  Object* object = find(Kind::Stream, stream);
  if (object == nullptr || object->capturing) return kInvalid;
  object->capturing = true;
  object->spoiled = false;
  constexpr int kRelaxed = 2;
  object->relaxed = mode == kRelaxed;
  return 0;
}

bool Machine::spoil_capture() {
  bool any = false;
  for (auto& [handle, object] : objects_)
    if (object.capturing && !(object.relaxed && object.device != current_device)) any = object.spoiled = true;
  return any;
}

int Machine::end_capture(void* stream, void** graph) {
  Object* object = find(Kind::Stream, stream);
  if (object == nullptr || !object->capturing) return kInvalid;
  object->capturing = false;
  Object recorded;
  recorded.work = std::move(object->work);
  object->work.clear();
  if (object->spoiled) return kCaptureInvalidated;
  *graph = make(Kind::Graph, std::move(recorded));
  return 0;
}

int Machine::instantiate(void** out, void* graph) {
  const Object* object = find(Kind::Graph, graph);
  if (object == nullptr) return kInvalid;
  Object instance;
  instance.work = object->work;
  *out = make(Kind::Instance, std::move(instance));
  return 0;
}

int Machine::launch_graph(void* instance, void* stream) {
  const Object* object = find(Kind::Instance, instance);
  if (object == nullptr) return kInvalid;
  return submit(stream, "graph", [work = object->work] {
    for (const auto& step : work)
      if (const int error = step(); error != 0) return error;
    return 0;
  });
}

int call_launch_graph(const char* name, void* instance, void* stream) {
  Machine& machine = Machine::get();
  static std::set<void*> used;
  {
    const std::scoped_lock lock(machine.mutex);
    if (!used.insert(instance).second) machine.misuse("a graph that another thread launches");
  }
  std::this_thread::sleep_for(std::chrono::microseconds(200));
  const int error = call(name, [&](Machine& m) { return m.launch_graph(instance, stream); });
  const std::scoped_lock lock(machine.mutex);
  used.erase(instance);
  return error;
}

const char* error_words(int error) {
  switch (error) {
    case kInvalid:
      return "invalid argument";
    case kNoMemory:
      return "out of memory";
    case kNoDevice:
      return "invalid device ordinal";
    case kBadImage:
      return "device kernel image is invalid";
    case kNotFound:
      return "named symbol not found";
    case kCaptureUnsupported:
      return "operation not permitted when stream is capturing";
    case kCaptureInvalidated:
      return "operation failed due to a previous error during capture";
    default:
      return "a failure on request";
  }
}

}  // namespace fake

BW_FAKE_EXPORT fake::Control* fake_driver_control() { return &fake::Machine::get().control; }
