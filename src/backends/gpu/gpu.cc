// SPDX-License-Identifier: Apache-2.0
#include "backends/gpu/gpu.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "backends/gpu/coverage.h"
#include "backends/gpu/rtc/compile.h"
#include "backends/gpu/trace.h"
#include "core/fail.h"

namespace beeswax::gpu {
namespace {

// The ordinal of `device` in its driver: emu names an architecture, and the first device of it counts.
int ordinal_of(const Device& device, const Driver& driver) {
  int count = 0;
  check(driver, driver.device_count(&count), "counting devices");
  if (device.kind() != DeviceKind::Emu) {
    if (device.ordinal() >= count)
      fail(ErrorKind::Device, "device", device, ": ", driver.library, " finds ", count,
           count == 1 ? " device" : " devices");
    return device.ordinal();
  }
  std::string archs;
  for (int i = 0; i < count; ++i) {
    Properties properties;
    check(driver, driver.properties(i, &properties), "asking for a device's properties");
    if (properties.arch == device.arch()) return i;
    archs += (archs.empty() ? "" : ", ") + properties.arch;
  }
  fail(ErrorKind::Device, "device", device, ": the software GPU has ", archs);
}

// Whether both are one device of a GPU's kind; the software GPU's alone have names.
bool is_same(const Device& a, const Device& b) {
  return a.kind() == b.kind() && a.ordinal() == b.ordinal() &&
         (a.kind() != DeviceKind::Emu || a.arch() == b.arch());
}

}  // namespace

Gpu& Gpu::of(const Device& device) {
  // Opened GPUs are never closed before the process ends: storages may outlive everything else.
  static std::mutex mutex;
  static std::array<std::atomic<Gpu*>, kMostGpus> opened{};
  for (const auto& slot : opened) {
    Gpu* gpu = slot.load(std::memory_order_acquire);
    if (gpu == nullptr) break;
    if (is_same(gpu->device_, device)) return *gpu;
  }
  const std::scoped_lock lock(mutex);
  size_t number = 0;
  for (; number < opened.size() && opened[number].load() != nullptr; ++number)
    if (opened[number].load()->device_ == device) return *opened[number].load();
  if (number == opened.size())
    fail(ErrorKind::Unsupported, "device", device, ": more than ", kMostGpus, " GPUs");
  const DriverState& state = driver_for(device.kind());
  if (state.driver == nullptr) fail(ErrorKind::Device, "device", device, ": ", state.reason);
  const int ordinal = ordinal_of(device, *state.driver);
  opened[number].store(new Gpu(device, *state.driver, ordinal, static_cast<int>(number)),
                       std::memory_order_release);
  return *opened[number].load();
}

Gpu::Gpu(const Device& device, const Driver& driver, int ordinal, int number)
    : device_(device),
      driver_(driver),
      ordinal_(ordinal),
      number_(number),
      pool_(driver, device, ordinal),
      streams_(*this) {
  check(driver_, driver_.properties(ordinal, &properties_), "asking for the device's properties");
  use();
  streams_.start();
  choose_target();
  start_trace();
}

Result Gpu::with_memory(const std::function<Result()>& call) {
  const Result result = call();
  return result.code == Code::OutOfMemory && pool_.make_room() ? call() : result;
}

std::string_view Gpu::target() const {
  return compiled_here_ ? std::string_view(properties_.arch) : Bundle::embedded().target_name(target_);
}

void Gpu::choose_target() {
  const Bundle& bundle = Bundle::embedded();
  std::optional<size_t> target = bundle.target_for(properties_.arch);
  if (!target.has_value() && rtc::compiler_of_ours(properties_.arch) != nullptr) {
    // The names and modules of kernels are those of every target, but for those of matrix units; their code
    // is made when it is first used.
    compiled_here_ = true;
    const auto in_common = [&](size_t other) {
      return std::popcount(matrix_units(bundle.target_name(other)) & matrix_units(properties_.arch));
    };
    target = 0;
    for (size_t other = 1; other < bundle.targets().size(); ++other)
      if (in_common(other) > in_common(*target)) target = other;
  }
  if (!target.has_value())
    fail(ErrorKind::Unsupported, "device", device_, " is a ", why_uncovered(properties_.arch));
  // Finished code that the driver refuses gives way to PTX, which it compiles. A module tells, before anybody
  // asks whose kernels there are; the last resort is left to the first kernel.
  for (int skip = 0;; ++skip) {
    target_ = *target;
    units_ = matrix_units(properties_.arch) & matrix_units(bundle.target_name(target_));
    modules_.clear();
    for (size_t i = 0; i < bundle.module_count(target_); ++i) modules_.emplace_back(driver_);
    target = bundle.target_for(properties_.arch, skip + 1);
    if (!target.has_value()) return;
    const Result result = load_module(0);
    if (result.ok()) return;
    if (result.code == Code::OutOfMemory || result.code == Code::Lost) check_module(result, 0);
    refused_ += join_text("; code for ", this->target(), " was refused: ", driver_.error_text(result.number));
  }
}

Result Gpu::load_module(uint32_t index) {
  const Bundle& bundle = Bundle::embedded();
  const std::vector<std::byte> image =
      compiled_here_ ? rtc::code_of_module(bundle.module_name(target_, index), properties_.arch).image
                     : bundle.unpack(target_, index);
  const Result result = with_memory([&] { return driver_.load_module(image.data(), modules_[index].out()); });
  if (result.ok()) modules_loaded_.fetch_add(1);
  return result;
}

void Gpu::check_module(Result result, uint32_t index) const {
  check(driver_, result,
        join_text("loading the module ", Bundle::embedded().module_name(target_, index), " for ", target(),
                  " on ", device_, refused_));
}

ModuleHandle Gpu::module(uint32_t index) {
  if (!modules_[index]) check_module(load_module(index), index);
  return modules_[index].get();
}

Kernel Gpu::load(std::string_view name, const char* operation, uint32_t shared_bytes) {
  refuse_recording(
      join_text("the first use of the kernel ", name, "; run the same operations once before capturing"));
  const std::scoped_lock lock(loading_);
  use();
  const std::optional<Bundle::KernelRow> row = Bundle::embedded().find(target_, name);
  if (!row.has_value()) fail(ErrorKind::Internal, operation, "no kernel ", name, " for ", target());
  Kernel kernel;
  kernel.name = name;
  kernel.operation = operation;
  kernel.argument_bytes = row->argument_bytes;
  kernel.waits = !compiled_here_ && Bundle::waits(target());
  check(driver_, driver_.find_function(module(row->module), kernel.name.c_str(), &kernel.function),
        join_text("looking for the kernel ", name));
  if (shared_bytes > 0)
    check(driver_, driver_.allow_shared(kernel.function, shared_bytes),
          join_text("asking for ", shared_bytes, " bytes of shared memory for the kernel ", name));
  return kernel;
}

void Gpu::launch_bytes(const Kernel& kernel, const LaunchShape& shape, std::span<const std::byte> arguments,
                       std::span<const void* const> hidden) {
  if (arguments.size() != kernel.argument_bytes)
    fail(ErrorKind::Internal, kernel.operation, "kernel ", kernel.name, " takes ", kernel.argument_bytes,
         " bytes of arguments, not ", arguments.size());
  LaunchShape launched = shape;
  launched.programmatic = kernel.waits;
  submit(kernel, launched, {arguments, hidden}, [&](StreamHandle stream) {
    return driver_.launch(kernel.function, launched, arguments.data(), arguments.size(), stream);
  });
}

void Gpu::launch_list(const Kernel& kernel, const LaunchShape& shape, std::span<void*> arguments,
                      std::span<const std::byte> values) {
  submit(kernel, shape, {values, {}}, [&](StreamHandle stream) {
    return driver_.launch_list(kernel.function, shape, arguments.data(), stream);
  });
}

std::vector<void*> Gpu::blocks_of(const Reach& reach) const {
  std::vector<void*> blocks;
  pool_.find(reach.arguments, blocks);
  if (!reach.hidden.empty()) pool_.find(std::as_bytes(reach.hidden), blocks);
  return blocks;
}

template <class Submit>
Result Gpu::ordered(const Reach& reach, const Submit& submit) {
  if (const Result used = driver_.use(ordinal_); !used.ok()) return used;
  if (Capture* capture = recording(); capture != nullptr) {
    ++capture->commands;
    pool_.hold(reach.arguments, capture->memory);
    if (!reach.hidden.empty()) pool_.hold(std::as_bytes(reach.hidden), capture->memory);
    return submit(capture->stream);
  }
  DeviceStream& stream = current();
  std::vector<void*> blocks;
  const bool several = streams_.several();
  if (several) {
    blocks = blocks_of(reach);
    pool_.order(blocks, stream, Access::Read);
  }
  const Result result = submit(stream.handle());
  if (!result.ok()) return result;
  const uint64_t ticket = stream.count();
  // Asked again: a second stream may have been made meanwhile. It cannot have used this memory before, for it
  // would have had to know that this thread had not begun.
  if (streams_.several()) pool_.mark_read(several ? blocks : blocks_of(reach), stream, ticket);
  return result;
}

template <class Submit>
Result Gpu::hooked(const Submitted& work, const Reach& reach, const Submit& submit) {
  return ordered(reach, [&](StreamHandle stream) {
    LaunchHooks* hooks = launch_hooks.load(std::memory_order_acquire);
    // What is recorded has no hooks: a driver does not time it.
    if (hooks == nullptr || recording() != nullptr) return submit(stream);
    const std::scoped_lock lock(hooked_);
    hooks->begin(*this, work);
    Result result{Code::Other, 0};
    try {
      result = submit(stream);
    } catch (...) {
      hooks->end(*this, work, false);
      throw;
    }
    hooks->end(*this, work, result.ok());
    return result;
  });
}

Result Gpu::submit_ordered(std::span<const void* const> pointers,
                           const std::function<Result(StreamHandle)>& submit, size_t bytes) {
  static const Kernel kCopy{nullptr, "copy_to_another_device", "copy"};  // as hooks name it
  return bytes == 0 ? ordered({{}, pointers}, submit) : hooked({kCopy, {}, bytes}, {{}, pointers}, submit);
}

template <class Launch>
Result Gpu::try_submit(const Kernel& kernel, const LaunchShape& shape, const Reach& reach,
                       const Launch& launch) {
  const Result result = hooked({kernel, shape}, reach, launch);
  if (result.ok()) last_kernel_.store(&kernel, std::memory_order_relaxed);
  return result;
}

template <class Launch>
void Gpu::submit(const Kernel& kernel, const LaunchShape& shape, const Reach& reach, const Launch& launch) {
  const Result result = try_submit(kernel, shape, reach, launch);
  if (!result.ok())
    check(driver_, result,
          join_text("launching the kernel ", kernel.name, " of ", kernel.operation, " on ", device_));
}

void Gpu::submit_call(const Kernel& kernel, std::span<const void* const> pointers,
                      const std::function<std::string(StreamHandle)>& call) {
  std::string refused;
  const Result result = try_submit(kernel, {}, {{}, pointers}, [&](StreamHandle stream) {
    refused = call(stream);
    return Result{refused.empty() ? Code::Ok : Code::Other, 0};
  });
  if (!refused.empty()) fail(ErrorKind::Device, kernel.operation, device_, ": ", refused);
  check(driver_, result, join_text("submitting ", kernel.operation, " on ", device_));
}

void Gpu::launch(const GraphInstance& graph, const GraphMemory& memory, const SlotRef& slot) {
  static const Kernel kGraph{nullptr, "graph", "replay", 0};  // as hooks and messages name it
  DeviceStream& stream = current();
  if (streams_.several()) pool_.order(memory.blocks(), stream, Access::Write);
  submit(kGraph, {}, {}, [&](StreamHandle handle) { return driver_.launch_graph(graph.get(), handle); });
  stream.look_at(slot);
  if (streams_.several()) pool_.mark_written(memory.blocks(), stream);
}

void Gpu::begin_write(void* block) {
  // A graph's replays write all of its memory.
  if (recording() != nullptr || !streams_.several()) return;
  pool_.order({&block, 1}, current(), Access::Write);
}

void Gpu::end_write(void* block) {
  if (recording() != nullptr || !streams_.several()) return;
  pool_.mark_written({&block, 1}, current());
}

int Gpu::clusters(const Kernel& kernel, const LaunchShape& shape) {
  std::atomic<int>& known = clusters_.at(shape.cluster);
  if (known.load(std::memory_order_relaxed) == 0) {
    use();
    int count = 0;
    const Result result = driver_.most_clusters(kernel.function, shape, &count);
    known.store(1 + (result.ok() ? count : 0), std::memory_order_relaxed);
  }
  return known.load(std::memory_order_relaxed) - 1;
}

void Gpu::make_tensor_map(const TensorView& view, void* out) {
  use();
  check(driver_, driver_.make_tensor_map(view, out), "describing a tensor to the copy engine");
}

void Gpu::refuse_recording(std::string_view what) const {
  if (recording() != nullptr) fail(ErrorKind::Unsupported, "graph", "a graph cannot record ", what);
}

constexpr std::string_view kNoWaiting =
    "waiting for the device; replay the graph, then wait or read its results";

void Gpu::upload(void* to, const void* from, size_t bytes) {
  refuse_recording(
      "a copy from the host; make the tensor before capturing, and write new values into it in place");
  if (bytes == 0) return;
  static const Kernel kCopy{nullptr, "copy_to_device", "copy"};  // as hooks name it
  const void* const reached[] = {to};
  const auto submit = [&](StreamHandle stream) {
    current().staging().upload(to, from, bytes, stream);
    return Result{};
  };
  check(driver_, hooked({kCopy, {}, bytes}, {{}, reached}, submit), "copying to the device");
}

void Gpu::download(void* to, const void* from, size_t bytes) {
  refuse_recording(kNoWaiting);
  DeviceStream& stream = current();
  static const Kernel kCopy{nullptr, "copy_from_device", "copy"};  // as hooks name it
  const void* const reached[] = {from};
  const auto submit = [&](StreamHandle handle) {
    stream.staging().download(to, from, bytes, handle);
    return Result{};
  };
  check(driver_, hooked({kCopy, {}, bytes}, {{}, reached}, submit), "copying from the device");
  wait(stream);
}

void Gpu::copy(void* to, const void* from, size_t bytes) {
  if (bytes == 0) return;
  static const Kernel kCopy{nullptr, "copy_on_device", "copy"};  // as hooks name it
  const void* const reached[] = {to, from};
  const auto submit = [&](StreamHandle stream) {
    return driver_.copy(to, from, bytes, Direction::DeviceToDevice, stream);
  };
  check(driver_, hooked({kCopy, {}, bytes}, {{}, reached}, submit), "copying on the device");
}

void Gpu::fill_bytes(void* to, uint8_t value, size_t bytes) {
  if (bytes == 0) return;
  static const Kernel kCopy{nullptr, "clear", "copy"};  // as hooks name it
  const void* const reached[] = {to};
  const auto submit = [&](StreamHandle stream) { return driver_.fill_bytes(to, value, bytes, stream); };
  check(driver_, hooked({kCopy, {}, bytes}, {{}, reached}, submit), "clearing memory");
}

std::optional<ErrorSlot> Gpu::wait_for(DeviceStream& stream, bool takes_errors) {
  std::optional<ErrorSlot> found;
  if (takes_errors) {
    found = stream.wait_for_errors();
  } else {
    stream.wait();
  }
  if (LaunchHooks* hooks = launch_hooks.load(std::memory_order_acquire); hooks != nullptr)
    hooks->waited(*this, stream);
  return found;
}

std::vector<Mark> Gpu::marks_behind(const DeviceStream& stream) const {
  std::vector<Mark> reached = {{stream.index(), stream.ticket()}};
  for (size_t next = 0; next < reached.size(); ++next) {
    const DeviceStream& from = *streams_.at(reached[next].stream);
    for (uint32_t i = 0; i < streams_.count(); ++i) {
      const Mark mark{i, streams_.at(i)->ticket()};
      if (std::ranges::find(reached, i, &Mark::stream) != reached.end() || !from.has_seen(mark)) continue;
      // A stream that is given more meanwhile may see what comes after its mark.
      if (next == 0 || from.ticket() == reached[next].ticket) reached.push_back(mark);
    }
  }
  reached.erase(reached.begin());
  return reached;
}

void Gpu::wait(DeviceStream& stream) {
  refuse_recording(kNoWaiting);
  use();
  // Asked before the wait: what the stream is made to wait for meanwhile may still run after it.
  const std::vector<Mark> behind = streams_.several() ? marks_behind(stream) : std::vector<Mark>();
  std::optional<ErrorSlot> found = wait_for(stream, true);
  for (size_t i = 0; i < behind.size() && !found.has_value(); ++i)
    found = streams_.at(behind[i].stream)->take_error_until(behind[i].ticket);
  if (found.has_value()) throw_reported(*found);
}

void Gpu::synchronize() {
  refuse_recording(kNoWaiting);
  use();
  DeviceStream& own = current();
  std::optional<ErrorSlot> found = wait_for(own, true);
  for (uint32_t i = 0; i < streams_.count(); ++i) {
    DeviceStream& stream = *streams_.at(i);
    if (&stream == &own) continue;
    const std::optional<ErrorSlot> theirs = wait_for(stream, !found.has_value());
    if (theirs.has_value()) found = theirs;
  }
  if (!found.has_value()) found = streams_.take_left_behind();
  if (found.has_value()) throw_reported(*found);
}

void Gpu::check_work(Result result, std::string_view what) const {
  if (result.ok()) return;
  // Kernels fail on their own time: it was the last one that was submitted, or one before it.
  const Kernel* last = last_kernel_.load(std::memory_order_relaxed);
  check(driver_, result,
        last == nullptr ? join_text(what, " ", device_)
                        : join_text(what, " ", device_, " (the last kernel was ", last->name, " of ",
                                    last->operation, ")"));
}

void Gpu::throw_reported(const ErrorSlot& found) const {
  // The kernel was given it as a number. NOLINTNEXTLINE(performance-no-int-to-ptr)
  const auto* kernel = reinterpret_cast<const Kernel*>(found.origin);
  if (found.code == kErrorDivisionByZero)
    fail(ErrorKind::DivisionByZero, kernel->operation, "integer division by zero at element ", found.place,
         " of the result (found by the kernel ", kernel->name, " on ", device_, ")");
  fail(ErrorKind::IndexOutOfRange, kernel->operation, "index ", found.value, " at element ", found.place,
       " of the ids is out of range for an axis of size ", found.limit, " (found by the kernel ",
       kernel->name, " on ", device_, ")");
}

namespace {
std::vector<KernelTable*>& tables() {
  static std::vector<KernelTable*> all;
  return all;
}
}  // namespace

KernelTable::KernelTable(size_t size, Name (*name)(size_t index))
    : size_(size), name_(name), loaded_(new std::atomic<const Kernel*>[size * kMostGpus]()) {
  tables().push_back(this);
}

KernelTable::~KernelTable() {
  for (size_t i = 0; i < size_ * kMostGpus; ++i) delete loaded_[i].load();
  std::erase(tables(), this);
}

const Kernel& KernelTable::load(Gpu& gpu, size_t index) {
  const Name name = name_(index);
  auto kernel = std::make_unique<const Kernel>(gpu.load(name.kernel, name.operation, name.shared_bytes));
  std::atomic<const Kernel*>& slot = loaded_[static_cast<size_t>(gpu.number()) * size_ + index];
  const Kernel* expected = nullptr;
  if (slot.compare_exchange_strong(expected, kernel.get(), std::memory_order_acq_rel))
    return *kernel.release();
  return *expected;  // another thread was first
}

std::vector<std::string> KernelTable::all_names(std::string_view target) {
  std::vector<std::string> out;
  for (const KernelTable* table : tables())
    for (size_t i = 0; i < table->size_; ++i)
      if (Name name = table->name_(i); !name.kernel.empty() &&
                                       (*name.target == 0 || Bundle::is_for(target, name.target)) &&
                                       (name.unit == 0 || (matrix_units(target) & name.unit) != 0))
        out.push_back(std::move(name.kernel));
  return out;
}

}  // namespace beeswax::gpu
