// SPDX-License-Identifier: Apache-2.0
#include "emu/support/compile.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string_view>

namespace emu::test {

const char* const kDialect = R"(
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __launch_bounds__(n) __attribute__((amdgpu_flat_work_group_size(1, n)))
using uint32_t = unsigned; using int32_t = int; using uint64_t = unsigned long long; using int64_t = long long;
static __device__ inline int thread_x() { return __builtin_amdgcn_workitem_id_x(); }
static __device__ inline int block_x() { return __builtin_amdgcn_workgroup_id_x(); }
static __device__ inline int block_size_x() { return __builtin_amdgcn_workgroup_size_x(); }
static __device__ inline int global_x() { return block_x() * block_size_x() + thread_x(); }
static __device__ inline void barrier() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
)";

bool has_clang() { return !std::string_view(EMU_CLANG).empty(); }

std::string output_of(const std::string& command) {
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot run " + command);
  std::string text;
  char buffer[4096];
  for (size_t got; (got = fread(buffer, 1, sizeof buffer, pipe)) > 0;) text.append(buffer, got);
  if (pclose(pipe) != 0) throw std::runtime_error(command + "\n" + text);
  return text;
}

TemporaryFile::TemporaryFile(const std::string& suffix, const std::vector<std::byte>& bytes) {
  static std::atomic<int> count{0};
  const char* folder = std::getenv("TMPDIR");
  path_ = std::string(folder != nullptr ? folder : P_tmpdir) + "/emu_test_" + std::to_string(getpid()) + "_" +
          std::to_string(count++) + suffix;
  std::ofstream file(path_, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!file.flush()) throw std::runtime_error("cannot write " + path_);
}

TemporaryFile::~TemporaryFile() { std::remove(path_.c_str()); }

const std::vector<std::byte>& compile(const std::string& source, const std::string& chip,
                                      const std::string& options) {
  static std::mutex mutex;
  static std::map<std::array<std::string, 3>, std::vector<std::byte>> objects;
  const std::lock_guard lock(mutex);
  std::vector<std::byte>& object = objects[{source, chip, options}];
  if (!object.empty()) return object;
  const std::string text = kDialect + source;
  const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
  const TemporaryFile input(".hip", {bytes, bytes + text.size()}), output(".hsaco", {});
  output_of(std::string(EMU_CLANG) + " -x hip --cuda-device-only --offload-arch=" + chip +
            " -nogpuinc -nogpulib -O3 -std=c++20 -ffp-contract=off -fdeclspec --no-gpu-bundle-output "
            "-mcode-object-version=5 " +
            options + " " + input.path() + " -o " + output.path() + " 2>&1");
  std::ifstream file(output.path(), std::ios::binary);
  const std::string read{std::istreambuf_iterator<char>(file), {}};
  const auto* start = reinterpret_cast<const std::byte*>(read.data());
  object.assign(start, start + read.size());
  return object;
}

}  // namespace emu::test
