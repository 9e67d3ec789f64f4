// SPDX-License-Identifier: Apache-2.0
// Ends the program with the place and the reason when a HIP call fails.
#pragma once

#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                                         \
  do {                                                                                                      \
    const hipError_t error_of_call = (call);                                                                \
    if (error_of_call != hipSuccess) {                                                                      \
      std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, hipGetErrorString(error_of_call)); \
      std::exit(1);                                                                                         \
    }                                                                                                       \
  } while (false)

// Device memory for n values that frees itself.
template <class T>
class Buffer {
 public:
  explicit Buffer(size_t n) : bytes_(n * sizeof(T)) { CHECK(hipMalloc(&data_, bytes_)); }
  ~Buffer() { (void)hipFree(data_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  T* get() const { return data_; }
  void put(const T* from) { CHECK(hipMemcpy(data_, from, bytes_, hipMemcpyHostToDevice)); }
  void take(T* to) const { CHECK(hipMemcpy(to, data_, bytes_, hipMemcpyDeviceToHost)); }

 private:
  T* data_ = nullptr;
  size_t bytes_;
};
