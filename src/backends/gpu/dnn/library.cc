// SPDX-License-Identifier: Apache-2.0
#include "backends/gpu/dnn/library.h"

#include "backends/cuda/cudnn.h"
#include "backends/hip/miopen.h"
#include "core/fail.h"

namespace beeswax::gpu::dnn {

const LibraryState& library_for(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::Cuda:
      return cuda::cudnn();
    case DeviceKind::Rocm:
      return hip::miopen();
    case DeviceKind::Emu:
      return hip::miopen_on_emu();
    case DeviceKind::Cpu:
      break;
  }
  fail(ErrorKind::Internal, "conv", "the CPU has no vendor's library of convolutions");
}

std::string summary_of(const LibraryState& state) {
  return state.library != nullptr ? state.library->title() : state.reason.substr(0, state.reason.find(';'));
}

std::string Conv::to_string() const {
  const Sizes kernel = kernel_of(*this);
  return join_text(transposed ? "transposed " : "", dtype_name(dtype), " [", batch, ", ", c_in, ", ", h_in,
                   ", ", w_in, "] by [", kernel.n, ", ", kernel.c, ", ", kernel.h, ", ", kernel.w,
                   "], padding ", h_padding, " ", w_padding, ", stride ", h_stride, " ", w_stride,
                   ", dilation ", h_dilation, " ", w_dilation, ", groups ", groups);
}

}  // namespace beeswax::gpu::dnn
