// SPDX-License-Identifier: Apache-2.0
// The exported functions as a program without HIP's headers would declare them.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>

using hipStream_t = struct TestStream*;
using hipEvent_t = struct TestEvent*;
using hipModule_t = struct TestModule*;
using hipFunction_t = struct TestFunction*;
using hipGraph_t = struct TestGraph*;
using hipGraphExec_t = struct TestGraphExec*;
using hipGraphNode_t = struct TestGraphNode*;
using hipMemPool_t = struct TestPool*;
struct dim3 {
  unsigned x = 1, y = 1, z = 1;
};
struct hipKernelNodeParams {
  dim3 blockDim;
  void** extra;
  void* func;
  dim3 gridDim;
  void** kernelParams;
  unsigned sharedMemBytes;
};
struct hipMemPoolProps {
  int allocType, handleTypes, locationType, location;
  void* security;
  unsigned char reserved[64];
};
struct hipPointerAttribute_t {
  int type, device;
  void *devicePointer, *hostPointer;
  int isManaged;
  unsigned allocationFlags;
};

enum {
  hipMemcpyHostToHost,
  hipMemcpyHostToDevice,
  hipMemcpyDeviceToHost,
  hipMemcpyDeviceToDevice,
  hipMemcpyDefault
};
enum {
  hipSuccess = 0,
  hipErrorInvalidValue = 1,
  hipErrorOutOfMemory = 2,
  hipErrorInvalidConfiguration = 9,
  hipErrorInvalidPitchValue = 12,
  hipErrorInvalidDeviceFunction = 98,
  hipErrorInvalidDevice = 101,
  hipErrorInvalidImage = 200,
  hipErrorNoBinaryForGpu = 209,
  hipErrorFileNotFound = 301,
  hipErrorInvalidHandle = 400,
  hipErrorIllegalState = 401,
  hipErrorNotFound = 500,
  hipErrorNotReady = 600,
  hipErrorIllegalAddress = 700,
  hipErrorPeerAccessAlreadyEnabled = 704,
  hipErrorPeerAccessNotEnabled = 705,
  hipErrorHostMemoryAlreadyRegistered = 712,
  hipErrorHostMemoryNotRegistered = 713,
  hipErrorLaunchFailure = 719,
  hipErrorCooperativeLaunchTooLarge = 720,
  hipErrorNotSupported = 801,
  hipErrorStreamCaptureUnsupported = 900,
  hipErrorStreamCaptureInvalidated = 901,
  hipErrorStreamCaptureMerge = 902,
  hipErrorStreamCaptureUnmatched = 903,
  hipErrorStreamCaptureUnjoined = 904,
  hipErrorStreamCaptureIsolation = 905,
  hipErrorStreamCaptureImplicit = 906,
  hipErrorCapturedEvent = 907,
  hipErrorGraphExecUpdateFailure = 910,
};
enum : unsigned { hipStreamNonBlocking = 1, hipEventDisableTiming = 2 };

extern "C" {
int hipInit(unsigned);
int hipGetDeviceCount(int*);
int hipGetDevice(int*);
int hipSetDevice(int);
int hipDeviceGetName(char*, int, int);
int hipDeviceGetAttribute(int*, int, int);
int hipDeviceTotalMem(size_t*, int);
int hipGetDeviceProperties(void*, int);
int hipGetDevicePropertiesR0600(void*, int);
int hipDriverGetVersion(int*);
int hipDeviceSynchronize();
int hipDeviceReset();
int hipDeviceGetLimit(size_t*, int);
int hipDeviceSetLimit(int, size_t);
int hipMemGetInfo(size_t*, size_t*);
const char* hipGetErrorName(int);
const char* hipGetErrorString(int);
int hipGetLastError();
int hipPeekAtLastError();
int hipMalloc(void**, size_t);
int hipFree(void*);
int hipMallocPitch(void**, size_t*, size_t, size_t);
int hipMallocManaged(void**, size_t, unsigned);
int hipHostMalloc(void**, size_t, unsigned);
int hipHostFree(void*);
int hipHostRegister(void*, size_t, unsigned);
int hipHostUnregister(void*);
int hipPointerGetAttributes(hipPointerAttribute_t*, const void*);
int hipMemGetAddressRange(void**, size_t*, void*);
int hipMemPrefetchAsync(const void*, size_t, int, hipStream_t);
int hipMemAdvise(const void*, size_t, int, int);
int hipMallocAsync(void**, size_t, hipStream_t);
int hipFreeAsync(void*, hipStream_t);
int hipMemPoolCreate(hipMemPool_t*, const hipMemPoolProps*);
int hipMemPoolDestroy(hipMemPool_t);
int hipMallocFromPoolAsync(void**, size_t, hipMemPool_t, hipStream_t);
int hipMemPoolGetAttribute(hipMemPool_t, int, void*);
int hipDeviceGetDefaultMemPool(hipMemPool_t*, int);
int hipMemcpy(void*, const void*, size_t, int);
int hipMemcpyAsync(void*, const void*, size_t, int, hipStream_t);
int hipMemcpyPeer(void*, int, const void*, int, size_t);
int hipMemcpy2D(void*, size_t, const void*, size_t, size_t, size_t, int);
int hipMemcpy2DAsync(void*, size_t, const void*, size_t, size_t, size_t, int, hipStream_t);
int hipMemset(void*, int, size_t);
int hipMemsetAsync(void*, int, size_t, hipStream_t);
int hipMemsetD16(void*, unsigned short, size_t);
int hipMemsetD32Async(void*, int, size_t, hipStream_t);
int hipMemset2D(void*, size_t, int, size_t, size_t);
int hipStreamCreate(hipStream_t*);
int hipStreamCreateWithFlags(hipStream_t*, unsigned);
int hipStreamDestroy(hipStream_t);
int hipStreamSynchronize(hipStream_t);
int hipStreamQuery(hipStream_t);
int hipStreamWaitEvent(hipStream_t, hipEvent_t, unsigned);
int hipLaunchHostFunc(hipStream_t, void (*)(void*), void*);
int hipStreamAddCallback(hipStream_t, void (*)(hipStream_t, int, void*), void*, unsigned);
int hipEventCreate(hipEvent_t*);
int hipEventCreateWithFlags(hipEvent_t*, unsigned);
int hipEventDestroy(hipEvent_t);
int hipEventRecord(hipEvent_t, hipStream_t);
int hipEventSynchronize(hipEvent_t);
int hipEventQuery(hipEvent_t);
int hipEventElapsedTime(float*, hipEvent_t, hipEvent_t);
int hipModuleLoad(hipModule_t*, const char*);
int hipModuleLoadData(hipModule_t*, const void*);
int hipModuleUnload(hipModule_t);
int hipModuleGetFunction(hipFunction_t*, hipModule_t, const char*);
int hipModuleGetGlobal(void**, size_t*, hipModule_t, const char*);
int hipModuleLaunchKernel(hipFunction_t, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                          hipStream_t, void**, void**);
int hipModuleLaunchCooperativeKernel(hipFunction_t, unsigned, unsigned, unsigned, unsigned, unsigned,
                                     unsigned, unsigned, hipStream_t, void**);
int hipFuncGetAttribute(int*, int, hipFunction_t);
int hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int*, hipFunction_t, int, size_t);
int hipModuleOccupancyMaxPotentialBlockSize(int*, int*, hipFunction_t, size_t, int);
int hipDeviceCanAccessPeer(int*, int, int);
int hipDeviceEnablePeerAccess(int, unsigned);
int hipDeviceDisablePeerAccess(int);
int hipStreamBeginCapture(hipStream_t, int);
int hipStreamEndCapture(hipStream_t, hipGraph_t*);
int hipStreamIsCapturing(hipStream_t, int*);
int hipGraphCreate(hipGraph_t*, unsigned);
int hipGraphInstantiate(hipGraphExec_t*, hipGraph_t, hipGraphNode_t*, char*, size_t);
int hipGraphLaunch(hipGraphExec_t, hipStream_t);
int hipGraphExecDestroy(hipGraphExec_t);
int hipGraphDestroy(hipGraph_t);
int hipGraphGetNodes(hipGraph_t, hipGraphNode_t*, size_t*);
int hipGraphNodeGetType(hipGraphNode_t, int*);
int hipGraphExecUpdate(hipGraphExec_t, hipGraph_t, hipGraphNode_t*, int*);
int hipGraphAddKernelNode(hipGraphNode_t*, hipGraph_t, const hipGraphNode_t*, size_t,
                          const hipKernelNodeParams*);
int hipGraphAddMemcpyNode1D(hipGraphNode_t*, hipGraph_t, const hipGraphNode_t*, size_t, void*, const void*,
                            size_t, int);
}

#define HIP_OK(call) ASSERT_EQ(call, hipSuccess) << hipGetErrorName(hipPeekAtLastError())

namespace emu::test {

/// For kernels whose waves touch the same memory at the same time, by atomics or by mistake: that is not for
/// the thread sanitizer to judge.
#ifdef __SANITIZE_THREAD__
inline constexpr const char* kThreadsOfRacyKernels = "1";
#else
inline constexpr const char* kThreadsOfRacyKernels = "2";
#endif

/// Sets the environment before the first HIP call of this program; every test file names its devices here.
struct Environment {
  explicit Environment(const char* devices, const char* check = "bounds", const char* threads = "2");
};

/// A host function that holds up a stream until it is told to go on.
class Gate {
 public:
  ~Gate() { open(); }
  void close_on(hipStream_t stream) { EXPECT_EQ(hipLaunchHostFunc(stream, wait, this), hipSuccess); }
  void open();

 private:
  static void wait(void* gate);
  int open_ = 0;
};

}  // namespace emu::test
