// SPDX-License-Identifier: Apache-2.0
// Modules: a loaded image and the functions programs took from it.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "emu/code_object.h"
#include "emu/hip/launch.h"

namespace emu::hip {

class Module {
 public:
  /// Picks the code for the device and loads it. Throws LoadError.
  Module(std::span<const std::byte> image, Device& device);
  Device& device() const { return device_; }
  const Image& image() const { return *image_; }
  /// Null when there is none.
  Function* function(const std::string& name);
  bool owns(const Function* function) const;

 private:
  Device& device_;
  std::shared_ptr<const Image> image_;
  mutable std::mutex mutex_;
  std::map<std::string, std::unique_ptr<Function>> functions_;
};

/// A function by the handle of hipModuleGetFunction, or by the host address that a fat binary registered,
/// then for the calling thread's device. Throws hipErrorInvalidDeviceFunction or hipErrorInvalidHandle.
Function& find_function(const void* handle);
/// Only those of modules.
Function& find_module_function(Function* handle);
/// Of fat binaries: null where the address was never registered.
Function* find_registered_function(const void* host_address, Device& device);

}  // namespace emu::hip
