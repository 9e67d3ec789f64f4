// SPDX-License-Identifier: Apache-2.0
// hipDeviceProp_t in its two published layouts, and hipDeviceAttribute_t. Both stay as they are for binaries'
// sake.
#pragma once

#include <cstddef>
#include <cstdint>

namespace emu::hip {

/// ROCm 5: what hipGetDeviceProperties fills.
struct PropertiesRocm5 {
  char name[256];
  size_t totalGlobalMem, sharedMemPerBlock;
  int regsPerBlock, warpSize, maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3];
  int clockRate, memoryClockRate, memoryBusWidth;
  size_t totalConstMem;
  int major, minor, multiProcessorCount, l2CacheSize, maxThreadsPerMultiProcessor, computeMode,
      clockInstructionRate;
  uint32_t arch;
  int concurrentKernels, pciDomainID, pciBusID, pciDeviceID;
  size_t maxSharedMemoryPerMultiProcessor;
  int isMultiGpuBoard, canMapHostMemory, gcnArch;
  char gcnArchName[256];
  int integrated, cooperativeLaunch, cooperativeMultiDeviceLaunch;
  int maxTexture1DLinear, maxTexture1D, maxTexture2D[2], maxTexture3D[3];
  uint32_t *hdpMemFlushCntl, *hdpRegFlushCntl;
  size_t memPitch, textureAlignment, texturePitchAlignment;
  int kernelExecTimeoutEnabled, ECCEnabled, tccDriver;
  int cooperativeMultiDeviceUnmatchedFunc, cooperativeMultiDeviceUnmatchedGridDim;
  int cooperativeMultiDeviceUnmatchedBlockDim, cooperativeMultiDeviceUnmatchedSharedMem;
  int isLargeBar, asicRevision, managedMemory, directManagedMemAccessFromHost, concurrentManagedAccess;
  int pageableMemoryAccess, pageableMemoryAccessUsesHostPageTables;
};
static_assert(sizeof(PropertiesRocm5) == 792 && offsetof(PropertiesRocm5, gcnArchName) == 396);
static_assert(offsetof(PropertiesRocm5, warpSize) == 276 &&
              offsetof(PropertiesRocm5, multiProcessorCount) == 336);

/// ROCm 6 and 7: what hipGetDevicePropertiesR0600 fills.
struct PropertiesRocm6 {
  char name[256];
  char uuid[16], luid[8];
  unsigned luidDeviceNodeMask;
  size_t totalGlobalMem, sharedMemPerBlock;
  int regsPerBlock, warpSize;
  size_t memPitch;
  int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], clockRate;
  size_t totalConstMem;
  int major, minor;
  size_t textureAlignment, texturePitchAlignment;
  int deviceOverlap, multiProcessorCount, kernelExecTimeoutEnabled, integrated, canMapHostMemory, computeMode;
  int maxTexture1D, maxTexture1DMipmap, maxTexture1DLinear, maxTexture2D[2], maxTexture2DMipmap[2],
      maxTexture2DLinear[3];
  int maxTexture2DGather[2], maxTexture3D[3], maxTexture3DAlt[3], maxTextureCubemap, maxTexture1DLayered[2];
  int maxTexture2DLayered[3], maxTextureCubemapLayered[2];
  int maxSurface1D, maxSurface2D[2], maxSurface3D[3], maxSurface1DLayered[2], maxSurface2DLayered[3];
  int maxSurfaceCubemap, maxSurfaceCubemapLayered[2];
  size_t surfaceAlignment;
  int concurrentKernels, ECCEnabled, pciBusID, pciDeviceID, pciDomainID, tccDriver, asyncEngineCount,
      unifiedAddressing;
  int memoryClockRate, memoryBusWidth, l2CacheSize, persistingL2CacheMaxSize, maxThreadsPerMultiProcessor;
  int streamPrioritiesSupported, globalL1CacheSupported, localL1CacheSupported;
  size_t sharedMemPerMultiprocessor;
  int regsPerMultiprocessor, managedMemory, isMultiGpuBoard, multiGpuBoardGroupID, hostNativeAtomicSupported;
  int singleToDoublePrecisionPerfRatio, pageableMemoryAccess, concurrentManagedAccess,
      computePreemptionSupported;
  int canUseHostPointerForRegisteredMem, cooperativeLaunch, cooperativeMultiDeviceLaunch;
  size_t sharedMemPerBlockOptin;
  int pageableMemoryAccessUsesHostPageTables, directManagedMemAccessFromHost, maxBlocksPerMultiProcessor;
  int accessPolicyMaxWindowSize;
  size_t reservedSharedMemPerBlock;
  int hostRegisterSupported, sparseHipArraySupported, hostRegisterReadOnlySupported,
      timelineSemaphoreInteropSupported;
  int memoryPoolsSupported, gpuDirectRDMASupported;
  unsigned gpuDirectRDMAFlushWritesOptions;
  int gpuDirectRDMAWritesOrdering;
  unsigned memoryPoolSupportedHandleTypes;
  int deferredMappingHipArraySupported, ipcEventSupported, clusterLaunch, unifiedFunctionPointers;
  int reserved[63], hipReserved[32];
  char gcnArchName[256];
  size_t maxSharedMemoryPerMultiProcessor;
  int clockInstructionRate;
  uint32_t arch;
  uint32_t *hdpMemFlushCntl, *hdpRegFlushCntl;
  int cooperativeMultiDeviceUnmatchedFunc, cooperativeMultiDeviceUnmatchedGridDim;
  int cooperativeMultiDeviceUnmatchedBlockDim, cooperativeMultiDeviceUnmatchedSharedMem;
  int isLargeBar, asicRevision;
};
static_assert(sizeof(PropertiesRocm6) == 1472 && offsetof(PropertiesRocm6, gcnArchName) == 1160);
static_assert(offsetof(PropertiesRocm6, totalGlobalMem) == 288 && offsetof(PropertiesRocm6, warpSize) == 308);
static_assert(offsetof(PropertiesRocm6, multiProcessorCount) == 388);

/// hipDeviceAttribute_t, in the published order; only those that are answered have a use here.
enum DeviceAttribute : int {
  kEccEnabled,
  kAccessPolicyMaxWindowSize,
  kAsyncEngineCount,
  kCanMapHostMemory,
  kCanUseHostPointerForRegisteredMem,
  kClockRate,
  kComputeMode,
  kComputePreemptionSupported,
  kConcurrentKernels,
  kConcurrentManagedAccess,
  kCooperativeLaunch,
  kCooperativeMultiDeviceLaunch,
  kDeviceOverlap,
  kDirectManagedMemAccessFromHost,
  kGlobalL1CacheSupported,
  kHostNativeAtomicSupported,
  kIntegrated,
  kIsMultiGpuBoard,
  kKernelExecTimeout,
  kL2CacheSize,
  kLocalL1CacheSupported,
  kLuid,
  kLuidDeviceNodeMask,
  kComputeCapabilityMajor,
  kManagedMemory,
  kMaxBlocksPerMultiProcessor,
  kMaxBlockDimX,
  kMaxBlockDimY,
  kMaxBlockDimZ,
  kMaxGridDimX,
  kMaxGridDimY,
  kMaxGridDimZ,
  kMaxSurface1D,
  kMaxSurface1DLayered,
  kMaxSurface2D,
  kMaxSurface2DLayered,
  kMaxSurface3D,
  kMaxSurfaceCubemap,
  kMaxSurfaceCubemapLayered,
  kMaxTexture1DWidth,
  kMaxTexture1DLayered,
  kMaxTexture1DLinear,
  kMaxTexture1DMipmap,
  kMaxTexture2DWidth,
  kMaxTexture2DHeight,
  kMaxTexture2DGather,
  kMaxTexture2DLayered,
  kMaxTexture2DLinear,
  kMaxTexture2DMipmap,
  kMaxTexture3DWidth,
  kMaxTexture3DHeight,
  kMaxTexture3DDepth,
  kMaxTexture3DAlt,
  kMaxTextureCubemap,
  kMaxTextureCubemapLayered,
  kMaxThreadsDim,
  kMaxThreadsPerBlock,
  kMaxThreadsPerMultiProcessor,
  kMaxPitch,
  kMemoryBusWidth,
  kMemoryClockRate,
  kComputeCapabilityMinor,
  kMultiGpuBoardGroupId,
  kMultiprocessorCount,
  kName,
  kPageableMemoryAccess,
  kPageableMemoryAccessUsesHostPageTables,
  kPciBusId,
  kPciDeviceId,
  kPciDomainId,
  kPersistingL2CacheMaxSize,
  kMaxRegistersPerBlock,
  kMaxRegistersPerMultiprocessor,
  kReservedSharedMemPerBlock,
  kMaxSharedMemoryPerBlock,
  kSharedMemPerBlockOptin,
  kSharedMemPerMultiprocessor,
  kSingleToDoublePrecisionPerfRatio,
  kStreamPrioritiesSupported,
  kSurfaceAlignment,
  kTccDriver,
  kTextureAlignment,
  kTexturePitchAlignment,
  kTotalConstantMemory,
  kTotalGlobalMem,
  kUnifiedAddressing,
  kUuid,
  kWarpSize,
  kMemoryPoolsSupported,
  kVirtualMemoryManagementSupported,
  kHostRegisterSupported,
  kMemoryPoolSupportedHandleTypes,
  kClockInstructionRate = 10000,
  kArch,
  kMaxSharedMemoryPerMultiprocessor,
  kGcnArch,
  kGcnArchName,
  kHdpMemFlushCntl,
  kHdpRegFlushCntl,
  kUnmatchedFunc,
  kUnmatchedGridDim,
  kUnmatchedBlockDim,
  kUnmatchedSharedMem,
  kIsLargeBar,
  kAsicRevision,
  kCanUseStreamWaitValue,
  kImageSupport,
  kPhysicalMultiProcessorCount,
  kFineGrainSupport,
  kWallClockRate,
};

}  // namespace emu::hip
