// SPDX-License-Identifier: Apache-2.0
// Devices and memory through the exported API: properties, allocation, copies, fills, pools, peers, pinned
// memory, errors.
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "emu/support/hip.h"

namespace {

const emu::test::Environment kEnvironment("gfx90a,gfx1100,gfx1100");

class Hip : public testing::Test {
 protected:
  void SetUp() override { HIP_OK(hipSetDevice(0)); }
  void TearDown() override { EXPECT_EQ(hipDeviceSynchronize(), hipSuccess); }
};

template <class T>
T field(const std::vector<char>& bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

TEST_F(Hip, DevicesAreThoseAskedFor) {
  int count = 0;
  HIP_OK(hipGetDeviceCount(&count));
  EXPECT_EQ(count, 3);
  EXPECT_EQ(hipSetDevice(3), hipErrorInvalidDevice);
  EXPECT_EQ(hipGetLastError(), hipErrorInvalidDevice);
  EXPECT_EQ(hipGetLastError(), hipSuccess);
  HIP_OK(hipSetDevice(2));
  int in_thread = -1;
  std::thread([&] { EXPECT_EQ(hipGetDevice(&in_thread), hipSuccess); }).join();
  EXPECT_EQ(in_thread, 0) << "the device is the thread's own";
  EXPECT_STREQ(hipGetErrorName(209), "hipErrorNoBinaryForGpu");
  EXPECT_STREQ(hipGetErrorString(2), "out of memory");
}

// Offsets as ROCm publishes them.
TEST_F(Hip, PropertiesInBothLayouts) {
  std::vector<char> old(792 + 16, 'x'), fresh(1472 + 16, 'x');
  HIP_OK(hipGetDeviceProperties(old.data(), 0));
  HIP_OK(hipGetDevicePropertiesR0600(fresh.data(), 0));
  EXPECT_STREQ(old.data() + 396, "gfx90a:sramecc+:xnack-");
  EXPECT_STREQ(fresh.data() + 1160, "gfx90a:sramecc+:xnack-");
  EXPECT_EQ(field<int>(old, 276), 64);
  EXPECT_EQ(field<int>(fresh, 308), 64);
  EXPECT_EQ(field<int>(old, 336), 104);
  EXPECT_EQ(field<int>(fresh, 388), 104);
  EXPECT_EQ(field<size_t>(old, 256), size_t{256} << 20);
  EXPECT_EQ(field<size_t>(fresh, 288), size_t{256} << 20);
  for (size_t i = 0; i < 16; ++i) {
    EXPECT_EQ(old[792 + i], 'x');
    EXPECT_EQ(fresh[1472 + i], 'x');
  }
  HIP_OK(hipGetDevicePropertiesR0600(fresh.data(), 1));
  EXPECT_STREQ(fresh.data() + 1160, "gfx1100");
  EXPECT_EQ(field<int>(fresh, 308), 32);
  EXPECT_EQ(field<int>(fresh, 388), 48) << "RDNA counts pairs of units";
  int warp = 0, threads = 0;
  HIP_OK(hipDeviceGetAttribute(&warp, 87, 1));
  HIP_OK(hipDeviceGetAttribute(&threads, 56, 1));
  EXPECT_EQ(warp, 32);
  EXPECT_EQ(threads, 1024);
  EXPECT_EQ(hipDeviceGetAttribute(&warp, 5000, 1), hipErrorInvalidValue);
}

TEST_F(Hip, AllocationAndItsErrors) {
  void* block = nullptr;
  HIP_OK(hipMalloc(&block, 1000));
  EXPECT_EQ(hipMalloc(&block, size_t{1} << 40), hipErrorOutOfMemory);
  EXPECT_EQ(block, nullptr);
  HIP_OK(hipMalloc(&block, 0));
  EXPECT_EQ(block, nullptr);
  HIP_OK(hipFree(nullptr));
  HIP_OK(hipMalloc(&block, 1000));
  EXPECT_EQ(hipFree(static_cast<char*>(block) + 8), hipErrorInvalidValue);
  HIP_OK(hipFree(block));
  EXPECT_EQ(hipFree(block), hipErrorInvalidValue) << "a second time";
  int mine = 0;
  EXPECT_EQ(hipFree(&mine), hipErrorInvalidValue);
  size_t before = 0, after = 0, total = 0;
  HIP_OK(hipMemGetInfo(&before, &total));
  EXPECT_EQ(total, size_t{256} << 20);
  HIP_OK(hipMalloc(&block, 1 << 20));
  HIP_OK(hipMemGetInfo(&after, nullptr));
  EXPECT_EQ(before - after, size_t{1} << 20);
  HIP_OK(hipFree(block));
  EXPECT_EQ(hipMalloc(nullptr, 4), hipErrorInvalidValue);
}

TEST_F(Hip, CopiesThereAndBack) {
  std::vector<int> there(1000), back(1000);
  for (size_t i = 0; i < there.size(); ++i) there[i] = static_cast<int>(i * i);
  void *a = nullptr, *b = nullptr;
  HIP_OK(hipMalloc(&a, 4000));
  HIP_OK(hipMalloc(&b, 4000));
  HIP_OK(hipMemcpy(a, there.data(), 4000, hipMemcpyHostToDevice));
  HIP_OK(hipMemcpy(b, a, 4000, hipMemcpyDeviceToDevice));
  HIP_OK(hipMemcpy(back.data(), b, 4000, hipMemcpyDeviceToHost));
  EXPECT_EQ(there, back);
  EXPECT_EQ(hipMemcpy(a, there.data(), 4001, hipMemcpyHostToDevice), hipErrorInvalidValue)
      << "one byte too many";
  EXPECT_EQ(hipMemcpy(back.data(), static_cast<char*>(b) + 4, 4000, hipMemcpyDefault), hipErrorInvalidValue);
  EXPECT_EQ(hipMemcpy(a, there.data(), 4, 9), 21);
  HIP_OK(hipMemcpy(nullptr, nullptr, 0, hipMemcpyDefault));
  HIP_OK(hipFree(a));
  EXPECT_EQ(hipMemcpy(back.data(), a, 4, hipMemcpyDeviceToHost), hipErrorInvalidValue) << "after hipFree";
  HIP_OK(hipFree(b));
}

TEST_F(Hip, CopiesAndFillsInTwoDimensions) {
  void* block = nullptr;
  size_t pitch = 0;
  HIP_OK(hipMallocPitch(&block, &pitch, 100, 7));
  EXPECT_GE(pitch, 100u);
  EXPECT_EQ(pitch % 256, 0u);
  HIP_OK(hipMemset2D(block, pitch, 0x11, 100, 7));
  std::vector<char> rows(3 * 10, 'a');
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<char>(i);
  HIP_OK(hipMemcpy2D(static_cast<char*>(block) + pitch + 5, pitch, rows.data(), 10, 10, 3,
                     hipMemcpyHostToDevice));
  std::vector<char> all(7 * 100);
  HIP_OK(hipMemcpy2D(all.data(), 100, block, pitch, 100, 7, hipMemcpyDeviceToHost));
  for (size_t y = 0; y < 7; ++y)
    for (size_t x = 0; x < 100; ++x) {
      const bool inside = y >= 1 && y < 4 && x >= 5 && x < 15;
      ASSERT_EQ(all[y * 100 + x], inside ? rows[(y - 1) * 10 + x - 5] : 0x11) << y << " " << x;
    }
  EXPECT_EQ(hipMemcpy2D(block, 50, all.data(), 100, 100, 2, hipMemcpyDefault), hipErrorInvalidPitchValue);
  EXPECT_EQ(hipMemcpy2D(block, pitch, all.data(), 100, 100, 8, hipMemcpyDefault), hipErrorInvalidValue);
  HIP_OK(hipFree(block));
}

TEST_F(Hip, FillsOfEveryWidth) {
  void* block = nullptr;
  HIP_OK(hipMalloc(&block, 64));
  HIP_OK(hipMemset(block, 0x7f, 64));
  HIP_OK(hipMemsetD16(static_cast<char*>(block) + 2, 0x1234, 3));
  HIP_OK(hipMemsetD32Async(static_cast<char*>(block) + 16, -2, 2, nullptr));
  unsigned char bytes[64];
  HIP_OK(hipMemcpy(bytes, block, 64, hipMemcpyDeviceToHost));
  const unsigned char expected[] = {0x7f, 0x7f, 0x34, 0x12, 0x34, 0x12, 0x34, 0x12, 0x7f};
  EXPECT_EQ(std::memcmp(bytes, expected, 9), 0);
  EXPECT_EQ(bytes[16], 0xfe);
  EXPECT_EQ(bytes[23], 0xff);
  EXPECT_EQ(bytes[24], 0x7f);
  EXPECT_EQ(hipMemset(block, 0, 65), hipErrorInvalidValue);
  EXPECT_EQ(hipMemsetD32Async(static_cast<char*>(block) + 2, 0, 1, nullptr), hipErrorInvalidValue)
      << "not aligned";
  HIP_OK(hipFree(block));
}

// None of them may pass a check by becoming small.
TEST_F(Hip, SizesThatWrapAreRefused) {
  constexpr size_t kRow = size_t{1} << 32;
  char *device = nullptr, *pinned = nullptr;
  HIP_OK(hipMalloc(reinterpret_cast<void**>(&device), 256));
  HIP_OK(hipHostMalloc(reinterpret_cast<void**>(&pinned), 256, 0));
  std::vector<char> mine(256), other(256);
  for (char* block : {device, pinned}) {
    EXPECT_EQ(hipMemset(block + 16, 0, size_t{0} - 16), hipErrorInvalidValue);
    EXPECT_EQ(hipMemcpy(block + 16, mine.data(), size_t{0} - 16, hipMemcpyDefault), hipErrorInvalidValue);
    EXPECT_EQ(hipMemcpy(mine.data(), block + 16, size_t{0} - 16, hipMemcpyDefault), hipErrorInvalidValue);
    EXPECT_EQ(hipMemcpy2D(block, kRow, mine.data(), kRow, 4, kRow + 1, hipMemcpyDefault),
              hipErrorInvalidValue);
    EXPECT_EQ(hipMemset2D(block, kRow, 0, 4, kRow + 1), hipErrorInvalidValue);
    EXPECT_EQ(hipMemsetD32Async(block, 0, SIZE_MAX / 4 + 2, nullptr), hipErrorInvalidValue);
  }
  EXPECT_EQ(hipMemcpy(mine.data() + 16, other.data(), size_t{0} - 16, hipMemcpyHostToHost),
            hipErrorInvalidValue);
  void* block = nullptr;
  size_t pitch = 0;
  EXPECT_EQ(hipMallocPitch(&block, &pitch, SIZE_MAX - 3, 1), hipErrorInvalidValue);
  EXPECT_EQ(hipMallocPitch(&block, &pitch, 1, SIZE_MAX / 256 + 2), hipErrorInvalidValue);
  EXPECT_EQ(hipHostRegister(mine.data(), SIZE_MAX, 0), hipErrorInvalidValue);
  HIP_OK(hipHostRegister(mine.data(), mine.size(), 0));
  EXPECT_EQ(hipMemset(mine.data() + 16, 0, size_t{0} - 16), hipErrorInvalidValue);
  HIP_OK(hipHostUnregister(mine.data()));
  HIP_OK(hipHostFree(pinned));
  HIP_OK(hipFree(device));
}

TEST_F(Hip, PinnedManagedAndRegisteredMemory) {
  void *pinned = nullptr, *managed = nullptr, *device = nullptr;
  HIP_OK(hipHostMalloc(&pinned, 128, 0));
  HIP_OK(hipMallocManaged(&managed, 128, 1));
  HIP_OK(hipMalloc(&device, 128));
  std::vector<char> mine(128);
  hipPointerAttribute_t what{};
  HIP_OK(hipPointerGetAttributes(&what, pinned));
  EXPECT_EQ(what.type, 1);
  HIP_OK(hipPointerGetAttributes(&what, managed));
  EXPECT_EQ(what.type, 3);
  EXPECT_EQ(what.isManaged, 1);
  EXPECT_EQ(hipHostRegister(managed, 128, 0), hipErrorHostMemoryAlreadyRegistered);
  EXPECT_EQ(hipHostRegister(pinned, 128, 0), hipErrorHostMemoryAlreadyRegistered);
  HIP_OK(hipPointerGetAttributes(&what, managed));
  EXPECT_EQ(what.isManaged, 1);
  HIP_OK(hipPointerGetAttributes(&what, static_cast<char*>(device) + 100));
  EXPECT_EQ(what.type, 2);
  EXPECT_EQ(what.device, 0);
  HIP_OK(hipPointerGetAttributes(&what, mine.data()));
  EXPECT_EQ(what.type, 0) << "not registered";
  EXPECT_EQ(hipMemset(mine.data(), 1, mine.size()), hipErrorInvalidValue) << "not registered";
  EXPECT_EQ(hipMemset2D(mine.data(), 16, 1, 16, 2), hipErrorInvalidValue);
  HIP_OK(hipHostRegister(mine.data(), mine.size(), 0));
  HIP_OK(hipMemset(mine.data(), 1, mine.size()));
  EXPECT_EQ(mine[127], 1);
  EXPECT_EQ(hipHostRegister(mine.data() + 64, 1, 0), hipErrorHostMemoryAlreadyRegistered);
  HIP_OK(hipPointerGetAttributes(&what, mine.data()));
  EXPECT_EQ(what.type, 1);
  HIP_OK(hipHostUnregister(mine.data()));
  EXPECT_EQ(hipHostUnregister(mine.data()), hipErrorHostMemoryNotRegistered);
  void* start = nullptr;
  size_t bytes = 0;
  HIP_OK(hipMemGetAddressRange(&start, &bytes, static_cast<char*>(device) + 50));
  EXPECT_EQ(start, device);
  EXPECT_EQ(bytes, 128u);
  HIP_OK(hipHostFree(pinned));
  EXPECT_EQ(hipHostFree(pinned), hipErrorInvalidValue);
  HIP_OK(hipFree(managed));
  HIP_OK(hipFree(device));
}

TEST_F(Hip, PrefetchingChecksWhatItIsGiven) {
  constexpr int kHost = -1, kNone = -2;  // hipCpuDeviceId, hipInvalidDeviceId
  char *managed = nullptr, outside[16] = {};
  HIP_OK(hipMallocManaged(reinterpret_cast<void**>(&managed), 4096, 1));
  for (const int device : {0, 2, kHost}) {
    HIP_OK(hipMemPrefetchAsync(managed, 4096, device, nullptr));
    HIP_OK(hipMemPrefetchAsync(managed + 4000, 96, device, nullptr));
    HIP_OK(hipMemAdvise(managed, 4096, 3, device));
    EXPECT_EQ(hipMemPrefetchAsync(nullptr, 4096, device, nullptr), hipErrorInvalidValue);
    EXPECT_EQ(hipMemPrefetchAsync(outside, 16, device, nullptr), hipErrorInvalidValue);
    EXPECT_EQ(hipMemPrefetchAsync(managed, 0, device, nullptr), hipErrorInvalidValue);
    EXPECT_EQ(hipMemPrefetchAsync(managed, 4097, device, nullptr), hipErrorInvalidValue);
    EXPECT_EQ(hipMemPrefetchAsync(managed + 4000, SIZE_MAX, device, nullptr), hipErrorInvalidValue);
    EXPECT_EQ(hipMemAdvise(managed + 1, 4096, 3, device), hipErrorInvalidValue);
  }
  for (const int device : {3, kNone}) {
    EXPECT_EQ(hipMemPrefetchAsync(managed, 4096, device, nullptr), hipErrorInvalidDevice);
    EXPECT_EQ(hipMemAdvise(managed, 4096, 3, device), hipErrorInvalidDevice);
    HIP_OK(hipMemAdvise(managed, 4096, 1, device));  // read mostly, wherever that is
  }
  EXPECT_EQ(hipMemPrefetchAsync(managed, 4096, 0, reinterpret_cast<hipStream_t>(outside)),
            hipErrorInvalidHandle);
  HIP_OK(hipFree(managed));
}

TEST_F(Hip, PoolsCountAndOrder) {
  hipStream_t stream = nullptr;
  HIP_OK(hipStreamCreate(&stream));
  const hipMemPoolProps properties{1, 0, 1, 0, nullptr, {}};
  hipMemPool_t pool = nullptr;
  HIP_OK(hipMemPoolCreate(&pool, &properties));
  void *a = nullptr, *b = nullptr;
  HIP_OK(hipMallocFromPoolAsync(&a, 1000, pool, stream));
  HIP_OK(hipMallocAsync(&b, 500, stream));
  uint64_t used = 0;
  HIP_OK(hipMemPoolGetAttribute(pool, 7, &used));
  EXPECT_EQ(used, 1000u);
  HIP_OK(hipMemsetAsync(a, 1, 1000, stream));
  HIP_OK(hipFreeAsync(a, stream));
  EXPECT_EQ(hipFreeAsync(a, stream), hipErrorInvalidValue) << "a second time";
  HIP_OK(hipMemPoolGetAttribute(pool, 7, &used));
  EXPECT_EQ(used, 0u);
  HIP_OK(hipStreamSynchronize(stream));
  EXPECT_EQ(hipMemset(a, 0, 1), hipErrorInvalidValue) << "it is freed";
  HIP_OK(hipFreeAsync(b, stream));
  HIP_OK(hipMemPoolDestroy(pool));
  HIP_OK(hipStreamDestroy(stream));
}

extern "C" int hipMallocArray();
extern "C" int hipMemset_spt(void*, int, size_t);

TEST_F(Hip, WhatIsNotThereSaysSo) {
  EXPECT_EQ(hipMallocArray(), 801);
  EXPECT_STREQ(hipGetErrorName(hipGetLastError()), "hipErrorNotSupported");
}

TEST_F(Hip, TheThreadsOwnStream) {
  char* block = nullptr;
  HIP_OK(hipMalloc(reinterpret_cast<void**>(&block), 8));
  emu::test::Gate gate;
  hipStream_t blocking = nullptr;
  HIP_OK(hipStreamCreate(&blocking));
  gate.close_on(blocking);
  HIP_OK(hipMemset_spt(block, 6, 8));  // waits, and not for `blocking`
  gate.open();
  char byte = 0;
  HIP_OK(hipMemcpy(&byte, block, 1, hipMemcpyDeviceToHost));
  EXPECT_EQ(byte, 6);
  HIP_OK(hipStreamDestroy(blocking));
  HIP_OK(hipFree(block));
}

TEST_F(Hip, Peers) {
  int can = 0;
  HIP_OK(hipDeviceCanAccessPeer(&can, 0, 1));
  EXPECT_EQ(can, 1);
  HIP_OK(hipDeviceCanAccessPeer(&can, 1, 1));
  EXPECT_EQ(can, 0);
  HIP_OK(hipDeviceEnablePeerAccess(1, 0));
  EXPECT_EQ(hipDeviceEnablePeerAccess(1, 0), hipErrorPeerAccessAlreadyEnabled);
  HIP_OK(hipDeviceDisablePeerAccess(1));
  EXPECT_EQ(hipDeviceDisablePeerAccess(1), hipErrorPeerAccessNotEnabled);
  void *a = nullptr, *b = nullptr;
  HIP_OK(hipMalloc(&a, 64));
  HIP_OK(hipMemset(a, 5, 64));
  HIP_OK(hipDeviceSynchronize());  // the other device's streams do not wait for this one's
  HIP_OK(hipSetDevice(1));
  HIP_OK(hipMalloc(&b, 64));
  EXPECT_EQ(hipMemcpyPeer(b, 1, a, 3, 64), hipErrorInvalidDevice);
  EXPECT_EQ(hipMemcpyPeer(b, -1, a, 0, 64), hipErrorInvalidDevice);
  HIP_OK(hipMemcpyPeer(b, 1, a, 0, 64));
  char bytes[64];
  HIP_OK(hipMemcpy(bytes, b, 64, hipMemcpyDeviceToHost));
  EXPECT_EQ(bytes[63], 5);
  HIP_OK(hipFree(b));
  HIP_OK(hipFree(a));
}

}  // namespace
