// SPDX-License-Identifier: Apache-2.0
// The names that `-fgpu-default-stream=per-thread` makes of HIP's functions: no stream means the thread's own
// one.
#include "emu/hip/abi.h"

using namespace emu::hip;

extern "C" {
int hipMemcpyWithStream(void*, const void*, size_t, int, StreamHandle);
int hipMemcpyAsync(void*, const void*, size_t, int, StreamHandle);
int hipMemcpy2DAsync(void*, size_t, const void*, size_t, size_t, size_t, int, StreamHandle);
int hipMemcpyToSymbolAsync(const void*, const void*, size_t, size_t, int, StreamHandle);
int hipMemcpyFromSymbolAsync(void*, const void*, size_t, size_t, int, StreamHandle);
int hipMemsetAsync(void*, int, size_t, StreamHandle);
int hipMemset2DAsync(void*, size_t, int, size_t, size_t, StreamHandle);
int hipStreamSynchronize(StreamHandle);
int hipStreamQuery(StreamHandle);
int hipStreamGetFlags(StreamHandle, unsigned*);
int hipStreamGetPriority(StreamHandle, int*);
int hipStreamWaitEvent(StreamHandle, Event*, unsigned);
int hipEventRecord(Event*, StreamHandle);
int hipLaunchKernel(const void*, Dim3, Dim3, void**, size_t, StreamHandle);
int hipLaunchCooperativeKernel(const void*, Dim3, Dim3, void**, unsigned, StreamHandle);
int hipLaunchHostFunc(StreamHandle, void (*)(void*), void*);
int hipGraphLaunch(GraphExec*, StreamHandle);
int hipStreamBeginCapture(StreamHandle, int);
int hipStreamEndCapture(StreamHandle, Graph**);
int hipStreamIsCapturing(StreamHandle, int*);
}

namespace {

StreamHandle own(StreamHandle stream) {
  return stream != nullptr ? stream : reinterpret_cast<StreamHandle>(uintptr_t{kPerThreadStream});
}

// What began without an error is waited for.
int finish(int code) { return code != hipSuccess ? code : hipStreamSynchronize(own(nullptr)); }

}  // namespace

EMU_API int hipMemcpy_spt(void* to, const void* from, size_t bytes, int kind) {
  return hipMemcpyWithStream(to, from, bytes, kind, own(nullptr));
}
EMU_API int hipMemcpyAsync_spt(void* to, const void* from, size_t bytes, int kind, StreamHandle stream) {
  return hipMemcpyAsync(to, from, bytes, kind, own(stream));
}
EMU_API int hipMemcpy2D_spt(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                            size_t height, int kind) {
  return finish(hipMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind, own(nullptr)));
}
EMU_API int hipMemcpy2DAsync_spt(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                                 size_t height, int kind, StreamHandle stream) {
  return hipMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind, own(stream));
}
EMU_API int hipMemcpyToSymbol_spt(const void* symbol, const void* from, size_t bytes, size_t offset,
                                  int kind) {
  return finish(hipMemcpyToSymbolAsync(symbol, from, bytes, offset, kind, own(nullptr)));
}
EMU_API int hipMemcpyFromSymbol_spt(void* to, const void* symbol, size_t bytes, size_t offset, int kind) {
  return finish(hipMemcpyFromSymbolAsync(to, symbol, bytes, offset, kind, own(nullptr)));
}
EMU_API int hipMemset_spt(void* to, int value, size_t bytes) {
  return finish(hipMemsetAsync(to, value, bytes, own(nullptr)));
}
EMU_API int hipMemsetAsync_spt(void* to, int value, size_t bytes, StreamHandle stream) {
  return hipMemsetAsync(to, value, bytes, own(stream));
}
EMU_API int hipMemset2D_spt(void* to, size_t pitch, int value, size_t width, size_t height) {
  return finish(hipMemset2DAsync(to, pitch, value, width, height, own(nullptr)));
}
EMU_API int hipStreamSynchronize_spt(StreamHandle stream) { return hipStreamSynchronize(own(stream)); }
EMU_API int hipStreamQuery_spt(StreamHandle stream) { return hipStreamQuery(own(stream)); }
EMU_API int hipStreamGetFlags_spt(StreamHandle stream, unsigned* flags) {
  return hipStreamGetFlags(own(stream), flags);
}
EMU_API int hipStreamGetPriority_spt(StreamHandle stream, int* priority) {
  return hipStreamGetPriority(own(stream), priority);
}
EMU_API int hipStreamWaitEvent_spt(StreamHandle stream, Event* event, unsigned flags) {
  return hipStreamWaitEvent(own(stream), event, flags);
}
EMU_API int hipEventRecord_spt(Event* event, StreamHandle stream) {
  return hipEventRecord(event, own(stream));
}
EMU_API int hipLaunchKernel_spt(const void* host, Dim3 grid, Dim3 block, void** params, size_t shared,
                                StreamHandle stream) {
  return hipLaunchKernel(host, grid, block, params, shared, own(stream));
}
EMU_API int hipLaunchCooperativeKernel_spt(const void* host, Dim3 grid, Dim3 block, void** params,
                                           unsigned shared, StreamHandle stream) {
  return hipLaunchCooperativeKernel(host, grid, block, params, shared, own(stream));
}
EMU_API int hipLaunchHostFunc_spt(StreamHandle stream, void (*function)(void*), void* data) {
  return hipLaunchHostFunc(own(stream), function, data);
}
EMU_API int hipGraphLaunch_spt(GraphExec* exec, StreamHandle stream) {
  return hipGraphLaunch(exec, own(stream));
}
EMU_API int hipStreamBeginCapture_spt(StreamHandle stream, int mode) {
  return hipStreamBeginCapture(own(stream), mode);
}
EMU_API int hipStreamEndCapture_spt(StreamHandle stream, Graph** graph) {
  return hipStreamEndCapture(own(stream), graph);
}
EMU_API int hipStreamIsCapturing_spt(StreamHandle stream, int* status) {
  return hipStreamIsCapturing(own(stream), status);
}
