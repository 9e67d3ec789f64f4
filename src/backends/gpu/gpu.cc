// SPDX-License-Identifier: Apache-2.0
#include "backends/gpu/gpu.h"

#include <algorithm>
#include <array>
#include <cstring>

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

}  // namespace

Gpu& Gpu::of(const Device& device) {
  // Opened GPUs are never closed before the process ends: storages may outlive everything else.
  static std::mutex mutex;
  static std::array<std::atomic<Gpu*>, kMostGpus> opened{};
  for (const auto& slot : opened) {
    Gpu* gpu = slot.load(std::memory_order_acquire);
    if (gpu == nullptr) break;
    if (gpu->device_ == device) return *gpu;
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
      pool_(driver, ordinal),
      stream_(driver),
      staging_(*this, driver),
      slot_(driver) {
  check(driver_, driver_.properties(ordinal, &properties_), "asking for the device's properties");
  use();
  check(driver_, driver_.create_stream(stream_.out()), "creating a stream");
  void* seen = nullptr;
  check(driver_, driver_.allocate_host(sizeof(ErrorSlot), slot_.out(), &seen), "allocating pinned memory");
  new (slot_.get()) ErrorSlot{};
  device_slot_ = static_cast<ErrorSlot*>(seen);
  choose_target();
  start_trace();
}

std::string_view Gpu::target() const {
  return compiled_here_ ? std::string_view(properties_.arch) : Bundle::embedded().target_name(target_);
}

void Gpu::choose_target() {
  const Bundle& bundle = Bundle::embedded();
  std::optional<size_t> target = bundle.target_for(properties_.arch);
  if (!target.has_value() && rtc::compiler_of_ours(properties_.arch) != nullptr) {
    // The names and modules of kernels are those of every target; their code is made when it is first used.
    compiled_here_ = true;
    target = 0;
  }
  if (!target.has_value()) {
    std::string have;
    for (const std::string& name : bundle.targets()) have += (have.empty() ? "" : ", ") + name;
    fail(ErrorKind::Unsupported, "device", device_, " is a ", properties_.arch,
         ", and this build has kernels for ", have.empty() ? "no GPU" : have,
         "; build with -DBW_GPU_TARGETS=all, or install clang++-19 and lld-19, which compile them when they "
         "are first used");
  }
  // Finished code that the driver refuses gives way to PTX, which it compiles. A module tells, before anybody
  // asks whose kernels there are; the last resort is left to the first kernel.
  for (int skip = 0;; ++skip) {
    target_ = *target;
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
  const Result result = driver_.load_module(image.data(), modules_[index].out());
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
  check(driver_, driver_.find_function(module(row->module), kernel.name.c_str(), &kernel.function),
        join_text("looking for the kernel ", name));
  if (shared_bytes > 0)
    check(driver_, driver_.allow_shared(kernel.function, shared_bytes),
          join_text("asking for ", shared_bytes, " bytes of shared memory for the kernel ", name));
  return kernel;
}

void Gpu::launch_bytes(const Kernel& kernel, const LaunchShape& shape, const void* arguments, size_t bytes) {
  if (bytes != kernel.argument_bytes)
    fail(ErrorKind::Internal, kernel.operation, "kernel ", kernel.name, " takes ", kernel.argument_bytes,
         " bytes of arguments, not ", bytes);
  submit(kernel, shape, {static_cast<const std::byte*>(arguments), bytes}, [&](StreamHandle stream) {
    return driver_.launch(kernel.function, shape, arguments, bytes, stream);
  });
}

void Gpu::launch_list(const Kernel& kernel, const LaunchShape& shape, std::span<void*> arguments) {
  submit(kernel, shape, {}, [&](StreamHandle stream) {
    return driver_.launch_list(kernel.function, shape, arguments.data(), stream);
  });
}

template <class Launch>
Result Gpu::try_submit(const Kernel& kernel, const LaunchShape& shape, std::span<const std::byte> arguments,
                       const Launch& launch) {
  use();
  Result result;
  if (Capture* capture = recording(); capture != nullptr) {
    // Without hooks: a driver does not time what it only records.
    ++capture->commands;
    pool_.hold(arguments, capture->memory);
    result = launch(capture->stream);
  } else if (LaunchHooks* hooks = launch_hooks.load(std::memory_order_acquire); hooks != nullptr) {
    result = hooked(*hooks, kernel, shape, launch);
  } else {
    result = launch(stream_.get());
  }
  if (result.ok()) last_kernel_.store(&kernel, std::memory_order_relaxed);
  return result;
}

template <class Launch>
void Gpu::submit(const Kernel& kernel, const LaunchShape& shape, std::span<const std::byte> arguments,
                 const Launch& launch) {
  const Result result = try_submit(kernel, shape, arguments, launch);
  if (!result.ok())
    check(driver_, result,
          join_text("launching the kernel ", kernel.name, " of ", kernel.operation, " on ", device_));
}

void Gpu::submit_call(const Kernel& kernel, std::span<const void* const> pointers,
                      const std::function<std::string(StreamHandle)>& call) {
  std::string refused;
  const Result result = try_submit(kernel, {}, std::as_bytes(pointers), [&](StreamHandle stream) {
    refused = call(stream);
    return Result{refused.empty() ? Code::Ok : Code::Other, 0};
  });
  if (!result.ok()) fail(ErrorKind::Device, kernel.operation, device_, ": ", refused);
}

template <class Launch>
Result Gpu::hooked(LaunchHooks& hooks, const Kernel& kernel, const LaunchShape& shape, const Launch& launch) {
  const std::scoped_lock lock(hooked_);
  hooks.begin(*this, kernel, shape);
  const Result result = launch(stream_.get());
  hooks.end(*this, kernel, shape, result.ok());
  return result;
}

void Gpu::record_use(const void* arguments, size_t bytes) {
  if (Capture* capture = recording(); capture != nullptr)
    pool_.hold({static_cast<const std::byte*>(arguments), bytes}, capture->memory);
}

void Gpu::launch(const GraphInstance& graph) {
  static const Kernel kGraph{nullptr, "graph", "replay", 0};  // as hooks and messages name it
  submit(kGraph, {}, {}, [&](StreamHandle stream) { return driver_.launch_graph(graph.get(), stream); });
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
  check(driver_, driver_.make_tensor_map(view, out), "describing a tensor to the copy engine");
  record_use(static_cast<const void*>(&view.data), sizeof(view.data));  // a map does not show the address
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
  use();
  staging_.upload(to, from, bytes, stream());
}

void Gpu::download(void* to, const void* from, size_t bytes) {
  refuse_recording(kNoWaiting);
  use();
  staging_.download(to, from, bytes, stream());
  synchronize();
}

void Gpu::copy(void* to, const void* from, size_t bytes) {
  if (bytes == 0) return;
  use();
  const void* operands[] = {to, from};
  record_use(static_cast<const void*>(operands), sizeof(operands));
  if (Capture* capture = recording(); capture != nullptr) ++capture->commands;
  check(driver_, driver_.copy(to, from, bytes, Direction::DeviceToDevice, stream()), "copying on the device");
}

void Gpu::synchronize() {
  refuse_recording(kNoWaiting);
  use();
  check_work(driver_.wait_for_stream(stream()), "waiting for the device");
  if (LaunchHooks* hooks = launch_hooks.load(std::memory_order_acquire); hooks != nullptr)
    hooks->waited(*this);
  throw_reported();
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

void Gpu::throw_reported() {
  ErrorSlot& slot = *static_cast<ErrorSlot*>(slot_.get());
  if (std::atomic_ref(slot.state).load(std::memory_order_acquire) == 0) return;
  const ErrorSlot found = slot;
  slot = ErrorSlot{};
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
      if (Name name = table->name_(i);
          !name.kernel.empty() && (*name.target == 0 || Bundle::is_for(target, name.target)))
        out.push_back(std::move(name.kernel));
  return out;
}

}  // namespace beeswax::gpu
