// SPDX-License-Identifier: Apache-2.0
// Owned: a handle or descriptor of a vendor's library, which goes back to it when its owner goes.
#pragma once

namespace beeswax::gpu::dnn {

/// `Api` is a library's table of functions, `give_back` the one that takes the object back.
template <class Api, int (*Api::*give_back)(void*)>
class Owned {
 public:
  explicit Owned(const Api& api) : api_(api) {}
  ~Owned() {
    // What fails here failed before, in a call that told.
    if (object_ != nullptr) (api_.*give_back)(object_);
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;

  void* get() const { return object_; }
  /// Where the library writes a new one.
  void** out() { return &object_; }

 private:
  const Api& api_;
  void* object_ = nullptr;
};

}  // namespace beeswax::gpu::dnn
