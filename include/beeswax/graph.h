// SPDX-License-Identifier: Apache-2.0
// Graph: operations on a GPU, recorded once and submitted again by one call.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

#include "beeswax/device.h"
#include "beeswax/export.h"

namespace beeswax {

/// Replaying costs one call of the driver however many operations there are, which pays where kernels are
/// short:
///
///     const auto step = [&] { y = x.matmul(weight).relu(); };
///     step();                          // loads kernels and leaves the pool memory for the results
///     y = Tensor();
///     const Graph graph = Graph::capture(device, step);
///     x.slice_set(next, 0, 0);         // inputs change in place
///     graph.replay();                  // y holds the new result
///
/// A graph reads and writes the memory that its operations had when it was captured. It keeps that memory, of
/// inputs and of results, for as long as it lives, so tensors may go before it. Random numbers are drawn with
/// the counter of the capture: each replay gives the same. A write in place counts once in Tensor::version(),
/// when it is captured. Copies of a Graph are one graph. Thread-safe.
class BW_API Graph {
 public:
  /// Calls `operations`, and records what it submits to `device` from this thread, instead of running it:
  /// tensors made in it hold nothing before the first replay. Operations on other devices, and of other
  /// threads, run as always. What cannot be recorded throws Unsupported and says what to do: reading results
  /// or anything else that waits, tensors from host data, and, because drivers do not record it, a kernel's
  /// first use and memory that the pool does not have: run `operations` once before, and drop the results.
  /// Also Unsupported: the CPU, drivers without graphs. Throws InvalidArgument within another capture.
  static Graph capture(const Device& device, const std::function<void()>& operations);
  // Copies are the same graph, and moving copies: no object is without one.
  Graph(const Graph&) = default;
  Graph& operator=(const Graph&) = default;

  /// Submits the recorded operations to the thread's current stream, after what other streams do with the
  /// graph's memory, and does not wait. Errors that its kernels find are thrown by the next call that waits
  /// for the stream.
  void replay() const;

  const Device& device() const;
  /// Memory that the graph keeps, in bytes: blocks of the pool, whole, that its operations use.
  size_t memory_bytes() const;

  class Recording;

 private:
  explicit Graph(std::shared_ptr<Recording> recording) : recording_(std::move(recording)) {}
  std::shared_ptr<Recording> recording_;
};

}  // namespace beeswax
