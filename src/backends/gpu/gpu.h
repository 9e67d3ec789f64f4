// SPDX-License-Identifier: Apache-2.0
// Gpu: one device with its memory pool, its streams and its loaded kernels. Work is submitted to the calling
// thread's stream in the order of the calls; from many threads with one stream, in the order they come. What
// one stream makes of another's memory waits for that one, as the pool notes it.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "backends/gpu/bundle.h"
#include "backends/gpu/capture.h"
#include "backends/gpu/driver.h"
#include "backends/gpu/handles.h"
#include "backends/gpu/hooks.h"
#include "backends/gpu/matrix_units.h"
#include "backends/gpu/pool.h"
#include "backends/gpu/streams.h"
#include "kernels/args.h"

namespace beeswax::gpu {

/// A kernel that is loaded on a device.
struct Kernel {
  FunctionHandle function = nullptr;
  std::string name;
  const char* operation = "";  ///< for messages of errors found in it
  uint32_t argument_bytes = 0;
  bool waits = false;  ///< itself for the launch before it
};

class Gpu {
 public:
  /// The GPU of a device; opened at the first call. Throws Device where there is no driver or no such device,
  /// and Unsupported where the library has no kernels for it.
  static Gpu& of(const Device& device);
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  const Driver& driver() const { return driver_; }
  const Properties& properties() const { return properties_; }
  const Device& device() const { return device_; }
  /// Its number in the driver.
  int ordinal() const { return ordinal_; }
  /// A small number of this GPU in the process: KernelTable's index.
  int number() const { return number_; }
  Pool& pool() { return pool_; }
  Streams& streams() { return streams_; }
  /// The calling thread's stream. What it records for a graph goes elsewhere.
  DeviceStream& current() const {
    DeviceStream* chosen = current_streams[static_cast<size_t>(number_)];
    return chosen != nullptr ? *chosen : streams_.first();
  }
  /// What the calling thread records for a graph of this device, or null.
  Capture* recording() const {
    return capturing != nullptr && capturing->pool == &pool_ ? capturing : nullptr;
  }
  /// Where kernels that the calling thread launches report errors, as kernels see it.
  ErrorSlot* error_slot() const {
    const Capture* capture = recording();
    return capture == nullptr ? current().slot()->device : capture->slot;
  }
  /// Modules that were loaded so far; each is unpacked and loaded once.
  int modules_loaded() const { return modules_loaded_.load(); }
  /// The target whose code runs here, "gfx1100" or "ptx_80".
  std::string_view target() const;

  /// Makes this the calling thread's device, as it must be for every call of the driver.
  void use() const { use_device(driver_, ordinal_); }
  /// The same for what must not throw; a lost device answers the calls after it with errors too.
  void try_use() const { static_cast<void>(driver_.use(ordinal_)); }
  /// Whether the device has a matrix unit and the library kernels for it.
  bool has(MatrixUnit unit) const { return (units_ & unit) != 0; }
  /// Finds and loads a kernel by name: the slow path of KernelTable. Throws Internal where the bundle lacks
  /// it.
  Kernel load(std::string_view name, const char* operation, uint32_t shared_bytes);
  /// Memory that the kernel reads or writes is found in the arguments; `hidden` is what does not show there.
  template <class Arguments>
  void launch(const Kernel& kernel, const LaunchShape& shape, const Arguments& arguments,
              std::span<const void* const> hidden = {}) {
    // So host and device compilers lay it out alike.
    static_assert(std::is_trivially_copyable_v<Arguments> && std::is_standard_layout_v<Arguments>);
    launch_bytes(kernel, shape, {reinterpret_cast<const std::byte*>(&arguments), sizeof(Arguments)}, hidden);
  }
  /// Launches a kernel that was compiled at run time, with an address for each argument; `values` are all of
  /// them, each at a multiple of eight bytes. The kernel must live as long as the device may report errors of
  /// it.
  void launch_list(const Kernel& kernel, const LaunchShape& shape, std::span<void*> arguments,
                   std::span<const std::byte> values);
  /// Replays a graph, which may write all of its memory and whose kernels report to `slot`.
  void launch(const GraphInstance& graph, const GraphMemory& memory, const SlotRef& slot);
  /// Submits work through another library as if it were a launch of `kernel`: call(stream) gives "function
  /// says
  /// ..." where the library refused, else "". `pointers` are where the work reads and writes. Throws Device
  /// where it is refused.
  void submit_call(const Kernel& kernel, std::span<const void* const> pointers,
                   const std::function<std::string(StreamHandle)>& call);
  /// Submits what reads or writes at `pointers`, submit(stream), which gives the driver's answer. A copy of
  /// `bytes` to another device (0: it is none) is one for hooks too.
  Result submit_ordered(std::span<const void* const> pointers,
                        const std::function<Result(StreamHandle)>& submit, size_t bytes = 0);
  /// Around launches of the thread that write, in place, to a block of the pool that others may use.
  void begin_write(void* block);
  void end_write(void* block);
  /// A call that makes something in the driver. Where there is no memory for it, the driver gets what the
  /// pool keeps and is asked once more.
  Result with_memory(const std::function<Result()>& call);
  /// Throws Unsupported while the thread records: "a graph cannot record " `what`.
  void refuse_recording(std::string_view what) const;
  /// Clusters of shape.cluster blocks that run at once, where each fills a unit as `kernel` in `shape` does;
  /// none where the device knows no clusters. The device is asked once for each size.
  int clusters(const Kernel& kernel, const LaunchShape& shape);
  /// A tensor map for an argument of a launch.
  void make_tensor_map(const TensorView& view, void* out);
  /// Throws what went wrong with work that was submitted; names the kernel that was submitted last.
  void check_work(Result result, std::string_view what) const;
  /// Copies from the host, without waiting for the device; the source may change when it returns.
  void upload(void* to, const void* from, size_t bytes);
  /// Copies to the host and waits for the thread's stream; throws what kernels reported before.
  void download(void* to, const void* from, size_t bytes);
  void copy(void* to, const void* from, size_t bytes);
  void fill_bytes(void* to, uint8_t value, size_t bytes);
  /// Waits for everything submitted to any stream, and throws the first error that kernels reported, the
  /// thread's own stream's before others'; the next one throws the next.
  void synchronize();
  /// Waits for a stream, and throws the first error since the last wait that its kernels reported, or those
  /// of a stream that it has waited for and that was given nothing since. It may be one of a kernel that
  /// another thread submitted meanwhile, and which may report its next error to the next wait.
  void wait(DeviceStream& stream);

 private:
  Gpu(const Device& device, const Driver& driver, int ordinal, int number);
  /// What is submitted may read or write what these point to.
  struct Reach {
    std::span<const std::byte> arguments;
    std::span<const void* const> hidden;
  };
  void launch_bytes(const Kernel& kernel, const LaunchShape& shape, std::span<const std::byte> arguments,
                    std::span<const void* const> hidden);
  /// The one way of everything that is submitted, submit(stream): recorded for a graph, or behind what other
  /// streams do with its memory.
  template <class Submit>
  Result ordered(const Reach& reach, const Submit& submit);
  std::vector<void*> blocks_of(const Reach& reach) const;
  /// The same between the hooks, where somebody set them.
  template <class Submit>
  Result hooked(const Submitted& work, const Reach& reach, const Submit& submit);
  /// The one way of every launch, launch(stream).
  template <class Launch>
  Result try_submit(const Kernel& kernel, const LaunchShape& shape, const Reach& reach, const Launch& launch);
  /// The same, and throws where the driver refuses it.
  template <class Launch>
  void submit(const Kernel& kernel, const LaunchShape& shape, const Reach& reach, const Launch& launch);
  void choose_target();
  Result load_module(uint32_t index);
  void check_module(Result result, uint32_t index) const;
  ModuleHandle module(uint32_t index);
  /// Waits, and takes the first error of the stream's kernels where it is asked to.
  std::optional<ErrorSlot> wait_for(DeviceStream& stream, bool takes_errors);
  /// The streams whose work all comes before that of this one, be it by way of others, and up to where: who
  /// waits for this one may tell their errors. One that goes on with something else tells its own waits, for
  /// the error may be of that.
  std::vector<Mark> marks_behind(const DeviceStream& stream) const;
  [[noreturn]] void throw_reported(const ErrorSlot& found) const;

  Device device_;
  const Driver& driver_;
  int ordinal_;
  int number_;
  Properties properties_;
  size_t target_ = 0;
  uint32_t units_ = 0;          // MatrixUnit
  bool compiled_here_ = false;  // the library has no code for this chip: target_ only names kernels
  Pool pool_;
  Streams streams_;
  std::array<std::atomic<int>, kMostCluster + 1> clusters_{};  // one more than clusters(), once it is known
  std::mutex loading_;
  std::vector<Module> modules_;
  std::string refused_;  // code that the driver did not take, for messages
  std::atomic<int> modules_loaded_{0};
  std::atomic<const Kernel*> last_kernel_{nullptr};
  std::mutex hooked_;  // one launch at a time where hooks are set
};

/// Kernels of one kind, by a number that an operation and dtypes make: no look-up by name on the way of a
/// call. A table is a static object; its kernels load when they are first used on a device.
class KernelTable {
 public:
  struct Name {
    std::string kernel;
    const char* operation;
    const char* target = "";    ///< the one target that has it; empty: all have
    uint32_t shared_bytes = 0;  ///< dynamic, of each launch
    uint32_t unit = 0;          ///< the MatrixUnit of the targets that have it; 0: all have
  };
  /// Entry i is the kernel that name(i) names; an empty name where there is none.
  KernelTable(size_t size, Name (*name)(size_t index));
  ~KernelTable();
  KernelTable(const KernelTable&) = delete;
  KernelTable& operator=(const KernelTable&) = delete;

  const Kernel& get(Gpu& gpu, size_t index) {
    const Kernel* kernel =
        loaded_[static_cast<size_t>(gpu.number()) * size_ + index].load(std::memory_order_acquire);
    return kernel != nullptr ? *kernel : load(gpu, index);
  }
  /// The names of all kernels that any table may ask a target for.
  static std::vector<std::string> all_names(std::string_view target);

 private:
  const Kernel& load(Gpu& gpu, size_t index);
  size_t size_;
  Name (*name_)(size_t index);
  std::unique_ptr<std::atomic<const Kernel*>[]> loaded_;
};

}  // namespace beeswax::gpu
