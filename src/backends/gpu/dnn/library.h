// SPDX-License-Identifier: Apache-2.0
// ConvLibrary: a vendor's library of convolutions (MIOpen, cuDNN), opened at run time. hip/ and cuda/
// implement it; above it nothing knows whose it is.
#pragma once

#include <compare>
#include <memory>
#include <string>

#include "backends/gpu/driver.h"
#include "beeswax/dtype.h"

namespace beeswax::gpu::dnn {

/// One convolution over dense tensors as libraries take them: channels of whole tensors, sizes that fit an
/// int. A transposed one is the gradient of a plain one with respect to its input.
struct Conv {
  DType dtype = DType::F32;
  bool transposed = false;
  int batch = 0, groups = 0;
  int c_in = 0, h_in = 0, w_in = 0;
  int c_out = 0, h_out = 0, w_out = 0;
  int h_k = 0, w_k = 0;
  int h_padding = 0, w_padding = 0, h_stride = 0, w_stride = 0, h_dilation = 0, w_dilation = 0;

  auto operator<=>(const Conv&) const = default;
  std::string to_string() const;
};

/// An image side and a kernel side of a convolution, [n, c, h, w] each.
struct Sizes {
  int n, c, h, w;
};
/// The plain convolution's input, kernel and output; a transposed one runs from the last to the first.
inline Sizes image_of(const Conv& c) {
  return c.transposed ? Sizes{c.batch, c.c_out, c.h_out, c.w_out} : Sizes{c.batch, c.c_in, c.h_in, c.w_in};
}
inline Sizes kernel_of(const Conv& c) {
  return c.transposed ? Sizes{c.c_in, c.c_out / c.groups, c.h_k, c.w_k}
                      : Sizes{c.c_out, c.c_in / c.groups, c.h_k, c.w_k};
}
inline Sizes result_of(const Conv& c) {
  return c.transposed ? Sizes{c.batch, c.c_in, c.h_in, c.w_in} : Sizes{c.batch, c.c_out, c.h_out, c.w_out};
}

/// How a library does one convolution on one device: its descriptors, and the algorithm that it chose.
class Plan {
 public:
  virtual ~Plan() = default;
  /// Of device memory that a run needs.
  virtual size_t workspace_bytes() const = 0;
  /// Submits y = x * w to the handle's stream. Gives "function says ..." where the library refused, else "".
  virtual std::string run(const void* x, const void* w, void* y, void* workspace) const = 0;
};

/// A library's handle on a device's stream, made and used with the device in use by the caller, one call at a
/// time.
class ConvHandle {
 public:
  virtual ~ConvHandle() = default;
  /// Null where the library does not do this convolution; throws Device where it fails. The plan must go
  /// first.
  virtual std::unique_ptr<Plan> plan(const Conv& conv) = 0;
};

class ConvLibrary {
 public:
  virtual ~ConvLibrary() = default;
  virtual std::string title() const = 0;  ///< "MIOpen 3.2.0"
  /// Throws Device where the library refuses.
  virtual std::unique_ptr<ConvHandle> open(StreamHandle stream) const = 0;
};

/// A library, or why there is none ("MIOpen not found; install AMD's package miopen-hip (...)").
struct LibraryState {
  const ConvLibrary* library = nullptr;
  std::string reason;
};
/// The library for devices of a kind (Cuda, Rocm, Emu); opened at the first call.
const LibraryState& library_for(DeviceKind kind);
/// What it is, or that it is not there, in few words: "cuDNN 9.19.0", "MIOpen not found".
std::string summary_of(const LibraryState& state);

/// Workspaces above this many bytes are not worth what they displace; algorithms that want more are passed
/// over.
inline constexpr size_t kMostWorkspace = size_t{1} << 30;

}  // namespace beeswax::gpu::dnn
