// SPDX-License-Identifier: Apache-2.0
#include "backends/gpu/dnn/conv.h"

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <optional>

#include "backends/gpu/dnn/choice.h"
#include "backends/gpu/operand_copy.h"
#include "backends/gpu/per_gpu.h"
#include "backends/gpu/walk.h"
#include "core/fail.h"

namespace beeswax::gpu::dnn {
namespace {

// Plans are dropped together beyond this many, so that a program of ever new shapes does not fill memory.
constexpr size_t kMostPlans = 512;
constexpr int64_t kMostSize = (int64_t{1} << 31) - 1;
constexpr int64_t kAlignment = 16;  // that vector loads of any library are content with

// The library's work on one stream: its handle, made at the first use, and its plans.
struct PerStream {
  std::mutex mutex;  // libraries take one call at a time on a handle
  std::unique_ptr<ConvHandle> handle;
  std::map<Conv, std::unique_ptr<Plan>> plans;  // null: the library does not do it
  Statistics statistics;
};
struct Device {
  std::array<PerStream, kMostStreams> streams;
};

constinit PerGpu<Device> devices;

// The gradient that a library computes knows no output padding: a plain convolution must lead back.
bool leads_back(const ConvShape& s) {
  const auto size = [](int64_t in, int64_t taps, int64_t stride, int64_t padding, int64_t dilation) {
    const int64_t room = in + 2 * padding - dilation * (taps - 1) - 1;
    return room < 0 ? 0 : room / stride + 1;
  };
  return size(s.h_out, s.h_k, s.h_stride, s.h_padding, s.h_dilation) == s.h_in &&
         size(s.w_out, s.w_k, s.w_stride, s.w_padding, s.w_dilation) == s.w_in;
}

// As libraries take it, or nothing where no library would: their dtypes, sizes and elements count in an int.
std::optional<Conv> conv_of(const ConvShape& s, DType dtype, bool transposed) {
  if (dtype != DType::F32 && dtype != DType::F16 && dtype != DType::BF16) return std::nullopt;
  if (transposed && !leads_back(s)) return std::nullopt;
  const int64_t in = s.groups * s.c_in, out = s.groups * s.c_out;
  const int64_t sizes[] = {s.h_padding,
                           s.w_padding,
                           s.h_stride,
                           s.w_stride,
                           s.h_dilation,
                           s.w_dilation,
                           s.batch * in * s.h_in * s.w_in,
                           s.batch * out * s.h_out * s.w_out,
                           out * s.c_in * s.h_k * s.w_k};
  if (std::ranges::any_of(sizes, [](int64_t size) { return size > kMostSize; })) return std::nullopt;
  const auto narrow = [](int64_t size) { return static_cast<int>(size); };
  return Conv{dtype,
              transposed,
              narrow(s.batch),
              narrow(s.groups),
              narrow(in),
              narrow(s.h_in),
              narrow(s.w_in),
              narrow(out),
              narrow(s.h_out),
              narrow(s.w_out),
              narrow(s.h_k),
              narrow(s.w_k),
              narrow(s.h_padding),
              narrow(s.w_padding),
              narrow(s.h_stride),
              narrow(s.w_stride),
              narrow(s.h_dilation),
              narrow(s.w_dilation)};
}

// How the library does it, asked once; null where it does not.
const Plan* plan_of(const Gpu& gpu, const ConvLibrary& library, PerStream& on, const Conv& conv) {
  if (on.handle == nullptr) on.handle = library.open(gpu.current().handle());
  if (const auto known = on.plans.find(conv); known != on.plans.end()) return known->second.get();
  if (on.plans.size() >= kMostPlans) on.plans.clear();
  ++on.statistics.plans;
  return (on.plans[conv] = on.handle->plan(conv)).get();
}

// Whether the choice may fall on the library, before anything is asked of it.
bool chosen(const Choice& choice, const Gpu& gpu, const Conv& conv) {
  return choice.mode == VendorMode::Vendor || vendor_wins(choice.table, gpu.properties().arch, conv);
}

void run(Gpu& gpu, Backend& backend, const Plan& plan, const Operand& x, const Operand& kernel,
         const Target& out) {
  const OperandCopy image = dense_or_copy(backend, x, kAlignment);
  const OperandCopy weights = dense_or_copy(backend, kernel, kAlignment);
  detail::Ref<Storage> workspace;
  if (plan.workspace_bytes() > 0) workspace = backend.allocate(plan.workspace_bytes());
  void* scratch = workspace ? workspace->data() : nullptr;
  const void* pointers[] = {image.data(), weights.data(), out.data(), scratch};
  static const Kernel kVendors{nullptr, "vendor_conv", "conv", 0};  // as hooks and messages name it
  gpu.submit_call(kVendors, pointers,
                  [&](StreamHandle) { return plan.run(image.data(), weights.data(), out.data(), scratch); });
}

}  // namespace

bool conv(const Choice& choice, Gpu& gpu, Backend& backend, const ConvShape& shape, const Operand& x,
          const Operand& kernel, const Target& out, bool transposed) {
  if (choice.mode == VendorMode::Own || (choice.mode == VendorMode::Auto && choice.table.empty()))
    return false;
  const std::optional<Conv> conv = conv_of(shape, x.dtype, transposed);
  if (!conv.has_value() || !begins_at(out.data(), kAlignment) || !chosen(choice, gpu, *conv)) return false;
  if (gpu.recording() != nullptr) return false;  // libraries do things that a graph may not record
  const LibraryState& state = library_for(gpu.device().kind());
  if (state.library == nullptr) {
    if (choice.mode == VendorMode::Auto) return false;
    fail(ErrorKind::Device, "conv", "BEESWAX_DNN=vendor on ", gpu.device(), ": ", state.reason);
  }
  gpu.use();
  PerStream& on = devices.of(gpu).streams[gpu.current().index()];
  const std::scoped_lock lock(on.mutex);
  try {
    const Plan* plan = plan_of(gpu, *state.library, on, *conv);
    if (plan == nullptr) return false;
    run(gpu, backend, *plan, x, kernel, out);
  } catch (const Error& error) {
    // Ours take copies of the kernel and of the input at most, of 1 GiB or of one image, and who asked for no
    // library need not hear of its troubles.
    if (error.kind() == ErrorKind::OutOfMemory || choice.mode == VendorMode::Auto) return false;
    throw;
  }
  ++on.statistics.runs;
  return true;
}

Statistics statistics(const Gpu& gpu) {
  Statistics sum;
  for (PerStream& on : devices.of(gpu).streams) {
    const std::scoped_lock lock(on.mutex);
    sum.plans += on.statistics.plans;
    sum.runs += on.statistics.runs;
  }
  return sum;
}

}  // namespace beeswax::gpu::dnn
