// SPDX-License-Identifier: Apache-2.0
// Streams, events and graphs: what waits for what, and what does not. A gate in a stream makes the order
// visible.
#include <atomic>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "emu/support/hip.h"

using emu::test::Gate;

namespace {

const emu::test::Environment kEnvironment("gfx1100,gfx90a");

class Streams : public testing::Test {
 protected:
  void SetUp() override {
    HIP_OK(hipSetDevice(0));
    for (hipStream_t& stream : streams) HIP_OK(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
    HIP_OK(hipStreamCreate(&blocking));
    HIP_OK(hipEventCreate(&event));
    HIP_OK(hipMalloc(reinterpret_cast<void**>(&device), 256));
    HIP_OK(hipHostMalloc(reinterpret_cast<void**>(&pinned), 256, 0));
    std::memset(pinned, 0, 256);
  }
  void TearDown() override {
    EXPECT_EQ(hipDeviceSynchronize(), hipSuccess);
    for (hipStream_t stream : streams) EXPECT_EQ(hipStreamDestroy(stream), hipSuccess);
    EXPECT_EQ(hipStreamDestroy(blocking), hipSuccess);
    EXPECT_EQ(hipEventDestroy(event), hipSuccess);
    EXPECT_EQ(hipFree(device), hipSuccess);
    EXPECT_EQ(hipHostFree(pinned), hipSuccess);
  }
  hipStream_t streams[2] = {}, blocking = nullptr;
  hipEvent_t event = nullptr;
  char* device = nullptr;
  char* pinned = nullptr;
};

TEST_F(Streams, WorkIsLateUntilItIsWaitedFor) {
  Gate gate;
  gate.close_on(streams[0]);
  HIP_OK(hipMemsetAsync(device, 7, 256, streams[0]));
  HIP_OK(hipMemcpyAsync(pinned, device, 256, hipMemcpyDeviceToHost, streams[0]));
  EXPECT_EQ(hipStreamQuery(streams[0]), hipErrorNotReady);
  EXPECT_EQ(hipPeekAtLastError(), hipSuccess) << "not ready is no error";
  EXPECT_EQ(pinned[0], 0) << "a host that does not wait sees old bytes";
  EXPECT_EQ(hipStreamQuery(streams[1]), hipSuccess);
  gate.open();
  HIP_OK(hipStreamSynchronize(streams[0]));
  EXPECT_EQ(pinned[255], 7);
  EXPECT_EQ(hipStreamQuery(streams[0]), hipSuccess);
}

TEST_F(Streams, PageableSourcesAreTakenAtOnce) {
  Gate gate;
  gate.close_on(streams[0]);
  std::vector<char> mine(256, 3);
  HIP_OK(hipMemcpyAsync(device, mine.data(), 256, hipMemcpyHostToDevice, streams[0]));
  std::fill(mine.begin(), mine.end(), char{9});
  std::memset(pinned, 4, 256);
  HIP_OK(hipMemcpyAsync(device + 128, pinned, 128, hipMemcpyHostToDevice, streams[0]));
  std::memset(pinned, 5, 256);
  gate.open();
  HIP_OK(hipMemcpyAsync(mine.data(), device, 256, hipMemcpyDeviceToHost, streams[0]));
  // Into pageable memory the call itself waits. Pinned memory is read when the copy runs.
  EXPECT_EQ(mine[0], 3);
  EXPECT_EQ(mine[255], 5);
}

// "If host or dest are not pinned, the memory copy will be performed synchronously": this one is ahead of it
// by 64 MiB at most.
TEST_F(Streams, PageableSourcesAreTakenWithinBounds) {
  constexpr size_t kPiece = size_t{4} << 20, kPieces = 20, kAhead = 16;
  char* large = nullptr;
  HIP_OK(hipMalloc(reinterpret_cast<void**>(&large), kPiece * kPieces));
  std::atomic<size_t> returned{0};
  Gate gate;
  gate.close_on(streams[0]);
  std::thread copies([&] {
    std::vector<char> source(kPiece);
    for (size_t i = 0; i < kPieces; ++i) {
      std::memset(source.data(), static_cast<int>(i), kPiece);
      EXPECT_EQ(hipMemcpyAsync(large + i * kPiece, source.data(), kPiece, hipMemcpyHostToDevice, streams[0]),
                hipSuccess);
      ++returned;
    }
  });
  while (returned < kAhead) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_EQ(returned, kAhead);
  gate.open();
  copies.join();
  HIP_OK(hipStreamSynchronize(streams[0]));
  std::vector<char> all(kPiece * kPieces);
  HIP_OK(hipMemcpy(all.data(), large, all.size(), hipMemcpyDeviceToHost));
  for (size_t i = 0; i < kPieces; ++i) {
    EXPECT_EQ(all[i * kPiece], static_cast<char>(i));
    EXPECT_EQ(all[(i + 1) * kPiece - 1], static_cast<char>(i));
  }
  // One copy of more than that is done when the call returns.
  all.back() = 77;
  HIP_OK(hipMemcpyAsync(large, all.data(), all.size(), hipMemcpyHostToDevice, streams[0]));
  all.back() = 78;
  char last = 0;
  HIP_OK(hipMemcpy(&last, large + all.size() - 1, 1, hipMemcpyDeviceToHost));
  EXPECT_EQ(last, 77);
  HIP_OK(hipFree(large));
}

TEST_F(Streams, TheNullStreamAndBlockingStreamsWaitForEachOther) {
  Gate gate;
  gate.close_on(blocking);
  HIP_OK(hipMemsetAsync(device, 1, 256, nullptr));
  HIP_OK(hipMemsetAsync(device, 2, 1, streams[0]));
  HIP_OK(hipStreamSynchronize(streams[0]));  // does not wait for the null stream
  EXPECT_EQ(hipStreamQuery(nullptr), hipErrorNotReady);
  hipStream_t other = nullptr;
  HIP_OK(hipStreamCreate(&other));
  HIP_OK(hipMemsetAsync(device + 1, 3, 1, other));
  EXPECT_EQ(hipStreamQuery(other), hipErrorNotReady)
      << "it waits for the null stream, which waits for `blocking`";
  gate.open();
  HIP_OK(hipStreamSynchronize(other));
  EXPECT_EQ(hipStreamQuery(nullptr), hipSuccess);
  char bytes[3];
  HIP_OK(hipMemcpy(bytes, device, 3, hipMemcpyDeviceToHost));
  EXPECT_EQ(bytes[0], 1) << "the null stream's fill came after the stream that does not wait for it";
  EXPECT_EQ(bytes[1], 3);
  EXPECT_EQ(bytes[2], 1);
  HIP_OK(hipStreamDestroy(other));
}

TEST_F(Streams, EventsOrderStreamsAndDevices) {
  Gate gate;
  EXPECT_EQ(hipEventQuery(event), hipSuccess) << "never recorded";
  gate.close_on(streams[0]);
  HIP_OK(hipMemsetAsync(device, 1, 256, streams[0]));
  HIP_OK(hipEventRecord(event, streams[0]));
  HIP_OK(hipStreamWaitEvent(streams[1], event, 0));
  HIP_OK(hipMemcpyAsync(pinned, device, 256, hipMemcpyDeviceToHost, streams[1]));
  HIP_OK(hipSetDevice(1));
  hipStream_t far = nullptr;
  HIP_OK(hipStreamCreate(&far));
  HIP_OK(hipStreamWaitEvent(far, event, 0));
  EXPECT_EQ(hipStreamQuery(far), hipErrorNotReady);
  EXPECT_EQ(hipEventQuery(event), hipErrorNotReady);
  EXPECT_EQ(hipStreamQuery(streams[1]), hipErrorNotReady);
  gate.open();
  HIP_OK(hipStreamSynchronize(far));
  HIP_OK(hipEventSynchronize(event));
  HIP_OK(hipStreamSynchronize(streams[1]));
  EXPECT_EQ(pinned[0], 1);
  EXPECT_EQ(hipEventRecord(event, far), hipErrorInvalidHandle) << "an event of another device";
  EXPECT_EQ(hipStreamWaitEvent(far, event, 1), hipErrorInvalidValue) << "unknown flags";
  hipEvent_t far_event = nullptr;
  float milliseconds = 0;
  HIP_OK(hipEventCreate(&far_event));
  HIP_OK(hipEventRecord(far_event, far));
  HIP_OK(hipEventSynchronize(far_event));
  EXPECT_EQ(hipEventElapsedTime(&milliseconds, event, far_event), hipErrorInvalidHandle) << "of two devices";
  HIP_OK(hipEventDestroy(far_event));
  HIP_OK(hipStreamDestroy(far));
}

TEST_F(Streams, EventTimes) {
  hipEvent_t end = nullptr, plain = nullptr;
  HIP_OK(hipEventCreate(&end));
  HIP_OK(hipEventCreateWithFlags(&plain, hipEventDisableTiming));
  float milliseconds = -1;
  EXPECT_EQ(hipEventElapsedTime(&milliseconds, event, end), hipErrorInvalidHandle) << "never recorded";
  HIP_OK(hipEventRecord(event, streams[0]));
  Gate gate;
  gate.close_on(streams[0]);
  HIP_OK(hipLaunchHostFunc(
      streams[0], [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(20)); }, nullptr));
  HIP_OK(hipEventRecord(end, streams[0]));
  HIP_OK(hipEventRecord(plain, streams[0]));
  EXPECT_EQ(hipEventElapsedTime(&milliseconds, event, end), hipErrorNotReady);
  gate.open();
  HIP_OK(hipEventSynchronize(end));
  HIP_OK(hipEventElapsedTime(&milliseconds, event, end));
  EXPECT_GE(milliseconds, 20.0f);
  EXPECT_EQ(hipEventElapsedTime(&milliseconds, event, plain), hipErrorInvalidHandle);
  HIP_OK(hipEventDestroy(end));
  HIP_OK(hipEventDestroy(plain));
  EXPECT_EQ(hipEventDestroy(plain), hipErrorInvalidHandle);
}

TEST_F(Streams, HandlesThatAreGone) {
  hipStream_t gone = nullptr;
  HIP_OK(hipStreamCreate(&gone));
  HIP_OK(hipStreamDestroy(gone));
  EXPECT_EQ(hipStreamSynchronize(gone), hipErrorInvalidHandle);
  EXPECT_EQ(hipStreamDestroy(nullptr), hipErrorInvalidHandle);
  EXPECT_EQ(hipEventRecord(reinterpret_cast<hipEvent_t>(&gone), streams[0]), hipErrorInvalidHandle);
  const auto per_thread = reinterpret_cast<hipStream_t>(2);
  std::thread([&] {
    EXPECT_EQ(hipMemsetAsync(device, 1, 4, per_thread), hipSuccess);
    EXPECT_EQ(hipStreamSynchronize(per_thread), hipSuccess);
  }).join();
}

struct HostCalls {
  hipStream_t stream;
  void* block;
  std::vector<int> codes;
  std::string name;
  static void make(void* self) {
    auto& calls = *static_cast<HostCalls*>(self);
    void* other = nullptr;
    int device = -1;
    calls.codes = {hipDeviceSynchronize(),
                   hipStreamSynchronize(calls.stream),
                   hipMemset(calls.block, 1, 4),
                   hipMemsetAsync(calls.block, 1, 4, calls.stream),
                   hipFree(calls.block),
                   hipMalloc(&other, 4),
                   hipLaunchHostFunc(calls.stream, make, self),
                   hipGetDevice(&device),
                   hipGetLastError()};
    calls.name = hipGetErrorName(calls.codes[0]);
  }
};

// "The host function must not make any HIP API calls": here they are errors, and nothing waits for itself.
TEST_F(Streams, HostFunctionsMayNotCallHip) {
  hipGetLastError();
  for (const hipStream_t stream : {streams[0], hipStream_t{nullptr}}) {
    HostCalls calls{stream, device, {}, {}}, from_callback = calls;
    HIP_OK(hipLaunchHostFunc(stream, HostCalls::make, &calls));
    HIP_OK(hipStreamAddCallback(
        stream, [](hipStream_t, int, void* data) { HostCalls::make(data); }, &from_callback, 0));
    HIP_OK(hipStreamSynchronize(stream));
    EXPECT_EQ(calls.codes, std::vector<int>(9, hipErrorNotSupported));
    EXPECT_EQ(calls.name, "hipErrorNotSupported") << "names of errors are no calls";
    EXPECT_EQ(from_callback.codes, calls.codes);
    EXPECT_EQ(hipGetLastError(), hipSuccess) << "the error is the other thread's";
  }
  HIP_OK(hipMemset(device, 1, 4));  // nothing of this is left behind
}

TEST_F(Streams, FreeWaitsForTheDevice) {
  char* block = nullptr;
  HIP_OK(hipMalloc(reinterpret_cast<void**>(&block), 64));
  std::atomic<bool> ran{false};
  HIP_OK(hipLaunchHostFunc(
      streams[0],
      [](void* flag) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        *static_cast<std::atomic<bool>*>(flag) = true;
      },
      &ran));
  HIP_OK(hipFree(block));
  EXPECT_TRUE(ran);
}

// A diamond over two streams, replayed twice.
TEST_F(Streams, CaptureAndReplay) {
  HIP_OK(hipMemset(device, 0, 256));
  HIP_OK(hipDeviceSynchronize());
  HIP_OK(hipStreamBeginCapture(streams[0], 0));
  HIP_OK(hipMemsetAsync(device, 1, 128, streams[0]));
  HIP_OK(hipEventRecord(event, streams[0]));
  HIP_OK(hipStreamWaitEvent(streams[1], event, 0));
  HIP_OK(hipMemcpyAsync(device + 128, device, 64, hipMemcpyDeviceToDevice, streams[1]));
  HIP_OK(hipMemcpyAsync(device + 192, device, 64, hipMemcpyDeviceToDevice, streams[0]));
  EXPECT_EQ(hipEventQuery(event), hipErrorCapturedEvent);
  hipEvent_t joined = nullptr;
  HIP_OK(hipEventCreate(&joined));
  HIP_OK(hipEventRecord(joined, streams[1]));
  HIP_OK(hipStreamWaitEvent(streams[0], joined, 0));
  HIP_OK(hipMemcpyAsync(pinned, device, 256, hipMemcpyDeviceToHost, streams[0]));
  int status = 0;
  HIP_OK(hipStreamIsCapturing(streams[1], &status));
  EXPECT_EQ(status, 1);
  hipGraph_t graph = nullptr;
  HIP_OK(hipStreamEndCapture(streams[0], &graph));
  HIP_OK(hipStreamIsCapturing(streams[1], &status));
  EXPECT_EQ(status, 0);
  size_t count = 0;
  HIP_OK(hipGraphGetNodes(graph, nullptr, &count));
  EXPECT_EQ(count, 4u);
  HIP_OK(hipDeviceSynchronize());
  EXPECT_EQ(pinned[0], 0) << "a capture does nothing";
  hipGraphExec_t exec = nullptr;
  HIP_OK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  HIP_OK(hipGraphDestroy(graph));
  for (int round = 0; round < 2; ++round) {
    HIP_OK(hipMemset(device, 9, 256));
    std::memset(pinned, 0, 256);
    HIP_OK(hipStreamSynchronize(nullptr));
    HIP_OK(hipGraphLaunch(exec, streams[1]));
    HIP_OK(hipStreamSynchronize(streams[1]));
    for (int i = 0; i < 256; ++i) ASSERT_EQ(pinned[i], 1) << i;
  }
  HIP_OK(hipGraphExecDestroy(exec));
  EXPECT_EQ(hipGraphLaunch(exec, streams[0]), hipErrorInvalidHandle);
  HIP_OK(hipEventDestroy(joined));
}

TEST_F(Streams, WhatACaptureForbids) {
  hipGraph_t graph = nullptr;
  EXPECT_EQ(hipStreamBeginCapture(nullptr, 0), hipErrorStreamCaptureUnsupported);
  EXPECT_EQ(hipStreamEndCapture(streams[0], &graph), hipErrorIllegalState);
  void* block = nullptr;

  HIP_OK(hipStreamBeginCapture(streams[0], 0));
  EXPECT_EQ(hipStreamBeginCapture(streams[0], 0), hipErrorIllegalState);
  EXPECT_EQ(hipMalloc(&block, 4), hipErrorStreamCaptureUnsupported);
  EXPECT_EQ(hipStreamEndCapture(streams[0], &graph), hipErrorStreamCaptureInvalidated);

  HIP_OK(hipStreamBeginCapture(streams[0], 2));  // relaxed
  HIP_OK(hipMalloc(&block, 4));
  HIP_OK(hipFree(block));
  EXPECT_EQ(hipStreamSynchronize(streams[0]), hipErrorStreamCaptureUnsupported);
  EXPECT_EQ(hipStreamEndCapture(streams[0], &graph), hipErrorStreamCaptureInvalidated);

  HIP_OK(hipEventRecord(event, streams[1]));
  HIP_OK(hipStreamBeginCapture(streams[0], 0));
  EXPECT_EQ(hipStreamWaitEvent(streams[0], event, 0), hipErrorStreamCaptureIsolation);
  EXPECT_EQ(hipStreamEndCapture(streams[0], &graph), hipErrorStreamCaptureInvalidated);

  HIP_OK(hipStreamBeginCapture(streams[0], 0));
  HIP_OK(hipEventRecord(event, streams[0]));
  HIP_OK(hipStreamWaitEvent(streams[1], event, 0));
  HIP_OK(hipMemsetAsync(device, 1, 4, streams[1]));
  EXPECT_EQ(hipStreamEndCapture(streams[1], &graph), hipErrorStreamCaptureUnmatched);
  EXPECT_EQ(hipStreamEndCapture(streams[0], &graph), hipErrorStreamCaptureUnjoined);
  EXPECT_EQ(graph, nullptr);

  HIP_OK(hipStreamBeginCapture(blocking, 0));
  EXPECT_EQ(hipMemsetAsync(device, 1, 4, nullptr), hipErrorStreamCaptureImplicit);
  EXPECT_EQ(hipStreamEndCapture(blocking, &graph), hipErrorStreamCaptureInvalidated);

  HIP_OK(hipStreamBeginCapture(streams[0], 0));
  HIP_OK(hipStreamBeginCapture(streams[1], 0));
  HIP_OK(hipEventRecord(event, streams[0]));
  EXPECT_EQ(hipStreamWaitEvent(streams[1], event, 0), hipErrorStreamCaptureMerge);
  EXPECT_EQ(hipStreamEndCapture(streams[0], &graph), hipErrorStreamCaptureInvalidated);
  EXPECT_EQ(hipStreamEndCapture(streams[1], &graph), hipErrorStreamCaptureInvalidated);
  hipGetLastError();
}

// A thread's own stream goes with the thread, also in the middle of a capture.
TEST_F(Streams, AThreadEndsInACapture) {
  const auto per_thread = reinterpret_cast<hipStream_t>(2);
  int status = -1;
  // The capture began in the thread's stream, and another one joined it.
  std::thread([&] {
    EXPECT_EQ(hipStreamBeginCapture(per_thread, 2), hipSuccess);
    EXPECT_EQ(hipEventRecord(event, per_thread), hipSuccess);
    EXPECT_EQ(hipStreamWaitEvent(streams[0], event, 0), hipSuccess);
    EXPECT_EQ(hipMemsetAsync(device, 1, 4, streams[0]), hipSuccess);
  }).join();
  HIP_OK(hipStreamIsCapturing(streams[0], &status));
  EXPECT_EQ(status, 0) << "the capture ended with the stream it began in";
  HIP_OK(hipMemsetAsync(device, 1, 4, nullptr));
  HIP_OK(hipMemsetAsync(device + 4, 1, 4, streams[0]));
  // The thread's stream joined, and what it did was waited for.
  hipGraph_t graph = nullptr;
  HIP_OK(hipStreamBeginCapture(streams[0], 2));
  HIP_OK(hipEventRecord(event, streams[0]));
  std::thread([&] {
    EXPECT_EQ(hipStreamWaitEvent(per_thread, event, 0), hipSuccess);
    EXPECT_EQ(hipMemsetAsync(device, 1, 4, per_thread), hipSuccess);
    EXPECT_EQ(hipEventRecord(event, per_thread), hipSuccess);
    EXPECT_EQ(hipStreamWaitEvent(streams[0], event, 0), hipSuccess);
  }).join();
  HIP_OK(hipStreamIsCapturing(streams[0], &status));
  EXPECT_EQ(status, 2) << "as when a stream is destroyed in a capture";
  EXPECT_EQ(hipStreamEndCapture(streams[0], &graph), hipErrorStreamCaptureInvalidated);
  hipGetLastError();
}

// A thread that ends waits for nothing, and what it asked for is still done.
TEST_F(Streams, WorkOfAThreadThatHasEnded) {
  const auto per_thread = reinterpret_cast<hipStream_t>(2);
  Gate gate;
  HIP_OK(hipMemset(device, 0, 256));
  HIP_OK(hipDeviceSynchronize());
  std::thread([&] {
    gate.close_on(per_thread);
    EXPECT_EQ(hipMemsetAsync(device, 6, 256, per_thread), hipSuccess);
  }).join();
  HIP_OK(hipMemcpyAsync(pinned, device, 256, hipMemcpyDeviceToHost, nullptr));
  EXPECT_EQ(hipStreamQuery(nullptr), hipErrorNotReady) << "the null stream waits for it";
  gate.open();
  HIP_OK(hipDeviceSynchronize());
  EXPECT_EQ(pinned[255], 6);
}

TEST_F(Streams, ManyStreamsManyThreads) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([t] {
      hipStream_t stream = nullptr;
      int* block = nullptr;
      ASSERT_EQ(hipStreamCreateWithFlags(&stream, static_cast<unsigned>(t % 2)), hipSuccess);
      ASSERT_EQ(hipMalloc(reinterpret_cast<void**>(&block), 400), hipSuccess);
      for (int round = 0; round < 50; ++round) {
        int value = 0;
        ASSERT_EQ(hipMemsetD32Async(block, round * 4 + t, 100, stream), hipSuccess);
        ASSERT_EQ(hipMemcpyAsync(&value, block + 99, 4, hipMemcpyDeviceToHost, stream), hipSuccess);
        ASSERT_EQ(value, round * 4 + t);
      }
      ASSERT_EQ(hipFree(block), hipSuccess);
      ASSERT_EQ(hipStreamDestroy(stream), hipSuccess);
    });
  for (auto& thread : threads) thread.join();
}

}  // namespace
