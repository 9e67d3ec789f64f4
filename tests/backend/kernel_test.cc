// SPDX-License-Identifier: Apache-2.0
// Kernels compiled at run time on GPUs: results beside the CPU's, and what bad sources and arguments are
// told.
#include "beeswax/kernel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <thread>

#include "support/expect_error.h"
#include "support/kernel_fixture.h"

namespace beeswax {
namespace {

constexpr const char* kSaxpy = R"(
__global__ void saxpy(float a, const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
})";

class Kernels : public test::KernelTest {};

TEST_P(Kernels, OfCudaOrHip) {
  const int n = 1000;
  const Tensor x = numbers(n), y = Tensor::ones({n}, DType::F32, device_);
  const Kernel saxpy = compile(kSaxpy, "saxpy");
  EXPECT_EQ(saxpy.parameter_bytes(), (std::vector<uint32_t>{4, 8, 8, 4}));
  const uint64_t version = y.version();
  saxpy.launch({.grid = {4}, .block = {256}}, 2.5f, x, output(y), n);
  const std::vector<float> got = y.to_vec<float>(), from = x.to_vec<float>();
  for (size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], 2.5f * from[i] + 1.0f) << i;
  EXPECT_EQ(y.version(), version + 1);
  EXPECT_EQ(x.version(), 0u);
}

// Blocks and grids of three axes, each thread telling where it stands.
TEST_P(Kernels, KnowWhereTheyStand) {
  const Kernel places = compile(R"(
    __global__ void places(int* out) {
      const int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
      const int thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
      const int i = block * blockDim.x * blockDim.y * blockDim.z + thread;
      out[i] = blockIdx.x + 10 * blockIdx.y + 100 * blockIdx.z + 1000 * threadIdx.x + 10000 * threadIdx.y +
               100000 * threadIdx.z;
    })",
                                "places");
  const Tensor out = Tensor::zeros({2 * 3 * 4 * 5 * 6 * 2}, DType::I32, device_);
  places.launch({.grid = {2, 3, 4}, .block = {5, 6, 2}}, output(out));
  const std::vector<int32_t> got = out.to_vec<int32_t>();
  size_t i = 0;
  for (int bz = 0; bz < 4; ++bz)
    for (int by = 0; by < 3; ++by)
      for (int bx = 0; bx < 2; ++bx)
        for (int z = 0; z < 2; ++z)
          for (int y = 0; y < 6; ++y)
            for (int x = 0; x < 5; ++x)
              ASSERT_EQ(got[i++], bx + 10 * by + 100 * bz + 1000 * x + 10000 * y + 100000 * z);
}

// A wave's threads are counted along x, then y, then z.
TEST_P(Kernels, ShuffleInBlocksOfSeveralAxes) {
  const Kernel shuffle = compile(R"(
    #ifdef __CUDACC_RTC__  // which has CUDA's names alone
    #define SHUFFLE(name, ...) name##_sync(0xffffffffu, __VA_ARGS__)
    #else
    #define SHUFFLE(name, ...) name(__VA_ARGS__)
    #endif
    __global__ void shuffle(int* out) {
      const int own = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
      int* of = out + 8 * own;
      of[0] = warpSize;
      of[1] = SHUFFLE(__shfl, own, 3, 8);
      of[2] = SHUFFLE(__shfl_xor, own, 5, 8);
      of[3] = SHUFFLE(__shfl_down, own, 3, 8);
      of[4] = SHUFFLE(__shfl_up, own, 3, 8);
      of[5] = SHUFFLE(__shfl, own, 17);
      of[6] = SHUFFLE(__shfl_xor, own, 16);
      of[7] = SHUFFLE(__shfl_down, own, 16);
    })",
                                 "shuffle");
  for (const std::array<uint32_t, 3> block :
       {std::array<uint32_t, 3>{8, 16, 1}, {128, 1, 1}, {16, 4, 2}, {4, 8, 4}, {1, 1, 64}}) {
    SCOPED_TRACE(testing::PrintToString(block));
    const auto threads = static_cast<int64_t>(block[0]) * block[1] * block[2];
    const Tensor out = Tensor::zeros({threads, 8}, DType::I32, device_);
    shuffle.launch({.block = {block[0], block[1], block[2]}}, output(out));
    const std::vector<std::vector<int32_t>> got = out.to_vec2<int32_t>();
    for (int own = 0; own < threads; ++own) {
      const int wave = got[static_cast<size_t>(own)][0], first = own / wave * wave, at = own % 8;
      ASSERT_TRUE(wave == 32 || wave == 64) << wave;
      const std::vector<int32_t> want = {wave,
                                         own - at + 3,
                                         own ^ 5,
                                         at + 3 < 8 ? own + 3 : own,
                                         at >= 3 ? own - 3 : own,
                                         first + 17,
                                         own ^ 16,
                                         own % wave + 16 < wave ? own + 16 : own};
      ASSERT_EQ(got[static_cast<size_t>(own)], want) << "thread " << own;
    }
  }
}

TEST_P(Kernels, ShareMemoryAndAtomics) {
  const Kernel sum = compile(R"(
    __global__ void sum(const float* x, float* total, int* most, int n) {
      extern __shared__ float parts[];
      const int i = blockIdx.x * blockDim.x + threadIdx.x;
      parts[threadIdx.x] = i < n ? x[i] : 0.0f;
      __syncthreads();
      for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) parts[threadIdx.x] += parts[threadIdx.x + half];
        __syncthreads();
      }
      if (threadIdx.x == 0) {
        atomicAdd(total, parts[0]);
        atomicMax(most, i);
      }
    })",
                             "sum");
  const int n = 700;
  const Tensor x = numbers(n), total = Tensor::zeros({1}, DType::F32, device_);
  const Tensor most = Tensor::zeros({1}, DType::I32, device_);
  sum.launch({.grid = {6}, .block = {128}, .shared_bytes = 128 * sizeof(float)}, x, output(total),
             output(most), n);
  const std::vector<float> values = x.to_vec<float>();
  EXPECT_EQ(total.to_vec<float>()[0], std::accumulate(values.begin(), values.end(), 0.0f));
  EXPECT_EQ(most.to_vec<int32_t>()[0], 640);
}

// Beside shared memory that the code declares, up to all that a block has.
TEST_P(Kernels, DeclareSharedMemoryAndAskForMore) {
  const Kernel turn = compile(R"(
    __global__ void turn(const int* x, int* y, int last) {
      __shared__ int own[2048];
      extern __shared__ int asked[];
      own[threadIdx.x] = x[threadIdx.x];
      asked[last - threadIdx.x] = x[threadIdx.x];
      __syncthreads();
      y[threadIdx.x] = own[threadIdx.x] * 1000 + asked[last - (blockDim.x - 1 - threadIdx.x)];
    })",
                              "turn");
  const uint32_t most = device_.kind() == DeviceKind::Cuda ? 219 << 10 : 56 << 10;
  std::vector<int32_t> values(64), want(64);
  for (int i = 0; i < 64; ++i)
    values[static_cast<size_t>(i)] = i, want[static_cast<size_t>(i)] = i * 1000 + 63 - i;
  const Tensor x = Tensor::from_vec(values, {64}, device_);
  for (const uint32_t shared :
       {uint32_t{1} << 10, uint32_t{40} << 10, uint32_t{41} << 10, uint32_t{48} << 10, most}) {
    const Tensor y = Tensor::zeros({64}, DType::I32, device_);
    turn.launch({.block = {64}, .shared_bytes = shared}, x, output(y), static_cast<int>(shared / 4) - 1);
    EXPECT_EQ(y.to_vec<int32_t>(), want) << shared;
  }
  EXPECT_ERROR(turn.launch({.block = {64}, .shared_bytes = 1 << 20}, x,
                           output(Tensor::zeros({64}, DType::I32, device_)), 0),
               InvalidArgument,
               "shared_bytes is 1048576 beside the 8192 that the kernel declares, and a block on ");
}

// Each atomic of the dialect on words of 32 and 64 bits, by 512 threads whose numbers need all of the bits.
template <class T>
void expect_atomics(const Kernel& kernel, const Device& device, const Kernel& ticket) {
  constexpr int kThreads = 512;
  const auto number = [](int64_t i) {
    return static_cast<T>(static_cast<uint64_t>(i - 200) * uint64_t{0x1000000030000001});
  };
  std::vector<T> values(kThreads);
  T sum = 0;
  for (int i = 0; i < kThreads; ++i) {
    values[static_cast<size_t>(i)] = number(i);
    sum = static_cast<T>(static_cast<uint64_t>(sum) + static_cast<uint64_t>(number(i)));
  }
  const auto bytes_of = [&](const std::vector<T>& from) {
    std::vector<uint8_t> raw(from.size() * sizeof(T));
    std::memcpy(raw.data(), from.data(), raw.size());
    return Tensor::from_vec(raw, {static_cast<int64_t>(raw.size())}, device);
  };
  const auto values_of = [](const Tensor& from) {
    const std::vector<uint8_t> raw = from.to_vec<uint8_t>();
    std::vector<T> out(raw.size() / sizeof(T));
    std::memcpy(out.data(), raw.data(), raw.size());
    return out;
  };
  struct Args {
    const void* x;
    void *cells, *seen;
  };
  const Tensor x = bytes_of(values), seen = bytes_of(std::vector<T>(kThreads, 0));
  // The sum, the least, the largest, what was exchanged last, and what the first to come found free.
  const Tensor cells = bytes_of({0, values[300], values[300], values[77], 0});
  kernel.launch({.grid = {2}, .block = {256}},
                Args{device_address(x), device_address(output(cells)), device_address(output(seen))});
  const std::vector<T> got = values_of(cells);
  EXPECT_EQ(got[0], sum);
  EXPECT_EQ(got[1], *std::ranges::min_element(values));
  EXPECT_EQ(got[2], *std::ranges::max_element(values));
  // Everything that was put there came out again, once, but for what stayed.
  std::vector<T> out = values_of(seen), in = values;
  out.push_back(got[3]);
  in.push_back(values[77]);
  std::ranges::sort(out);
  std::ranges::sort(in);
  EXPECT_EQ(out, in);
  EXPECT_TRUE(std::ranges::count(values, got[4]) == 1 && got[4] != 0) << got[4];
  // A loop over the exchange where a value stands counts every thread.
  const Tensor counts = bytes_of({1});
  ticket.launch({.grid = {2}, .block = {256}}, Args{nullptr, device_address(output(counts)), nullptr});
  EXPECT_EQ(values_of(counts)[0], static_cast<T>(1 + 3 * kThreads));
}

TEST_P(Kernels, HaveAtomicsOfEveryWidth) {
  constexpr const char* kSource = R"(
    #include "kernels/atomics.h"
    using T = TYPE;
    struct Args { const T* x; T* cells; T* seen; };
    BW_KERNEL(256) atomics(Args args) {
      using namespace beeswax::gpu;
      const uint32_t i = block() * 256 + thread();
      const T value = args.x[i];
      atomic_add(args.cells, value);
      atomic_min(args.cells + 1, value);
      atomic_max(args.cells + 2, value);
      args.seen[i] = atomic_exchange(args.cells + 3, value);
      atomic_swap_if(args.cells + 4, T(0), value);
    }
    BW_KERNEL(256) ticket(Args args) {
      using namespace beeswax::gpu;
      T found = *args.cells;
      for (;;) {
        const T stood = atomic_swap_if(args.cells, found, T(found + 3));
        if (stood == found) break;
        found = stood;
      }
    })";
  const auto check = [&](const char* type, auto number) {
    SCOPED_TRACE(type);
    options_.defines = {std::string("TYPE=") + type};
    expect_atomics<decltype(number)>(compile(kSource, "atomics"), device_, compile(kSource, "ticket"));
  };
  check("int32_t", int32_t{});
  check("uint32_t", uint32_t{});
  check("int64_t", int64_t{});
  check("uint64_t", uint64_t{});
}

// And by the names of CUDA and HIP.
TEST_P(Kernels, HaveAtomicsByTheirOtherNames) {
  const Kernel kernel = compile(R"(
    __global__ void atomics(const float* x, float* last, unsigned long long* cells, int* most,
                            unsigned* words) {
      const int i = blockIdx.x * blockDim.x + threadIdx.x;
      x += i;
      atomicExch(last, *x);
      atomicAdd(cells, 1ull << 33);
      atomicMin(cells + 1, (1ull << 40) - i);
      atomicMax(cells + 2, (1ull << 40) + i);
      atomicCAS(cells + 3, 0ull, 1ull << 50);
      atomicCAS(most, 0, -5);
      // The pointer alone says of which type the values are.
      atomicCAS(words, 0, 7);
      atomicAdd(words + 1, 2);
      atomicMin(words + 2, 3);
      atomicMax(words + 3, 5);
      atomicExch(words + 4, 11);
      atomicAdd(cells + 4, 1);
    })",
                                "atomics");
  const Tensor x = numbers(256), last = Tensor::zeros({1}, DType::F32, device_);
  const Tensor cells = Tensor::from_vec<int64_t>({0, INT64_MAX, 0, 0, 0}, {5}, device_);
  const Tensor most = Tensor::zeros({1}, DType::I32, device_);
  const Tensor words = Tensor::from_vec<uint32_t>({0, 0, 9, 0, 0}, {5}, device_);
  kernel.launch({.grid = {2}, .block = {128}}, x, output(last), output(cells), output(most), output(words));
  EXPECT_EQ(cells.to_vec<int64_t>(), (std::vector<int64_t>{int64_t{256} << 33, (int64_t{1} << 40) - 255,
                                                           (int64_t{1} << 40) + 255, int64_t{1} << 50, 256}));
  EXPECT_EQ(words.to_vec<uint32_t>(), (std::vector<uint32_t>{7, 512, 3, 5, 11}));
  EXPECT_EQ(most.to_vec<int32_t>()[0], -5);
  EXPECT_EQ(std::ranges::count(x.to_vec<float>(), last.to_vec<float>()[0]), 1);
}

// The mathematics of float: within a few last places of the long double functions, whoever compiles.
TEST_P(Kernels, HaveMathematics) {
  const Kernel functions = compile(R"(
    __global__ void functions(const float* x, float* y, int n) {
      const int i = threadIdx.x;
      if (i >= n) return;
      y[i] = expf(x[i]) + tanhf(x[i]) + sqrtf(fabsf(x[i])) + powf(2.0f, x[i]) + fmaxf(x[i], 1.0f) + floorf(x[i]);
    })",
                                   "functions");
  const std::vector<float> x = {-3.25f, -1.0f, -0.1f, 0.0f, 0.3f, 1.0f, 2.5f, 4.75f};
  const Tensor y = Tensor::zeros({8}, DType::F32, device_);
  functions.launch({.block = {8}}, Tensor::from_vec(x, {8}, device_), output(y), 8);
  const std::vector<float> got = y.to_vec<float>();
  for (size_t i = 0; i < x.size(); ++i) {
    const auto v = static_cast<long double>(x[i]);
    const long double expected = std::exp(v) + std::tanh(v) + std::sqrt(std::fabs(v)) + std::pow(2.0L, v) +
                                 std::fmax(v, 1.0L) + std::floor(v);
    EXPECT_NEAR(got[i], static_cast<double>(expected), 1e-6 * (8 + std::fabs(static_cast<double>(expected))))
        << x[i];
  }
}

TEST_P(Kernels, OfTheDialect) {
  const Kernel reverse = compile(R"(
    #include "kernels/gpu.h"
    #include "kernels/wave.h"
    struct ReverseArgs { const float* x; float* y; uint32_t count; };
    BW_KERNEL(256) reverse_waves(ReverseArgs args) {
      using namespace beeswax::gpu;
      const uint32_t i = block() * 256 + thread();
      const float value = i < args.count ? args.x[i] : 0.0f;
      const float other = shuffle_xor(value, kWave - 1);
      if (i < args.count) args.y[i] = other + static_cast<float>(bits_in(wave_ballot(value > 0)) > 0);
    })",
                                 "reverse_waves");
  EXPECT_EQ(reverse.most_threads(), 256u);
  struct Args {
    const void* x;
    void* y;
    uint32_t count;
  };
  EXPECT_EQ(reverse.parameter_bytes(), (std::vector<uint32_t>{sizeof(Args)}));
  const Tensor x = numbers(512), y = x.zeros_like();
  reverse.launch({.grid = {2}, .block = {256}}, Args{device_address(x), device_address(output(y)), 512});
  const std::vector<float> got = y.to_vec<float>(), from = x.to_vec<float>();
  // Waves have 32 or 64 threads; both reverse within their own.
  const size_t wave = got[0] == from[31] ? 32 : 64;
  for (size_t i = 0; i < got.size(); ++i) {
    const size_t first = i / wave * wave;
    bool any = false;
    for (size_t lane = first; lane < first + wave; ++lane) any = any || from[lane] > 0;
    ASSERT_EQ(got[i], from[i ^ (wave - 1)] + static_cast<float>(any)) << i;
  }
}

TEST_P(Kernels, TakeHeadersAndDefines) {
  KernelOptions options = options_;
  options.headers = {
      {"my/scale.h",
       "#include <cstdint>\n__device__ inline int32_t scaled(int32_t x) { return FACTOR * x; }"}};
  options.defines = {"FACTOR=7", "ENABLED"};
  const char* source = R"(
    #include "my/scale.h"
    #ifdef ENABLED
    extern "C" __global__ void scale(int* x) { x[threadIdx.x] = scaled(x[threadIdx.x]); }
    #endif
  )";
  const Tensor x = Tensor::of({1, 2, 3}, device_);
  Kernel::compile(device_, source, "scale", options).launch({.block = {3}}, output(x));
  EXPECT_EQ(x.to_vec<int32_t>(), (std::vector<int32_t>{7, 14, 21}));
  options.defines[0] = "FACTOR=-1";
  Kernel::compile(device_, source, "scale", options).launch({.block = {3}}, output(x));
  EXPECT_EQ(x.to_vec<int32_t>(), (std::vector<int32_t>{-7, -14, -21}));
}

TEST_P(Kernels, TakeNoTextThatCompilersCut) {
  const char* source = "extern \"C\" __global__ void f(int* x) { x[0] = __LINE__; }";
  const auto compile_with = [&](const std::string& define) {
    KernelOptions options = options_;
    options.defines = {define};
    return Kernel::compile(device_, source, "f", options);
  };
  for (const std::string& define :
       {std::string(), std::string("=1"), std::string("1X"), std::string("-w"), std::string("X=1\n+1"),
        std::string("X=1\r+1"), std::string("X=1\0+1", 6)})
    EXPECT_ERROR(compile_with(define), InvalidArgument, "accepted: NAME, NAME=value or NAME(x)=value");
  EXPECT_NO_THROW(compile_with("_add(a, b)=a + b"));
  for (const std::string& name :
       {std::string("two\rlines"), std::string("two\nlines"), std::string("a\0b", 3)}) {
    KernelOptions options = options_;
    options.source_name = name;
    const Tensor x = Tensor::zeros({1}, DType::I32, device_);
    Kernel::compile(device_, source, "f", options).launch({}, output(x));
    EXPECT_EQ(x.to_scalar<int32_t>(), 1);
  }
  if (GetParam() != KernelCompiler::Clang) return;  // which takes headers as files
  for (const std::string& name :
       {std::string("folder/"), std::string("."), std::string("../a.h"), std::string("a\0b.h", 5)}) {
    KernelOptions options = options_;
    options.headers = {{name, ""}};
    EXPECT_ERROR(Kernel::compile(device_, source, "f", options), InvalidArgument, "is no name for a header");
  }
}

TEST_P(Kernels, AreNamedAsInTheSource) {
  const char* source = R"(
    namespace image {
    template <class T> __global__ void twice(T* x) { x[threadIdx.x] *= 2; }
    template __global__ void twice<float>(float*);
    template __global__ void twice<int>(int*);
    __global__ void halve(float* x) { x[threadIdx.x] /= 2; }
    }
    __global__ void over(int*) {}
    __global__ void over(float*) {}
  )";
  const Tensor x = Tensor::of({1.5f, -2.0f}, device_);
  compile(source, "image::twice<float>").launch({.block = {2}}, output(x));
  EXPECT_EQ(x.to_vec<float>(), (std::vector<float>{3, -4}));
  compile(source, "halve").launch({.block = {2}}, output(x));
  EXPECT_EQ(x.to_vec<float>(), (std::vector<float>{1.5f, -2}));
  EXPECT_ERROR(compile(source, "thrice"), InvalidArgument, "the source has no kernel 'thrice'; it has");
  EXPECT_ERROR(compile(source, "over"), InvalidArgument, "2 kernels 'over'; name one by its symbol: ");
  EXPECT_EQ(compile(source, "_Z4overPf").parameter_bytes(), (std::vector<uint32_t>{8}));
}

TEST_P(Kernels, ErrorsOfSourcesHaveNameAndLine) {
  const char* source = "__global__ void broken(float* x) {\n  x[0] = missing_name;\n}";
  EXPECT_ERROR(compile(source, "broken"), InvalidArgument, "'broken' does not compile for ");
  EXPECT_ERROR(compile(source, "broken"), InvalidArgument, "missing_name");
  try {
    compile(source, "broken");
    ADD_FAILURE();
  } catch (const Error& error) {  // NVRTC writes broken(2), clang broken:2
    const std::string text = error.what();
    EXPECT_TRUE(text.find("broken:2") != std::string::npos || text.find("broken(2)") != std::string::npos)
        << text;
  }
  EXPECT_ERROR(compile("#include \"not/there.h\"\n", "x"), InvalidArgument, "not/there.h");
  EXPECT_ERROR(compile("", "x"), InvalidArgument, "no kernel 'x'; it has none");
}

TEST_P(Kernels, RefuseWrongArguments) {
  const Kernel saxpy = compile(kSaxpy, "saxpy");
  const Tensor x = numbers(4), y = x.zeros_like();
  const LaunchOptions four = {.block = {4}};
  EXPECT_ERROR(saxpy.launch(four, 1.0f, x, output(y)), InvalidArgument, "it takes 4 arguments, and got 3");
  EXPECT_ERROR(saxpy.launch(four, 1.0, x, output(y), 4), InvalidArgument,
               "argument 1 is a value of 8 bytes, and the kernel's parameter has 4");
  EXPECT_ERROR(saxpy.launch(four, x, x, output(y), 4), InvalidArgument, "argument 1 is a tensor");
  EXPECT_ERROR(saxpy.launch(four, 1.0f, x.to_device(Device::cpu()), output(y), 4), DeviceMismatch,
               ", is not on ");
  const Tensor wide = Tensor::zeros({4, 2}, DType::F32, device_);
  EXPECT_ERROR(saxpy.launch(four, 1.0f, wide.narrow(1, 0, 1), output(y), 4), RequiresContiguous,
               "call contiguous() first");
  EXPECT_ERROR(saxpy.launch({.grid = {0}, .block = {4}}, 1.0f, x, output(y), 4), InvalidArgument, "is empty");
  EXPECT_ERROR(saxpy.launch({.grid = {1, 70000}, .block = {4}}, 1.0f, x, output(y), 4), InvalidArgument,
               "too large");
  EXPECT_ERROR(saxpy.launch({.block = {64, 32}}, 1.0f, x, output(y), 4), InvalidArgument,
               "{64, 32, 1} is too large");
  EXPECT_ERROR(saxpy.launch({.block = {1, 1, 1025}}, 1.0f, x, output(y), 4), InvalidArgument,
               "{1, 1, 1025} is too large: at most {1024, 1024, ");
  if (device_.kind() == DeviceKind::Cuda)
    EXPECT_ERROR(saxpy.launch({.block = {1, 1, 128}}, 1.0f, x, output(y), 4), InvalidArgument,
                 "{1, 1, 128} is too large: at most {1024, 1024, 64}");
  EXPECT_ERROR(saxpy.launch({.block = {4}, .shared_bytes = 1 << 20}, 1.0f, x, output(y), 4), InvalidArgument,
               "shared_bytes is 1048576, and a block on ");
  if (device_.kind() != DeviceKind::Cuda) {
    EXPECT_ERROR(saxpy.launch({.grid = {1 << 24}, .block = {256}}, 1.0f, x, output(y), 4), InvalidArgument,
                 "at most 2^32 - 1 threads along an axis");
  }
  const Kernel small =
      compile("extern \"C\" __global__ void __launch_bounds__(64) small(int* x) { x[0] = 1; }", "small");
  EXPECT_ERROR(small.launch({.block = {128}}, output(Tensor::zeros({1}, DType::I32, device_))),
               InvalidArgument, "takes 64 threads");
  EXPECT_ERROR(Kernel::compile(Device::cpu(), kSaxpy, "saxpy"), Unsupported, "cpu is none");
}

TEST_P(Kernels, CompileOnceForManyThreads) {
  std::vector<std::thread> threads;
  std::vector<float> results(8);
  for (size_t t = 0; t < results.size(); ++t)
    threads.emplace_back([&, t] {
      const Tensor x = Tensor::of({1.0f, 2.0f}, device_), y = Tensor::zeros({2}, DType::F32, device_);
      for (int i = 0; i < 10; ++i)
        compile(kSaxpy, "saxpy").launch({.block = {2}}, static_cast<float>(t), x, output(y), 2);
      results[t] = y.to_vec<float>()[1];
    });
  for (std::thread& thread : threads) thread.join();
  for (size_t t = 0; t < results.size(); ++t) EXPECT_EQ(results[t], 20.0f * static_cast<float>(t));
}

INSTANTIATE_TEST_SUITE_P(Compilers, Kernels, testing::Values(KernelCompiler::Vendor, KernelCompiler::Clang),
                         [](const auto& info) {
                           return info.param == KernelCompiler::Vendor ? "Vendor" : "Clang";
                         });

}  // namespace
}  // namespace beeswax
