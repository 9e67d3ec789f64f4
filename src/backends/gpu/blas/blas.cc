// SPDX-License-Identifier: Apache-2.0
// Which products a vendor's library makes, and its state on each device.
#include "backends/gpu/blas/blas.h"

#include <mutex>
#include <optional>

#include "backends/cuda/blas.h"
#include "backends/gpu/blas/choice.h"
#include "backends/gpu/per_gpu.h"
#include "backends/hip/blas.h"
#include "core/fail.h"

namespace beeswax::gpu::blas {
namespace {

// A device's libraries, each started when it is first asked for a product.
class DeviceBlas {
 public:
  explicit DeviceBlas(Gpu& gpu) : gpu_(gpu) {
    for (const Library* library : libraries_for(gpu.device().kind())) {
      if (const std::string reason = library->reason(); reason.empty()) {
        started_.push_back({library, {nullptr, library->function(), "matmul", 0}, nullptr});
      } else {
        reasons_ += (reasons_.empty() ? "" : "; ") + reason;
      }
    }
  }

  /// Throws where there is none.
  void require_one() const {
    if (started_.empty())
      fail(ErrorKind::Device, "matmul", "BEESWAX_BLAS=vendor, and there is no library for ", gpu_.device(),
           ": ", reasons_);
  }

  /// Tells whether a library made it. Throws why one does not start where no other makes it.
  bool multiply(Backend& backend, const Product& product) {
    const std::optional<std::vector<ColumnProduct>> pieces = columns_of(product);
    if (!pieces.has_value()) return false;
    gpu_.use();
    std::optional<Error> failure;
    for (Started& started : started_) {
      Handle* handle = nullptr;
      try {
        handle = &start(started);
      } catch (const Error& error) {  // the next one may serve
        if (!failure.has_value()) failure = error;
        continue;
      }
      size_t bytes = 0;
      bool takes = true;
      for (const ColumnProduct& piece : *pieces) {
        const std::optional<size_t> wanted = handle->workspace(piece);
        takes = takes && wanted.has_value();
        if (!takes) break;
        bytes = std::max(bytes, *wanted);
      }
      if (!takes) continue;
      // Who takes this memory next on the thread's stream comes after the product.
      const detail::Ref<Storage> workspace = bytes > 0 ? backend.allocate(bytes) : detail::Ref<Storage>();
      for (const ColumnProduct& piece : *pieces) submit(started, *handle, piece, workspace.get(), bytes);
      return true;
    }
    if (failure.has_value()) throw *std::move(failure);
    return false;
  }

 private:
  struct Started {
    const Library* library;
    Kernel kernel;  // as hooks and messages name it
    std::unique_ptr<Handle> handle;
  };

  Handle& start(Started& started) {
    const std::scoped_lock lock(starting_);
    if (started.handle == nullptr) {
      gpu_.refuse_recording(join_text("the first use of ", started.library->product(),
                                      "; run the same operations once before capturing"));
      started.handle = started.library->start();
    }
    return *started.handle;
  }

  void submit(Started& started, Handle& handle, const ColumnProduct& piece, const Storage* workspace,
              size_t bytes) {
    void* scratch = workspace == nullptr ? nullptr : workspace->data();
    const void* pointers[] = {piece.a.data, piece.b.data, piece.c.data, scratch};
    gpu_.submit_call(started.kernel, pointers,
                     [&](StreamHandle stream) { return handle.multiply(piece, scratch, bytes, stream); });
  }

  Gpu& gpu_;
  std::string reasons_;
  std::mutex starting_;
  std::vector<Started> started_;
};
constinit PerGpu<DeviceBlas> devices;

}  // namespace

std::span<const Library* const> libraries_for(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::Cuda:
      return cuda::blas_libraries();
    case DeviceKind::Rocm:
      return hip::rocm_blas_libraries();
    case DeviceKind::Emu:
      return hip::emu_blas_libraries();
    case DeviceKind::Cpu:
      break;
  }
  return {};
}

std::string summary_of(const Library& library) {
  const std::string reason = library.reason();
  return reason.empty() ? library.title() : reason.substr(0, reason.find(';'));
}

bool multiply(const Choice& choice, Gpu& gpu, Backend& backend, const Product& product) {
  if (choice.mode == VendorMode::Own) return false;
  const bool forced = choice.mode == VendorMode::Vendor;
  // Libraries load kernels at the first use of a shape, which ends a recording.
  if (!forced && (gpu.recording() != nullptr || !wins(choice.table, gpu.properties().arch, product)))
    return false;
  DeviceBlas& blas = devices.of(gpu, gpu);
  if (forced) blas.require_one();
  try {
    return blas.multiply(backend, product);
  } catch (const Error&) {
    // Who asked for no library need not hear of its troubles.
    if (forced) throw;
    return false;
  }
}

}  // namespace beeswax::gpu::blas
