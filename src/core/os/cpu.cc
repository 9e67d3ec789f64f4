// SPDX-License-Identifier: Apache-2.0
#include "core/os/cpu.h"

#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <set>

#include "core/fail.h"

namespace beeswax::os {
namespace {

// Processors that share a core have the same thread_siblings line.
int physical_cores(const cpu_set_t& allowed) {
  std::set<std::string> cores;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(static_cast<size_t>(cpu), &allowed)) continue;
    std::ifstream file("/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/thread_siblings");
    std::string siblings;
    if (!(file >> siblings)) siblings = "cpu" + std::to_string(cpu);
    cores.insert(siblings);
  }
  return static_cast<int>(cores.size());
}

}  // namespace

int default_threads() {
  if (const char* text = std::getenv("BEESWAX_THREADS"); text != nullptr && *text != '\0') {
    int threads = 0;
    const char* end = text + std::strlen(text);
    const auto [stop, error] = std::from_chars(text, end, threads);
    if (error != std::errc() || stop != end || threads < 1 || threads > 1024)
      fail(ErrorKind::InvalidArgument, "threads", "BEESWAX_THREADS=", text,
           " is not a number from 1 to 1024");
    return threads;
  }
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return 1;
  return std::max(1, physical_cores(allowed));
}

std::string cpu_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  utsname name{};
  return uname(&name) == 0 ? name.machine : "unknown";
}

int current_processor() { return sched_getcpu(); }

bool may_use_tiles() {
#if defined(__linux__) && defined(__x86_64__)
  // ARCH_REQ_XCOMP_PERM, which Linux has since 5.16, for the state that holds tiles.
  constexpr int64_t kAskForState = 0x1023, kTiles = 18;
  return syscall(SYS_arch_prctl, kAskForState, kTiles) == 0;
#else
  return false;
#endif
}

ProcessorSet ProcessorSet::of_thread(int id) {
  ProcessorSet set;
  static_assert(sizeof(set.words_) == sizeof(cpu_set_t));
  cpu_set_t allowed;
  if (sched_getaffinity(id, sizeof(allowed), &allowed) == 0)
    std::memcpy(set.words_.data(), &allowed, sizeof(allowed));
  return set;
}

ProcessorSet ProcessorSet::of_this_thread() { return of_thread(0); }

ProcessorSet ProcessorSet::of_main_thread() { return of_thread(getpid()); }

int ProcessorSet::count() const {
  int count = 0;
  for (const uint64_t word : words_) count += std::popcount(word);
  return count;
}

bool ProcessorSet::has(int processor) const {
  const auto at = static_cast<size_t>(processor);
  return at < 64 * words_.size() && (words_[at / 64] >> at % 64 & 1) != 0;
}

ProcessorSet ProcessorSet::without(int processor) const {
  ProcessorSet rest = *this;
  const auto at = static_cast<size_t>(processor);
  if (at < 64 * words_.size()) rest.words_[at / 64] &= ~(uint64_t{1} << at % 64);
  return rest;
}

void ProcessorSet::give_to(std::thread& thread) const {
  cpu_set_t allowed;
  std::memcpy(&allowed, words_.data(), sizeof(allowed));
  pthread_setaffinity_np(thread.native_handle(), sizeof(allowed), &allowed);
}

size_t last_level_cache_bytes(const ProcessorSet& processors, const std::string& folder) {
  std::map<std::string, size_t> caches;  // by the processors that share one
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!processors.has(cpu)) continue;
    int last = 0;
    std::string sharers;
    size_t bytes = 0;
    for (int index = 0;; ++index) {
      const std::string cache =
          folder + "/cpu" + std::to_string(cpu) + "/cache/index" + std::to_string(index) + "/";
      int level = 0;
      size_t size = 0;
      char unit = 0;
      std::string who;
      if (!(std::ifstream(cache + "level") >> level)) break;
      if (level <= last || !(std::ifstream(cache + "size") >> size >> unit) || unit != 'K' ||
          !(std::ifstream(cache + "shared_cpu_list") >> who))
        continue;
      last = level;
      bytes = size << 10;
      sharers = who;
    }
    if (last > 0) caches[sharers] = bytes;
  }
  size_t all = 0;
  for (const auto& [sharers, bytes] : caches) all += bytes;
  return all;
}

size_t last_level_cache_bytes() {
  // The C library adds up the caches of a whole socket, also those of processors that a virtual machine does
  // not have; a virtual machine may show a cache of its own for each processor.
  const size_t found = last_level_cache_bytes(ProcessorSet::of_main_thread(), "/sys/devices/system/cpu");
  size_t of_socket = 0;
#if defined(_SC_LEVEL3_CACHE_SIZE)
  if (const auto bytes = sysconf(_SC_LEVEL3_CACHE_SIZE); bytes > 0) of_socket = static_cast<size_t>(bytes);
#endif
  if (found == 0 && of_socket == 0) return size_t{8} << 20;
  return found == 0 ? of_socket : of_socket == 0 ? found : std::min(found, of_socket);
}

}  // namespace beeswax::os
