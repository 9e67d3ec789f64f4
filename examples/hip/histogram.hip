// SPDX-License-Identifier: Apache-2.0
// Counts bytes: atomics on shared memory in each block, then atomics on global memory; the launch is recorded
// in a graph.
#include <vector>

#include "check.h"

__constant__ unsigned offset;

__global__ void count(const unsigned char* bytes, int n, unsigned* bins) {
  __shared__ unsigned local[256];
  local[threadIdx.x] = 0;
  __syncthreads();
  for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < n;
       i += static_cast<int>(gridDim.x * blockDim.x))
    atomicAdd(&local[(bytes[i] + offset) % 256], 1u);
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}

int main() {
  constexpr int n = 60000;
  std::vector<unsigned char> bytes(n);
  std::vector<unsigned> expected(256), result(256);
  for (int i = 0; i < n; ++i) {
    bytes[i] = static_cast<unsigned char>(i * i / 100);
    ++expected[(bytes[i] + 3) % 256];
  }
  const unsigned shift = 3;
  CHECK(hipMemcpyToSymbol(HIP_SYMBOL(offset), &shift, sizeof shift));
  Buffer<unsigned char> device(n);
  Buffer<unsigned> bins(256);
  device.put(bytes.data());
  hipStream_t stream;
  CHECK(hipStreamCreate(&stream));
  // Recorded once, launched twice: every bin counts double.
  CHECK(hipMemsetAsync(bins.get(), 0, 256 * sizeof(unsigned), stream));
  hipGraph_t graph;
  hipGraphExec_t exec;
  CHECK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  count<<<8, 256, 0, stream>>>(device.get(), n, bins.get());
  CHECK(hipStreamEndCapture(stream, &graph));
  CHECK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  CHECK(hipGraphLaunch(exec, stream));
  CHECK(hipGraphLaunch(exec, stream));
  CHECK(hipStreamSynchronize(stream));
  bins.take(result.data());
  CHECK(hipGraphExecDestroy(exec));
  CHECK(hipGraphDestroy(graph));
  CHECK(hipStreamDestroy(stream));
  int wrong = 0;
  for (int i = 0; i < 256; ++i) wrong += result[i] != 2 * expected[i];
  std::printf("256 bins, %d wrong\n", wrong);
  return wrong != 0;
}
