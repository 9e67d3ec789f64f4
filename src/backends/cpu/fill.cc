// SPDX-License-Identifier: Apache-2.0
// Constants, ranges and random numbers.
#include "backends/cpu/backend.h"

#include "backends/cpu/convert_scalar.h"
#include "backends/cpu/nest.h"
#include "backends/cpu/streaming.h"
#include "core/fail.h"
#include "core/thread_pool.h"

namespace beeswax::cpu {

void CpuBackend::fill(const Target& out, const Scalar& value) {
  const size_t bytes = dtype_bytes(out.dtype, 1);
  const ScalarBytes element(value, out.dtype);
  const Nest<1> nest({out.layout});
  std::byte* base = out.data();
  constexpr int64_t kBlock = 1024;
  alignas(64) std::byte block[kBlock * 8];
  const CopyKernels& kernels = copy_kernels();
  kernels.gather[size_class(bytes)](block, element.data(), 0, kBlock);
  const bool past_caches = beyond_caches(static_cast<size_t>(nest.count) * bytes);
  parallel_ranges(nest.count, 1 << 16, [&](int64_t begin, int64_t end) {
    NestPosition<1> position(nest, begin);
    for (int64_t left = end - begin; left > 0;) {
      const int64_t run = std::min({left, position.left(), kBlock});
      std::byte* y = base + position.offset(0) * static_cast<int64_t>(bytes);
      if (nest.strides[0][nest.last()] != 1) {
        kernels.scatter[size_class(bytes)](y, nest.strides[0][nest.last()], block, run);
      } else if (past_caches) {
        kernels.stream(y, block, static_cast<size_t>(run) * bytes);
      } else {
        std::memcpy(y, block, static_cast<size_t>(run) * bytes);
      }
      left -= run;
      position.advance(run);
    }
    if (past_caches) kernels.fence();
  });
}

void CpuBackend::range(const Target&, const Scalar&, const Scalar&) {
  fail(ErrorKind::Unsupported, "range", "not on the CPU yet");
}
void CpuBackend::random(const Target&, Distribution, double, double, uint64_t, uint64_t) {
  fail(ErrorKind::Unsupported, "random", "not on the CPU yet");
}

}  // namespace beeswax::cpu
