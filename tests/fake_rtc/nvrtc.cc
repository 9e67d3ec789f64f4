// SPDX-License-Identifier: Apache-2.0
// The stand-in for libnvrtc: every row of rtc_api.def, with the row's parameters. Compiling any source gives
// the result that FAKE_NVRTC_RESULT says, and where that is 0, PTX with one kernel, stand_in. Results are
// numbered as in docs.nvidia.com/cuda/nvrtc, "Error Handling".
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string_view>

#define BW_FAKE_EXPORT extern "C" __attribute__((visibility("default")))

#define BW_RTC(name, nvrtc, hiprtc, parameters) BW_FAKE_EXPORT int nvrtc parameters;
#include "backends/gpu/rtc/rtc_api.def"
BW_FAKE_EXPORT const char* nvrtcGetErrorString(int result);

namespace {

constexpr std::string_view kLog = "what the stand-in says";
constexpr std::string_view kCode = ".version 7.8\n.target sm_80\n.visible .entry stand_in() { ret; }\n";

int program;  // its address is every program

// Texts end with a zero byte, which counts.
int give_size(size_t* bytes, std::string_view text) {
  *bytes = text.size() + 1;
  return 0;
}
int give(char* out, std::string_view text) {
  std::memcpy(out, text.data(), text.size());
  out[text.size()] = 0;
  return 0;
}

}  // namespace

int nvrtcVersion(int* major, int* minor) {
  *major = 13;
  *minor = 0;
  return 0;
}
int nvrtcCreateProgram(void** out, const char*, const char*, int, const char* const*, const char* const*) {
  *out = &program;
  return 0;
}
int nvrtcDestroyProgram(void** owned) {
  *owned = nullptr;
  return 0;
}
int nvrtcCompileProgram(void*, int, const char* const*) {
  const char* result = std::getenv("FAKE_NVRTC_RESULT");
  return result == nullptr ? 0 : std::atoi(result);
}
int nvrtcGetProgramLogSize(void*, size_t* bytes) { return give_size(bytes, kLog); }
int nvrtcGetProgramLog(void*, char* log) { return give(log, kLog); }
int nvrtcGetPTXSize(void*, size_t* bytes) { return give_size(bytes, kCode); }
int nvrtcGetPTX(void*, char* code) { return give(code, kCode); }
const char* nvrtcGetErrorString(int result) {
  switch (result) {
    case 0:
      return "NVRTC_SUCCESS";
    case 1:
      return "NVRTC_ERROR_OUT_OF_MEMORY";
    case 6:
      return "NVRTC_ERROR_COMPILATION";
    case 7:
      return "NVRTC_ERROR_BUILTIN_OPERATION_FAILURE";
    default:
      return "NVRTC_ERROR unknown";
  }
}
