// SPDX-License-Identifier: Apache-2.0
// The process's devices, pinned memory and settings; made at the first call, taken down at exit.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <unordered_set>
#include <vector>

#include "emu/exec/run.h"
#include "emu/hip/abi.h"
#include "emu/memory.h"

namespace emu::hip {

class Device;

/// Environment variables; emu/README.md explains them.
struct Settings {
  std::vector<const Chip*> chips;
  Options options;
  uint64_t delay_us = 0;
  uint64_t memory_bytes = 0;  // 0: as much as the chip has, or the machine
  bool log = false;
  bool silent = false;   // no reports (tests read them by last_report)
  int rocm = 6;          // whose conventions
  std::string counters;  // file, "-" or nothing
  std::string launched;  // file or nothing
  static Settings from_environment();
};

class Runtime {
 public:
  static Runtime& get();
  ~Runtime();

  const Settings& settings() const { return settings_; }
  int device_count() const { return static_cast<int>(devices_.size()); }
  Device& device(int index);
  /// The calling thread's device.
  Device& current();
  int current_index() const;
  void set_current(int index);
  HostSpace& host() { return *host_; }
  /// The device in whose memory the address lies; null for host memory.
  Device* owner(uint64_t address) const;
  const std::vector<std::unique_ptr<Device>>& devices() const { return devices_; }

  /// Stops every worker. False where some go on in host functions that do not return.
  bool stop();

 private:
  Runtime();
  Settings settings_;
  std::unique_ptr<HostSpace> host_;
  std::vector<std::unique_ptr<Device>> devices_;
};

/// Handles that were given out and not taken back. A wrong one is an error, never a crash.
template <class T>
class Handles {
 public:
  T* add(std::unique_ptr<T> object) {
    const std::lock_guard lock(mutex_);
    T* handle = object.release();
    live_.insert(handle);
    return handle;
  }
  T& check(T* handle) {
    const std::lock_guard lock(mutex_);
    require(live_.contains(handle), hipErrorInvalidHandle,
            "the handle was never given out, or is destroyed already");
    return *handle;
  }
  std::unique_ptr<T> take(T* handle) {
    const std::lock_guard lock(mutex_);
    require(live_.erase(handle) == 1, hipErrorInvalidHandle,
            "the handle was never given out, or is destroyed already");
    return std::unique_ptr<T>(handle);
  }
  void clear() {
    std::unordered_set<T*> all;
    {
      const std::lock_guard lock(mutex_);
      all.swap(live_);
    }
    for (T* handle : all) delete handle;
  }
  ~Handles() {
    if (!forked()) clear();
  }
  std::vector<T*> all() const {
    const std::lock_guard lock(mutex_);
    return {live_.begin(), live_.end()};
  }

 private:
  mutable std::mutex mutex_;
  std::unordered_set<T*> live_;
};

/// One of the process's tables of handles; emptied before the devices go.
template <class T>
Handles<T>& handles();

void log_line(const std::string& text);

}  // namespace emu::hip
