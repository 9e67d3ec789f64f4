// SPDX-License-Identifier: Apache-2.0
// Missing synchronization in host code shows: in strict mode each task is late unless somebody waits for it.
#include <cstdlib>
#include <cstring>
#include <vector>

#include "emu/support/hip.h"

namespace {

const emu::test::Environment kEnvironment("gfx1100", "strict");
const int kLate = setenv("BEESWAX_EMU_DELAY", "20000000", 1);  // more than any host thread needs

TEST(Asynchrony, AMissingWaitShows) {
  hipStream_t stream = nullptr;
  char *device = nullptr, *pinned = nullptr;
  std::vector<char> pageable(256, 1);
  HIP_OK(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
  HIP_OK(hipMalloc(reinterpret_cast<void**>(&device), 256));
  HIP_OK(hipHostMalloc(reinterpret_cast<void**>(&pinned), 256, 0));
  std::memset(pinned, 1, 256);
  HIP_OK(hipMemsetAsync(device, 5, 256, stream));
  HIP_OK(hipMemcpyAsync(pinned, device, 256, hipMemcpyDeviceToHost, stream));
  HIP_OK(hipMemcpyAsync(pageable.data(), device, 256, hipMemcpyDeviceToHost, stream));
  // A program without hipStreamSynchronize reads here, and sees old bytes.
  EXPECT_EQ(pinned[0], 1);
  EXPECT_EQ(pageable[0], 1);
  HIP_OK(hipStreamSynchronize(stream));  // who waits is not held up
  EXPECT_EQ(pinned[0], 5);
  EXPECT_EQ(pageable[0], 5);

  // Pageable bytes are taken late too: who changes them too early copies the change.
  std::vector<char> source(256, 7);
  HIP_OK(hipMemcpyAsync(device, source.data(), 256, hipMemcpyHostToDevice, stream));
  source.assign(256, 8);
  HIP_OK(hipStreamSynchronize(stream));
  char first = 0;
  HIP_OK(hipMemcpy(&first, device, 1, hipMemcpyDeviceToHost));
  EXPECT_EQ(first, 8);
  HIP_OK(hipStreamDestroy(stream));
  HIP_OK(hipFree(device));
  HIP_OK(hipHostFree(pinned));
}

}  // namespace
