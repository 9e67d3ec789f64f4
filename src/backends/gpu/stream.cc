// SPDX-License-Identifier: Apache-2.0
#include "beeswax/stream.h"

#include "backends/gpu/gpu.h"
#include "core/fail.h"

namespace beeswax {

using gpu::DeviceStream;
using gpu::Gpu;

// Holds a stream of a GPU; on the CPU it stands for itself.
class Stream::Impl {
 public:
  Impl() = default;
  /// The stream is held once already, which is this one's to let go.
  Impl(Gpu& gpu, DeviceStream& stream) : device_(gpu.device()), gpu_(&gpu), stream_(&stream) {}
  ~Impl() {
    if (stream_ != nullptr) stream_->let_go();
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  const Device& device() const { return device_; }
  Gpu* gpu() const { return gpu_; }
  DeviceStream* stream() const { return stream_; }
  /// The GPU's stream where there is something to ask; null on the CPU.
  DeviceStream* use(std::string_view what) const {
    if (gpu_ == nullptr) return nullptr;
    gpu_->refuse_recording(what);
    gpu_->use();
    return stream_;
  }

 private:
  Device device_;
  Gpu* gpu_ = nullptr;
  DeviceStream* stream_ = nullptr;
};

namespace {

// Before anything of a scope is made, so that the refusal says what was tried.
Stream allowed(const Stream& stream) {
  if (!stream.device().is_cpu())
    Gpu::of(stream.device()).refuse_recording("that the thread's stream changes; choose it before capturing");
  return stream;
}

}  // namespace

Stream::Stream(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

Stream Stream::make(const Device& device) {
  if (device.is_cpu()) return current(device);
  Gpu& gpu = Gpu::of(device);
  gpu.refuse_recording("making a stream; make it before capturing");
  return Stream(std::make_shared<const Impl>(gpu, gpu.streams().lease()));
}

Stream Stream::current(const Device& device) {
  if (device.is_cpu()) {
    static const auto cpu = std::make_shared<const Impl>();
    return Stream(cpu);
  }
  Gpu& gpu = Gpu::of(device);
  gpu.refuse_recording("asking for the thread's stream, which is the graph's own; ask before capturing");
  gpu.current().hold();
  return Stream(std::make_shared<const Impl>(gpu, gpu.current()));
}

const Device& Stream::device() const { return impl_->device(); }

void Stream::synchronize() const {
  DeviceStream* stream = impl_->use("waiting for a stream; replay the graph, then wait");
  if (stream != nullptr) impl_->gpu()->wait(*stream);
}

bool Stream::idle() const {
  const DeviceStream* stream = impl_->use("asking a stream whether it is done; ask after capturing");
  return stream == nullptr || stream->idle();
}

void Stream::wait_for(const Stream& other) const {
  if (device() != other.device())
    fail(ErrorKind::InvalidArgument, "wait_for", "a stream of ", device(), " cannot wait for one of ",
         other.device(), "; synchronize() that one");
  DeviceStream* stream = impl_->use("that a stream waits for another; order them before capturing");
  if (stream == nullptr) return;
  const DeviceStream& ahead = *other.impl_->stream();
  stream->wait_for({ahead.index(), ahead.ticket()});
}

bool Stream::operator==(const Stream& other) const {
  return device() == other.device() && impl_->stream() == other.impl_->stream();
}

StreamScope::StreamScope(const Stream& stream)
    : stream_(allowed(stream)), before_(Stream::current(stream_.device())) {
  if (Gpu* gpu = stream_.impl_->gpu(); gpu != nullptr)
    gpu::current_streams[static_cast<size_t>(gpu->number())] = stream_.impl_->stream();
}

StreamScope::~StreamScope() {
  if (const Gpu* gpu = before_.impl_->gpu(); gpu != nullptr)
    gpu::current_streams[static_cast<size_t>(gpu->number())] = before_.impl_->stream();
}

}  // namespace beeswax
