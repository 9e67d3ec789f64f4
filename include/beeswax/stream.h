// SPDX-License-Identifier: Apache-2.0
// Stream: a queue of work on a GPU. Operations of one stream run in the order of the calls; those of two may
// run at the same time.
//
//     const Stream other = Stream::make(device);
//     Tensor y;
//     {
//       const StreamScope scope(other);   // this thread's operations on the device go there
//       y = x.matmul(weight);             // starts after what made x and weight, on whatever stream
//     }
//     const Tensor z = x.exp();           // may run beside the product
//     const Tensor sum = y.add(z);        // starts after the product
#pragma once

#include <memory>

#include "beeswax/device.h"
#include "beeswax/export.h"

namespace beeswax {

/// Every thread begins with its device's default stream, and StreamScope gives it another. Nobody has to
/// order streams where tensors tell: an operation starts after what made its operands on other streams, a
/// write in place after everything that reads or writes the storage there, and memory of a tensor that was
/// let go is used again after all that use it. That costs nothing while a device has no stream but the
/// default one. As without streams, the program sees to it that no thread reads elements while another one
/// writes them.
///
/// Reading a tensor waits for the thread's stream only, which what made the tensor comes before. It throws
/// what that stream's synchronize() would; Device::synchronize() throws errors of any stream, one a call.
///
/// Copies of a Stream are one stream. When the last is gone, the stream goes back to the device, which hands
/// it out again, and what it was given still runs. On the CPU, where work is done when a call returns, there
/// is one stream, always idle. Thread-safe. While a thread captures a graph on the device, everything here
/// but comparing throws Unsupported.
class BW_API Stream {
 public:
  /// A stream of the device that nobody else holds. Throws Unsupported where 31 are held.
  static Stream make(const Device& device);
  /// The calling thread's.
  static Stream current(const Device& device);
  // Copies are the same stream, and moving copies: no object is without one.
  Stream(const Stream&) = default;
  Stream& operator=(const Stream&) = default;

  const Device& device() const;
  /// Waits for what was submitted to this stream, by whichever thread. Throws what failed on the device, or
  /// the first error that its kernels found since the last wait, or those of a stream that it has waited for
  /// and that was given nothing since. Errors of streams that went on, or that nobody holds any more and that
  /// were handed out again, are for a wait for them or for the device.
  void synchronize() const;
  /// Whether its work is done. Throws what failed on the device.
  bool idle() const;
  /// What is submitted here from now on starts after what `other` holds now; the host goes on. For orders
  /// that no tensor tells, such as kernels of one's own that reach memory by way of another allocation.
  /// Throws InvalidArgument for another device's stream.
  void wait_for(const Stream& other) const;
  bool operator==(const Stream& other) const;

 private:
  friend class StreamScope;
  class Impl;
  explicit Stream(std::shared_ptr<const Impl> impl);
  std::shared_ptr<const Impl> impl_;
};

/// For as long as it lives, a stream is the calling thread's current one on the stream's device. Scopes nest,
/// and end in the opposite order on the thread that began them. Throws Unsupported while the thread captures
/// a graph there.
class BW_API StreamScope {
 public:
  explicit StreamScope(const Stream& stream);
  ~StreamScope();
  StreamScope(const StreamScope&) = delete;
  StreamScope& operator=(const StreamScope&) = delete;

 private:
  Stream stream_;
  Stream before_;
};

}  // namespace beeswax
