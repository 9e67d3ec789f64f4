// SPDX-License-Identifier: Apache-2.0
// Square matrix products beside the machine's multiply-add peak and beside OpenBLAS, all interleaved:
//   peer_gemm [--json] [--f64] [--threads N] [--rounds N] [--library FILE] [sizes...]
// OpenBLAS is opened at run time; OPENBLAS_CORETYPE chooses its kernels (gemm_openblas.py goes through them),
// the one in use is printed. Where it cannot be opened the exit status is 3. Each round times ours, peak,
// OpenBLAS, the threads of the one asleep before the other begins; the figures are medians of the rounds, the
// ratios medians of the rounds' ratios.
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "backends/cpu/gemm.h"
#include "backends/cpu/isa.h"
#include "core/os/cpu.h"
#include "core/os/memory.h"
#include "core/thread_pool.h"

namespace beeswax::cpu {
namespace {

using Clock = std::chrono::steady_clock;

double seconds(const std::function<void()>& work, int repeats) {
  const auto start = Clock::now();
  for (int i = 0; i < repeats; ++i) work();
  return std::chrono::duration<double>(Clock::now() - start).count() / repeats;
}

// The threads of a library wait for more work by spinning for a while, on the processors that the other
// needs: waits until they sleep, and wakes those of `work`.
double settled_seconds(const std::function<void()>& work, int repeats) {
  std::this_thread::sleep_for(std::chrono::milliseconds(40));
  work();
  return seconds(work, repeats);
}

double median(std::vector<double> x) {
  std::nth_element(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(x.size() / 2), x.end());
  return x[x.size() / 2];
}

// Twelve independent chains of multiply-adds in registers, `steps` long. Returns the operations done.
using PeakLoop = double (*)(int64_t steps, bool f64);
#if defined(__x86_64__)
#define BW_PEAK_LOOP(name, isa, V, set1, fmadd, lanes32)                                \
  __attribute__((target(isa))) double name(int64_t steps, bool f64) {                   \
    V##s x[12];                                                                         \
    for (auto& v : x) v = set1##_ps(0.5f);                                              \
    const V##s scale = set1##_ps(0.99f), shift = set1##_ps(0.01f);                      \
    if (!f64) {                                                                         \
      for (int64_t i = 0; i < steps; ++i)                                               \
        _Pragma("GCC unroll 12") for (auto& v : x) v = fmadd##_ps(v, scale, shift);     \
    }                                                                                   \
    V##d y[12];                                                                         \
    for (auto& v : y) v = set1##_pd(0.5);                                               \
    const V##d scale64 = set1##_pd(0.99), shift64 = set1##_pd(0.01);                    \
    if (f64) {                                                                          \
      for (int64_t i = 0; i < steps; ++i)                                               \
        _Pragma("GCC unroll 12") for (auto& v : y) v = fmadd##_pd(v, scale64, shift64); \
    }                                                                                   \
    for (auto& v : x) asm volatile("" : : "v"(v));                                      \
    for (auto& v : y) asm volatile("" : : "v"(v));                                      \
    return static_cast<double>(steps) * 12 * 2 * (f64 ? lanes32 / 2 : lanes32);         \
  }
using m512s = __m512;
using m512d = __m512d;
using m256s = __m256;
using m256d = __m256d;
BW_PEAK_LOOP(peak_v4, "avx512f", m512, _mm512_set1, _mm512_fmadd, 16)
BW_PEAK_LOOP(peak_v3, "avx2,fma", m256, _mm256_set1, _mm256_fmadd, 8)
PeakLoop peak_loop() { return isa() == Isa::v4 ? peak_v4 : isa() == Isa::v3 ? peak_v3 : nullptr; }
#else
PeakLoop peak_loop() { return nullptr; }
#endif

// Operations per second of all threads, over about as long as `duration`.
double measure_peak(bool f64, double duration) {
  const PeakLoop loop = peak_loop();
  if (loop == nullptr) return NAN;
  constexpr int64_t kSteps = 4000;  // some ten microseconds
  ThreadPool& pool = ThreadPool::global();
  static double task_time = seconds([&] { loop(kSteps, f64); }, 100);
  const auto tasks = std::max<int64_t>(8, static_cast<int64_t>(duration / task_time) * pool.threads());
  const double ops = loop(kSteps, f64);
  const double time = seconds([&] { pool.parallel_for(tasks, [&](int64_t) { loop(kSteps, f64); }); }, 1);
  return ops * static_cast<double>(tasks) / time;
}

struct OpenBlas {
  using Sgemm = void (*)(int, int, int, int, int, int, float, const float*, int, const float*, int, float,
                         float*, int);
  using Dgemm = void (*)(int, int, int, int, int, int, double, const double*, int, const double*, int, double,
                         double*, int);
  Sgemm sgemm = nullptr;
  Dgemm dgemm = nullptr;
  std::string core, config;

  // Whether it is there; if not, that was said.
  bool open(const char* file, int threads) {
    void* library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      std::printf("no OpenBLAS (package libopenblas0-pthread): %s\n", dlerror());
      return false;
    }
    sgemm = reinterpret_cast<Sgemm>(dlsym(library, "cblas_sgemm"));
    dgemm = reinterpret_cast<Dgemm>(dlsym(library, "cblas_dgemm"));
    if (sgemm == nullptr || dgemm == nullptr) {
      std::printf("no OpenBLAS: %s has no cblas_sgemm and cblas_dgemm\n", file);
      return false;
    }
    if (auto* name = reinterpret_cast<char* (*)()>(dlsym(library, "openblas_get_corename"))) core = name();
    if (auto* text = reinterpret_cast<char* (*)()>(dlsym(library, "openblas_get_config"))) config = text();
    if (auto* set = reinterpret_cast<void (*)(int)>(dlsym(library, "openblas_set_num_threads"))) set(threads);
    return true;
  }
};

// Memory as tensors get it, huge pages included.
template <class T>
struct Matrix {
  explicit Matrix(size_t count)
      : memory(os::allocate_pages(count * sizeof(T)), [](void* pages) { os::free_pages(pages, 0); }) {
    if (memory == nullptr) throw std::bad_alloc();
    std::memset(memory.get(), 0, count * sizeof(T));
  }
  T* data() const { return static_cast<T*>(memory.get()); }
  T& operator[](size_t i) const { return data()[i]; }
  std::unique_ptr<void, void (*)(void*)> memory;
};

struct Row {
  int64_t n;
  double peak, ours, theirs, share, ratio;
};

template <class T>
Row measure(int64_t n, int rounds, const OpenBlas& blas) {
  const auto count = static_cast<size_t>(n * n);
  const Matrix<T> a(count), b(count), c(count), d(count);
  for (size_t i = 0; i < count; ++i) {
    a[i] = static_cast<T>(static_cast<double>((i * 7919) % 1021) / 1021 - 0.5);
    b[i] = static_cast<T>(static_cast<double>((i * 104729) % 1019) / 1019 - 0.5);
  }
  const auto ours = [&] {
    gemm({.types = kDTypeOf<T>,
          .m = n,
          .n = n,
          .k = n,
          .a = a.data(),
          .a_row = n,
          .a_col = 1,
          .b = b.data(),
          .b_row = n,
          .b_col = 1,
          .c = c.data(),
          .c_row = n});
  };
  const auto theirs = [&] {
    const int size = static_cast<int>(n);
    constexpr int kRowMajor = 101, kNoTranspose = 111;
    if constexpr (std::is_same_v<T, float>)
      blas.sgemm(kRowMajor, kNoTranspose, kNoTranspose, size, size, size, 1, a.data(), size, b.data(), size,
                 0, d.data(), size);
    else
      blas.dgemm(kRowMajor, kNoTranspose, kNoTranspose, size, size, size, 1, a.data(), size, b.data(), size,
                 0, d.data(), size);
  };
  constexpr bool f64 = std::is_same_v<T, double>;
  const double once = seconds(ours, 2);
  theirs();
  const int repeats = std::max(1, static_cast<int>(0.02 / once));
  const double ops = 2 * std::pow(static_cast<double>(n), 3);
  std::vector<double> peak, time, other, share, ratio;
  for (int round = 0; round < rounds; ++round) {
    const double t = settled_seconds(ours, repeats);
    const double ceiling = measure_peak(f64, 0.02);
    const double u = settled_seconds(theirs, repeats);
    peak.push_back(ceiling);
    time.push_back(t);
    other.push_back(u);
    share.push_back(ops / t / ceiling);
    ratio.push_back(t / u);
  }
  double worst = 0;
  for (size_t i = 0; i < count; ++i) worst = std::max(worst, std::abs(static_cast<double>(c[i] - d[i])));
  if (worst > static_cast<double>(n) * (f64 ? 1e-15 : 1e-6))
    std::fprintf(stderr, "results differ by %g\n", worst);
  return {n,
          median(peak) / 1e9,
          ops / median(time) / 1e9,
          ops / median(other) / 1e9,
          median(share),
          median(ratio)};
}

int run(int argc, char** argv) {
  bool json = false, f64 = false;
  int threads = ThreadPool::global().threads(), rounds = 15;
  const char* library = "libopenblas.so.0";
  std::vector<int64_t> sizes;
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    const bool more = i + 1 < argc;
    if (arg == "--json")
      json = true;
    else if (arg == "--f64")
      f64 = true;
    else if (arg == "--threads" && more)
      threads = std::atoi(argv[++i]);
    else if (arg == "--rounds" && more)
      rounds = std::atoi(argv[++i]);
    else if (arg == "--library" && more)
      library = argv[++i];
    else
      sizes.push_back(std::atoll(argv[i]));
  }
  if (sizes.empty()) sizes = {256, 384, 512, 768, 1024, 1536, 2048};
  ThreadPool::global().set_threads(threads);
  OpenBlas blas;
  constexpr int kMissing = 3;
  if (!blas.open(library, threads)) return kMissing;
  const std::string level(isa_name(isa()));
  if (json) {
    std::printf(
        "{\"cpu\": \"%s\", \"isa\": \"%s\", \"threads\": %d, \"dtype\": \"%s\", \"openblas_core\": \"%s\", "
        "\"openblas\": \"%s\", \"rows\": [",
        os::cpu_name().c_str(), level.c_str(), threads, f64 ? "f64" : "f32", blas.core.c_str(),
        blas.config.c_str());
  } else {
    std::printf("%s, %s, %d threads, %s; OpenBLAS core %s (%s)\n", os::cpu_name().c_str(), level.c_str(),
                threads, f64 ? "f64" : "f32", blas.core.c_str(), blas.config.c_str());
    std::printf("%6s %12s %12s %12s %8s %14s\n", "n", "peak GF/s", "ours GF/s", "OpenBLAS", "share",
                "time/OpenBLAS");
  }
  for (size_t i = 0; i < sizes.size(); ++i) {
    const Row r = f64 ? measure<double>(sizes[i], rounds, blas) : measure<float>(sizes[i], rounds, blas);
    if (json) {
      std::printf(
          "%s{\"n\": %lld, \"peak_gflops\": %.1f, \"gflops\": %.1f, \"openblas_gflops\": %.1f, "
          "\"share_of_peak\": %.3f, \"time_over_openblas\": %.3f}",
          i == 0 ? "" : ", ", static_cast<long long>(r.n), r.peak, r.ours, r.theirs, r.share, r.ratio);
    } else {
      std::printf("%6lld %12.1f %12.1f %12.1f %7.1f%% %14.3f\n", static_cast<long long>(r.n), r.peak, r.ours,
                  r.theirs, 100 * r.share, r.ratio);
      std::fflush(stdout);
    }
  }
  if (json) std::printf("]}\n");
  return 0;
}

}  // namespace
}  // namespace beeswax::cpu

int main(int argc, char** argv) { return beeswax::cpu::run(argc, argv); }
