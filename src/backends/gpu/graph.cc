// SPDX-License-Identifier: Apache-2.0
#include "beeswax/graph.h"

#include <atomic>
#include <mutex>

#include "backends/gpu/capture.h"
#include "backends/gpu/gpu.h"
#include "core/fail.h"

namespace beeswax {

using gpu::Capture;
using gpu::check;
using gpu::Gpu;

class Graph::Recording {
 public:
  Recording(Gpu& gpu, const std::function<void()>& operations)
      : gpu_(gpu), memory_(gpu.pool()), instance_(gpu.driver()) {
    gpu.use();
    slot_ = gpu.streams().slots().take();
    const gpu::Driver& driver = gpu.driver();
    gpu::DriverStream stream(driver);
    gpu::RecordedGraph graph(driver);
    // Not with_memory: what the pool keeps is what the operations are recorded with.
    check(driver, driver.create_stream(stream.out()), "creating a stream");
    check(driver, driver.begin_capture(stream.get()), "beginning to capture a graph");
    Capture capture{&gpu.pool(), stream.get(), memory_, slot_->device};
    gpu::capturing = &capture;
    try {
      operations();
    } catch (...) {
      gpu::capturing = nullptr;
      // What was recorded is thrown away. The thread may have gone on to another device.
      gpu.try_use();
      driver.end_capture(stream.get(), graph.out());
      throw;
    }
    gpu::capturing = nullptr;
    memory_.end_capture();
    gpu.use();
    check(driver, driver.end_capture(stream.get(), graph.out()), "ending to capture a graph");
    if (capture.commands > 0)
      check(driver, gpu.with_memory([&] { return driver.instantiate(graph.get(), instance_.out()); }),
            "making a graph ready to run");
  }

  ~Recording() {
    gpu_.try_use();  // where it is lost, nobody needs the answers to what follows
    // Some releases of drivers do not wait for a graph that still runs; memory may be used again at once, in
    // the order of the stream.
    const uint32_t streams = gpu_.recording() == nullptr ? replayed_.load() : 0;
    for (uint32_t i = 0; i < gpu::kMostStreams; ++i)
      if ((streams >> i & 1u) != 0) gpu_.driver().wait_for_stream(gpu_.streams().at(i)->handle());
    instance_.reset();
  }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  void replay() {
    if (gpu_.recording() != nullptr)
      fail(ErrorKind::Unsupported, "replay",
           "a graph cannot record another one's replay; replay it after capturing");
    if (!instance_) return;  // nothing was recorded
    // Drivers let one thread at a time use a graph.
    const std::scoped_lock lock(replaying_);
    replayed_.fetch_or(1u << gpu_.current().index());
    gpu_.launch(instance_, memory_, slot_);
  }

  const Device& device() const { return gpu_.device(); }
  size_t bytes() const { return memory_.bytes(); }

 private:
  Gpu& gpu_;
  gpu::GraphMemory memory_;
  gpu::SlotRef slot_;  // whatever stream it is replayed on, its kernels report here
  gpu::GraphInstance instance_;
  std::mutex replaying_;
  std::atomic<uint32_t> replayed_{0};  // on these streams, one bit each
};

Graph Graph::capture(const Device& device, const std::function<void()>& operations) {
  if (gpu::capturing != nullptr)
    fail(ErrorKind::InvalidArgument, "capture", "this thread is capturing a graph already");
  if (device.is_cpu())
    fail(ErrorKind::Unsupported, "capture", "graphs are for GPUs; on the cpu, run the operations themselves");
  if (!operations) fail(ErrorKind::InvalidArgument, "capture", "an empty function has nothing to record");
  try {
    return Graph(std::make_shared<Recording>(Gpu::of(device), operations));
  } catch (Error& e) {
    e.while_doing("capturing a graph on " + device.to_string());
    throw;
  }
}

void Graph::replay() const { recording_->replay(); }
const Device& Graph::device() const { return recording_->device(); }
size_t Graph::memory_bytes() const { return recording_->bytes(); }

}  // namespace beeswax
