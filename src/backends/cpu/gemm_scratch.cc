// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/gemm_scratch.h"

#include <algorithm>

#include "core/fail.h"
#include "core/os/memory.h"

namespace beeswax::cpu {
namespace {

// From 4 MiB on memory comes in huge pages; a buffer that would be near it takes as much.
constexpr size_t kHugeFrom = size_t{4} << 20;

class Buffer {
 public:
  Buffer() = default;
  ~Buffer() { release(); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  void* get(size_t bytes) {
    if (bytes > size_) {
      if (bytes >= kHugeFrom / 4) bytes = std::max(bytes, kHugeFrom);
      release();
      data_ = os::allocate_pages(bytes);
      if (data_ == nullptr)
        fail(ErrorKind::OutOfMemory, "cpu", "no memory for ", bytes, " bytes beside the operands");
      size_ = bytes;
    }
    return data_;
  }

 private:
  void release() {
    if (data_ != nullptr) os::free_pages(data_, size_);
    data_ = nullptr;
    size_ = 0;
  }
  void* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace

void* gemm_scratch(GemmScratch which, size_t bytes) {
  thread_local Buffer shared;
  thread_local Buffer local;
  return (which == GemmScratch::shared ? shared : local).get(bytes);
}

}  // namespace beeswax::cpu
