// SPDX-License-Identifier: Apache-2.0
#include "backends/gpu/trace.h"

#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>

#include "backends/gpu/gpu.h"
#include "backends/gpu/hooks.h"
#include "core/fail.h"

namespace beeswax::gpu {
namespace {

double now_us() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return out + '"';
}

std::string fixed(double value) {
  std::array<char, 48> text{};  // whatever the locale's decimal point is
  const auto end = std::to_chars(text.begin(), text.end(), value, std::chars_format::fixed, 3);
  return {text.data(), end.ptr};
}

/// {"traceEvents":[...]} with the closing brackets written after each batch of events, and over them the next
/// batch.
class TraceFile {
 public:
  explicit TraceFile(const char* path) : path_(path), file_(std::fopen(path, "wb")) {
    if (file_ == nullptr)
      fail(ErrorKind::Io, "trace", "BEESWAX_TRACE=", path, ": ", std::generic_category().message(errno));
    std::setvbuf(file_, nullptr, _IOFBF, size_t{1} << 20);
    std::fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", file_);
    write("");
  }
  void event(const std::string& json) {
    batch_ += (first_ ? "\n" : ",\n") + json;
    first_ = false;
  }
  void flush() {
    write(batch_);
    batch_.clear();
  }

 private:
  void write(const std::string& events) {
    if (failed_) return;
    std::fputs(events.c_str(), file_);
    std::fputs("\n]}\n", file_);
    const bool whole = std::fflush(file_) == 0 && std::ferror(file_) == 0;
    if (whole && std::fseek(file_, -4, SEEK_CUR) == 0) return;
    failed_ = true;
    std::fprintf(stderr, "beeswax: the trace ends here: BEESWAX_TRACE=%s: %s\n", path_.c_str(),
                 std::generic_category().message(errno).c_str());
  }
  std::string path_;
  std::FILE* file_;
  bool failed_ = false;
  bool first_ = true;
  std::string batch_;
};

class Trace final : public LaunchHooks {
 public:
  explicit Trace(const char* path) : file_(path), begin_us_(now_us()) {}

  void begin(Gpu& gpu, const Submitted&) noexcept override {
    const std::scoped_lock lock(mutex_);
    PerStream& on = stream(gpu, gpu.current());
    on.started = recorded(*on.stream, device(gpu));
  }

  void end(Gpu& gpu, const Submitted& work, bool taken) noexcept override {
    const std::scoped_lock lock(mutex_);
    PerDevice& device = this->device(gpu);
    PerStream& on = stream(gpu, gpu.current());
    if (!on.started.has_value()) return;
    std::optional<Event> ended;
    if (taken) ended = recorded(*on.stream, device);
    if (ended.has_value()) {
      on.pending.push_back({work.kernel.name, work.kernel.operation, work.shape, work.bytes,
                            *std::move(on.started), *std::move(ended)});
    } else {
      device.free.push_back(*std::move(on.started));
    }
    on.started.reset();
    constexpr size_t kMostPending = 4096;
    if (on.pending.size() >= kMostPending) collect(device, on);
  }

  void waited(Gpu& gpu, const DeviceStream& waited) noexcept override {
    const std::scoped_lock lock(mutex_);
    collect(device(gpu), stream(gpu, waited));
  }

  /// At the end of the process.
  void finish() noexcept {
    const std::scoped_lock lock(mutex_);
    for (PerDevice& device : devices_) {
      if (device.gpu == nullptr) continue;
      device.gpu->try_use();  // where it is lost, what is asked of it below fails, and is written as such
      for (const std::unique_ptr<PerStream>& on : device.streams)
        if (on != nullptr) collect(device, *on);
    }
  }

 private:
  struct Record {
    std::string kernel, operation;
    LaunchShape shape;
    size_t bytes;
    Event start, end;
  };
  struct PerStream {
    const DeviceStream* stream;
    std::optional<Event> started{};  // of the launch under way
    std::vector<Record> pending{};
    // Times count from the start of the stream's launch before: a driver gives them as f32 milliseconds,
    // which would be coarse over minutes.
    std::optional<Event> anchor{};
    double anchor_us = 0;
  };
  struct PerDevice {
    Gpu* gpu = nullptr;
    std::vector<Event> free;
    std::array<std::unique_ptr<PerStream>, kMostStreams> streams;
  };

  PerDevice& device(Gpu& gpu) {
    PerDevice& device = devices_[static_cast<size_t>(gpu.number())];
    if (device.gpu != nullptr) return device;
    device.gpu = &gpu;
    file_.event(join_text(R"({"name":"process_name","ph":"M","pid":)", gpu.number(),
                          R"(,"tid":0,"args":{"name":)",
                          quoted(gpu.device().to_string() + " " + gpu.properties().name), "}}"));
    return device;
  }

  PerStream& stream(Gpu& gpu, const DeviceStream& stream) {
    PerDevice& device = this->device(gpu);
    std::unique_ptr<PerStream>& on = device.streams[stream.index()];
    if (on != nullptr) return *on;
    on = std::make_unique<PerStream>(PerStream{&stream});
    file_.event(join_text(R"({"name":"thread_name","ph":"M","pid":)", gpu.number(), R"(,"tid":)",
                          stream.index(), R"(,"args":{"name":"stream )", stream.index(), R"("}})"));
    on->anchor = recorded(stream, device);
    if (on->anchor.has_value()) gpu.driver().wait_for_event(on->anchor->get());
    on->anchor_us = now_us() - begin_us_;
    return *on;
  }

  // An event on a stream; none where the driver fails: what it says there, the launch itself will hear too.
  static std::optional<Event> recorded(const DeviceStream& stream, PerDevice& device) {
    const Driver& driver = device.gpu->driver();
    Event event(driver);
    if (!device.free.empty()) {
      event = std::move(device.free.back());
      device.free.pop_back();
    } else if (!driver.create_event(true, event.out()).ok()) {
      return std::nullopt;
    }
    if (!driver.record_event(event.get(), stream.handle()).ok()) return std::nullopt;
    return event;
  }

  // Writes what was launched; waits for the last of it.
  void collect(PerDevice& device, PerStream& on) {
    const Driver& driver = device.gpu->driver();
    const bool done = !on.pending.empty() && driver.wait_for_event(on.pending.back().end.get()).ok();
    for (Record& record : on.pending) {
      float since = 0, took = 0;
      const bool timed = done && on.anchor.has_value() &&
                         driver.elapsed(on.anchor->get(), record.start.get(), &since).ok() &&
                         driver.elapsed(record.start.get(), record.end.get(), &took).ok();
      on.anchor_us += double{since} * 1000;
      write(*device.gpu, *on.stream, record, on.anchor_us,
            timed ? std::optional<double>(double{took} * 1000) : std::nullopt);
      if (timed) std::swap(*on.anchor, record.start);
      device.free.push_back(std::move(record.start));
      device.free.push_back(std::move(record.end));
    }
    on.pending.clear();
    file_.flush();
  }

  // A launch that never ended, because the device was lost, is an instant.
  void write(const Gpu& gpu, const DeviceStream& stream, const Record& record, double start_us,
             std::optional<double> took_us) {
    const LaunchShape& shape = record.shape;
    std::string json = R"({"name":)" + quoted(record.kernel) + R"(,"cat":)" + quoted(record.operation);
    json += took_us.has_value() ? R"(,"ph":"X","dur":)" + fixed(*took_us) : R"(,"ph":"i","s":"t")";
    json += R"(,"ts":)" + fixed(start_us);
    json += join_text(R"(,"pid":)", gpu.number(), R"(,"tid":)", stream.index(), R"(,"args":{"device":)",
                      quoted(gpu.device().to_string()), R"(,"stream":)", stream.index());
    if (record.bytes > 0)
      json += join_text(R"(,"bytes":)", record.bytes);
    else
      json += join_text(R"(,"blocks":[)", shape.blocks[0], ",", shape.blocks[1], ",", shape.blocks[2],
                        R"(],"threads":)", shape.threads, R"(,"shared_bytes":)", shape.shared_bytes);
    file_.event(json + "}}");
  }

  std::mutex mutex_;
  TraceFile file_;
  double begin_us_;
  std::array<PerDevice, kMostGpus> devices_;
};

}  // namespace

void start_trace() {
  static std::mutex mutex;
  const std::scoped_lock lock(mutex);
  const char* path = std::getenv("BEESWAX_TRACE");
  if (path == nullptr || *path == 0 || launch_hooks.load() != nullptr) return;
  static Trace* trace = nullptr;
  trace = new Trace(path);  // launches may come from destructors of statics
  launch_hooks.store(trace, std::memory_order_release);
  // After the drivers' own handlers were set, so before they run.
  std::atexit([] { trace->finish(); });
}

}  // namespace beeswax::gpu
