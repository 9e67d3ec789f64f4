// SPDX-License-Identifier: Apache-2.0
// A pipeline over two streams: one brings parts of the data, the other works on them; events say what is
// there. The whole is timed, and a callback counts the parts as they end.
#include <atomic>
#include <vector>

#include "check.h"

__global__ void square(const float* from, float* to, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) to[i] = from[i] * from[i];
}

static void count(hipStream_t, hipError_t status, void* counter) {
  if (status == hipSuccess) ++*static_cast<std::atomic<int>*>(counter);
}

int main() {
  constexpr int parts = 5, part = 4000;
  float *host = nullptr, *back = nullptr;
  CHECK(hipHostMalloc(reinterpret_cast<void**>(&host), parts * part * sizeof(float), hipHostMallocDefault));
  CHECK(hipHostMalloc(reinterpret_cast<void**>(&back), parts * part * sizeof(float), hipHostMallocDefault));
  for (int i = 0; i < parts * part; ++i) host[i] = static_cast<float>(i % 1000);
  Buffer<float> from(parts * part), to(parts * part);
  hipStream_t bring, work;
  CHECK(hipStreamCreateWithFlags(&bring, hipStreamNonBlocking));
  CHECK(hipStreamCreateWithFlags(&work, hipStreamNonBlocking));
  hipEvent_t there[parts], begin, end;
  CHECK(hipEventCreate(&begin));
  CHECK(hipEventCreate(&end));
  std::atomic<int> done{0};
  CHECK(hipEventRecord(begin, bring));
  for (int p = 0; p < parts; ++p) {
    CHECK(hipEventCreateWithFlags(&there[p], hipEventDisableTiming));
    CHECK(hipMemcpyAsync(from.get() + p * part, host + p * part, part * sizeof(float), hipMemcpyHostToDevice,
                         bring));
    CHECK(hipEventRecord(there[p], bring));
    CHECK(hipStreamWaitEvent(work, there[p], 0));
    square<<<(part + 255) / 256, 256, 0, work>>>(from.get() + p * part, to.get() + p * part, part);
    CHECK(hipGetLastError());
    CHECK(hipMemcpyAsync(back + p * part, to.get() + p * part, part * sizeof(float), hipMemcpyDeviceToHost,
                         work));
    CHECK(hipStreamAddCallback(work, count, &done, 0));
  }
  CHECK(hipEventRecord(end, work));
  CHECK(hipEventSynchronize(end));
  float milliseconds = -1;
  CHECK(hipEventElapsedTime(&milliseconds, begin, end));
  int wrong = done != parts || milliseconds < 0;
  for (int i = 0; i < parts * part; ++i) wrong += back[i] != host[i] * host[i];
  for (hipEvent_t event : there) CHECK(hipEventDestroy(event));
  CHECK(hipEventDestroy(begin));
  CHECK(hipEventDestroy(end));
  CHECK(hipStreamDestroy(bring));
  CHECK(hipStreamDestroy(work));
  CHECK(hipHostFree(host));
  CHECK(hipHostFree(back));
  std::printf("%d parts over two streams, %d wrong\n", done.load(), wrong);
  return wrong != 0;
}
