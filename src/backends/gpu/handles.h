// SPDX-License-Identifier: Apache-2.0
// Owners of what a driver hands out; they give it back when they go, with the device in use by the caller.
#pragma once

#include <utility>

#include "backends/gpu/driver.h"

namespace beeswax::gpu {

template <Result (*Driver::*give_back)(void*)>
class Handle {
 public:
  explicit Handle(const Driver& driver) : driver_(&driver) {}
  ~Handle() { reset(); }
  Handle(Handle&& other) noexcept : driver_(other.driver_), handle_(std::exchange(other.handle_, nullptr)) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(driver_, other.driver_);
    std::swap(handle_, other.handle_);
    return *this;
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  void* get() const { return handle_; }
  explicit operator bool() const { return handle_ != nullptr; }
  /// Where a driver writes a new one.
  void** out() {
    reset();
    return &handle_;
  }
  void reset() {
    // A failure here is an earlier one's, which the call that waits reports.
    if (handle_ != nullptr) (driver_->*give_back)(std::exchange(handle_, nullptr));
  }

 private:
  const Driver* driver_;
  void* handle_ = nullptr;
};

using DriverStream = Handle<&Driver::destroy_stream>;
using Event = Handle<&Driver::destroy_event>;
using Module = Handle<&Driver::unload_module>;
using PinnedMemory = Handle<&Driver::release_host>;
using RecordedGraph = Handle<&Driver::destroy_graph>;
using GraphInstance = Handle<&Driver::destroy_graph_exec>;

}  // namespace beeswax::gpu
