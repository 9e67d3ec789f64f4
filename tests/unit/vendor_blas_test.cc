// SPDX-License-Identifier: Apache-2.0
// Vendors' libraries of matrix products that are not there, lack functions or fail, and when they are asked
// at all: stand-ins over the fake drivers, whose memory is the host's, so that sanitizers see each access.
#include <gtest/gtest.h>

#include <filesystem>
#include <thread>

#include "backends/gpu/backend.h"
#include "backends/gpu/blas/blas.h"
#include "beeswax/graph.h"
#include "core/fail.h"
#include "support/apart.h"
#include "support/exact_product.h"
#include "support/expect_error.h"
#include "support/fake_gpu.h"
#include "support/library_without.h"
#include "support/vendor_blas.h"

namespace beeswax::test {
namespace {

struct Row {
  std::string symbol;
  bool required;
};

struct VendorLibrary {
  std::string name;  // of the stand-in
  std::string product, variable, advice;
  FakeGpu gpu;
  std::vector<Row> rows;

  friend void PrintTo(const VendorLibrary& library, std::ostream* out) { *out << library.name; }
  /// For this process: the fake driver, and this library alone.
  fake::BlasControl& use(const char* choice, const std::string& file = "") const {
    gpu.control();
    for (const char* other :
         {"BEESWAX_ROCBLAS_LIBRARY", "BEESWAX_HIPBLASLT_LIBRARY", "BEESWAX_CUBLASLT_LIBRARY"})
      ::setenv(other, "/nowhere/libblas.so", 1);
    if (choice != nullptr) ::setenv("BEESWAX_BLAS", choice, 1);
    const std::string library = file.empty() ? stand_in(name) : file;
    ::setenv(variable.c_str(), library.c_str(), 1);
    return blas_control(library);
  }
};

std::vector<VendorLibrary> libraries() {
  const std::vector<Row> rocblas = {
#define BW_ROCBLAS(name, need, parameters) {#name, std::string_view(#need) == "Required"},
#include "backends/hip/rocblas_api.def"
      {"rocblas_status_to_string", true}};
  const std::vector<Row> hipblaslt = {
#define BW_LT(name, cublaslt, hipblaslt, parameters) {#hipblaslt, true},
#include "backends/gpu/blas/lt_api.def"
      {"hipblasLtGetVersion", true}};
  const std::vector<Row> cublaslt = {
#define BW_LT(name, cublaslt, hipblaslt, parameters) {#cublaslt, true},
#include "backends/gpu/blas/lt_api.def"
      {"cublasLtGetVersion", false}, {"cublasLtGetStatusName", false}};
  std::vector<VendorLibrary> out;
  for (const VendorLibrary& library : {VendorLibrary{"rocblas", "rocBLAS", "BEESWAX_ROCBLAS_LIBRARY",
                                                     "install ROCm's rocblas", fake_hip(), rocblas},
                                       VendorLibrary{"hipblaslt", "hipBLASLt", "BEESWAX_HIPBLASLT_LIBRARY",
                                                     "install ROCm's hipblaslt", fake_hip(), hipblaslt},
                                       VendorLibrary{"cublasLt", "cuBLASLt", "BEESWAX_CUBLASLT_LIBRARY",
                                                     "install NVIDIA's cuBLAS", fake_cuda(), cublaslt}})
    if (gpu::Bundle::embedded().target_for(library.gpu.arch).has_value()) out.push_back(library);
  return out;
}

Tensor numbers(const Shape& shape, DType dtype, uint32_t seed) {
  return tensor_of(small_numbers(shape.elem_count(), seed, false), shape, dtype, Device::cpu());
}

// [1, m, k] by [1, k, n] in memory that ends where they end.
void expect_small_product(const Device& device, DType dtype = DType::F32) {
  const Tensor a = numbers({1, 5, 7}, dtype, 1), b = numbers({1, 7, 3}, dtype, 2);
  expect_product(a, b, a.to_device(device).matmul(b.to_device(device)).to_device(Device::cpu()));
}

class VendorBlas : public testing::TestWithParam<VendorLibrary> {};

TEST_P(VendorBlas, MakesProductsOfAnyLayout) {
  run_apart([] {
    const fake::BlasControl& control = GetParam().use("vendor");
    const Device device = GetParam().gpu.device();
    int64_t made = 0;
    for (const DType dtype : {DType::F32, DType::F16, DType::BF16, DType::F64}) {
      for (const auto& [batch, m, k, n] :
           {std::array<int64_t, 4>{1, 1, 1, 1}, {1, 5, 7, 3}, {3, 4, 9, 6}, {2, 1, 8, 5}, {2, 6, 8, 1}}) {
        const Tensor a = numbers({batch, m, k}, dtype, 1), b = numbers({batch, k, n}, dtype, 2);
        for (int kind = 0; kind < 9; ++kind) {
          // Dense along rows, dense along columns, rows with gaps that begin at an odd element: as views of
          // what was copied whole.
          const auto laid = [&](const Tensor& x, int how) {
            if (how == 0) return x.to_device(device);
            if (how == 1) return x.transpose(1, 2).contiguous().to_device(device).transpose(1, 2);
            return Tensor::cat({x.narrow(2, 0, 1), x}, 2).to_device(device).narrow(2, 1, x.dim(2));
          };
          expect_product(a, b, laid(a, kind % 3).matmul(laid(b, kind / 3)).to_device(Device::cpu()));
          EXPECT_EQ(control.products, ++made);
          EXPECT_EQ(control.last.m * control.last.n * control.last.k * control.last.batch, m * n * k * batch);
          if (testing::Test::HasFailure()) return "";
        }
      }
    }
    EXPECT_EQ(control.handles, 1);
    EXPECT_EQ(control.refusals, 0) << control.refused;
    gpu::Gpu& gpu = gpu::Gpu::of(device);
    EXPECT_EQ(gpu.pool().statistics().used_bytes, 0u);  // workspaces went back
    return "";
  });
}

TEST_P(VendorBlas, IsAskedOnlyWhereItIsWanted) {
  for (const char* choice : {"own", "auto", ""}) {
    run_apart([&] {
      const fake::BlasControl& control = GetParam().use(choice);
      const Device device = GetParam().gpu.device();
      const Tensor x = numbers({5, 5}, DType::F32, 1).to_device(device);
      EXPECT_EQ(x.matmul(x).dim(0), 5);
      EXPECT_EQ(control.calls, 0) << choice;
      return "";
    });
  }
  run_apart([] {
    GetParam().use("fastest");
    const Tensor x = numbers({5, 5}, DType::F32, 1).to_device(GetParam().gpu.device());
    for (int again = 0; again < 2; ++again)
      EXPECT_ERROR(x.matmul(x), InvalidArgument,
                   "[matmul] BEESWAX_BLAS is 'fastest'; accepted: own, vendor, auto");
    return "";
  });
}

TEST_P(VendorBlas, ThatIsNotThereIsAnErrorThatSaysWhatToInstall) {
  run_apart([] {
    GetParam().use("vendor");
    ::setenv(GetParam().variable.c_str(), "/nowhere/libblas.so", 1);
    const Device device = GetParam().gpu.device();
    const Tensor x = numbers({5, 5}, DType::F32, 1).to_device(device);
    EXPECT_ERROR(x.matmul(x), Device,
                 "[matmul] BEESWAX_BLAS=vendor, and there is no library for " + device.to_string());
    EXPECT_ERROR(x.matmul(x), Device, GetParam().product + " not found; " + GetParam().advice);
    EXPECT_ERROR(x.matmul(x), Device, "or name the file in " + GetParam().variable);
    return "";
  });
}

TEST_P(VendorBlas, MissingFunctionsAreNamed) {
  for (const Row& row : GetParam().rows) {
    SCOPED_TRACE(row.symbol);
    const std::string file = library_without(stand_in(GetParam().name), row.symbol);
    run_apart([&] {
      GetParam().use("vendor", file);
      const Device device = GetParam().gpu.device();
      if (row.required) {
        const Tensor x = numbers({5, 5}, DType::F32, 1).to_device(device);
        EXPECT_ERROR(x.matmul(x), Device, file + " lacks " + row.symbol + "; " + GetParam().advice);
      } else {
        expect_small_product(device);
      }
      return "";
    });
    std::filesystem::remove(file);
  }
}

// Each call of a first and a second product fails in turn: an error says so, nothing leaks, and the next
// product is made.
TEST_P(VendorBlas, AnyCallMayFail) {
  constexpr int kStatus = 6;  // an internal error, in every one of the libraries' numbers or none of them
  std::string hit = "first";
  int64_t n = 0;
  for (; !hit.empty() && !HasFailure();) {
    ++n;
    SCOPED_TRACE(testing::Message() << "call " << n);
    hit = run_apart([&] {
      fake::BlasControl& control = GetParam().use("vendor");
      const Device device = GetParam().gpu.device();
      control.fail_nth = n;
      control.fail_status = kStatus;
      std::string text;
      try {
        expect_small_product(device);
        expect_small_product(device, DType::F64);
      } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::Device);
        text = e.what();
      }
      if (control.failed[0] == 0) return std::string();
      const std::string_view failed = control.failed;
      if (!text.empty() || failed.find("Destroy") == std::string_view::npos) {
        EXPECT_NE(text.find("[matmul] "), std::string::npos) << failed << " failed and nobody noticed";
        EXPECT_NE(text.find(join_text(failed, " says ")), std::string::npos) << text;
      }
      control.fail_nth = 0;
      expect_small_product(device);
      EXPECT_EQ(control.handles, 1);
      EXPECT_TRUE(control.objects == 0 || control.objects == 4 || control.objects == 8) << control.objects;
      EXPECT_EQ(control.refusals, 0) << control.refused;
      EXPECT_EQ(gpu::Gpu::of(device).pool().statistics().used_bytes, 0u);
      return std::string(control.failed);
    });
  }
  EXPECT_GT(n, 10);
}

TEST_P(VendorBlas, WhatItDoesNotTakeIsMadeByOurKernels) {
  run_apart([] {
    fake::BlasControl& control = GetParam().use("vendor");
    control.without_type = 'd';
    const Device device = GetParam().gpu.device();
    const Tensor x = numbers({5, 5}, DType::F64, 1).to_device(device);
    const int64_t launches = GetParam().gpu.control().launches;
    EXPECT_EQ(x.matmul(x).dim(0), 5);
    EXPECT_EQ(control.products, 0);
    EXPECT_GT(GetParam().gpu.control().launches, launches);
    expect_small_product(device);
    EXPECT_EQ(control.products, 1);
    return "";
  });
}

TEST_P(VendorBlas, AGraphDoesNotRecordItsFirstUse) {
  run_apart([] {
    const fake::BlasControl& control = GetParam().use("vendor");
    const Device device = GetParam().gpu.device();
    const Tensor x = numbers({5, 5}, DType::F32, 1).to_device(device);
    {
      const Tensor warm = Tensor::empty({5, 5}, DType::F32, device);
    }  // memory for the result
    Tensor y;
    EXPECT_ERROR(Graph::capture(device, [&] { y = x.matmul(x); }), Unsupported,
                 "a graph cannot record the first use of " + GetParam().product +
                     "; run the same operations once before capturing");
    EXPECT_EQ(control.handles, 0);
    expect_small_product(device);
    return "";
  });
}

TEST_P(VendorBlas, SearchesOnceForAShape) {
  run_apart([] {
    const fake::BlasControl& control = GetParam().use("vendor");
    const Device device = GetParam().gpu.device();
    for (int i = 0; i < 3; ++i) expect_small_product(device);
    EXPECT_EQ(control.products, 3);
    EXPECT_LE(control.searches, 1);
    return "";
  });
}

TEST_P(VendorBlas, ThreadsShareIt) {
  run_apart([] {
    const fake::BlasControl& control = GetParam().use("vendor");
    const Device device = GetParam().gpu.device();
    std::vector<std::thread> threads;
    for (uint32_t i = 0; i < 4; ++i)
      threads.emplace_back([device, i] {
        for (uint32_t round = 0; round < 20; ++round) {
          const DType dtype = i % 2 == 0 ? DType::F32 : DType::F64;
          const Tensor a = numbers({1, 2 + i, 3 + round % 4}, dtype, i);
          const Tensor b = numbers({1, 3 + round % 4, 5}, dtype, round);
          expect_product(a, b, a.to_device(device).matmul(b.to_device(device)).to_device(Device::cpu()));
        }
      });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(control.products, 80);
    EXPECT_EQ(control.handles, 1);
    EXPECT_EQ(control.refusals, 0) << control.refused;
    return "";
  });
}

// With "auto" a library only helps: where it is not there or fails, or a graph is recorded, the product is
// left to our kernels.
TEST_P(VendorBlas, IsNotMissedWhereATableAskedForIt) {
  const std::vector<gpu::blas::Win> table = {{GetParam().gpu.arch, DType::F32, {5, 5}, {1, 9}, {5, 5}}};
  const gpu::blas::Choice choice{gpu::VendorMode::Auto, table};
  const auto made = [&choice](const Tensor& x, const Tensor& y) {
    const Layout one;
    const std::byte* from = x.storage().data();
    return gpu::blas::multiply(choice, gpu::Gpu::of(x.device()), gpu::GpuBackend::of(x.device()),
                               {5, 5, 5, DType::F32, DType::F32, DType::F32, from, from, y.storage().data(),
                                5, 1, 5, 1, 5, 1, Nest<3>({&one, &one, &one})});
  };
  run_apart([&] {
    fake::BlasControl& control = GetParam().use("auto");
    const Device device = GetParam().gpu.device();
    const Tensor x = numbers({5, 5}, DType::F32, 1).to_device(device);
    const Tensor y = Tensor::empty({5, 5}, DType::F32, device);
    control.fail_status = 6;
    control.fail_nth = 1;
    EXPECT_FALSE(made(x, y));
    EXPECT_NE(control.failed[0], 0);
    int64_t nth = 1;
    for (; control.products == 0 && nth < 100; ++nth) {
      control.fail_nth = nth;
      made(x, y);
    }
    EXPECT_GT(nth, 3);
    control.fail_nth = 0;
    const int64_t products = control.products;
    EXPECT_TRUE(made(x, y));
    EXPECT_EQ(control.products, products + 1);
    Graph::capture(device, [&] { EXPECT_FALSE(made(x, y)); });
    EXPECT_EQ(control.products, products + 1);
    EXPECT_EQ(control.refusals, 0) << control.refused;
    return "";
  });
  run_apart([&] {
    GetParam().use("auto");
    ::setenv(GetParam().variable.c_str(), "/nowhere/libblas.so", 1);
    const Tensor x = numbers({5, 5}, DType::F32, 1).to_device(GetParam().gpu.device());
    EXPECT_FALSE(made(x, x));
    return "";
  });
}

TEST(BlasChoice, TheTableDecides) {
  using gpu::blas::Win;
  const std::vector<Win> table = {{"sm_90", DType::F16, {16, 64}, {1024, INT64_MAX}, {1, 4096}},
                                  {"gfx942", DType::F32, {1, 1}, {1, 1}, {1, 1}}};
  const auto wins = [&](std::string_view arch, DType dtype, int64_t m, int64_t n, int64_t k) {
    const Layout one;
    gpu::Product product{m,       n, k, dtype, dtype, dtype, nullptr, nullptr,
                         nullptr, k, 1, n,     1,     n,     1,       Nest<3>({&one, &one, &one})};
    return gpu::blas::wins(table, arch, product);
  };
  EXPECT_TRUE(wins("sm_90", DType::F16, 16, 1024, 1));
  EXPECT_TRUE(wins("sm_90", DType::F16, 64, 5000, 4096));
  EXPECT_FALSE(wins("sm_90", DType::F16, 15, 1024, 64));
  EXPECT_FALSE(wins("sm_90", DType::F16, 65, 1024, 64));
  EXPECT_FALSE(wins("sm_90", DType::F16, 16, 1023, 64));
  EXPECT_FALSE(wins("sm_90", DType::F16, 16, 1024, 4097));
  EXPECT_FALSE(wins("sm_90", DType::BF16, 16, 1024, 64));
  EXPECT_FALSE(wins("sm_80", DType::F16, 16, 1024, 64));
  EXPECT_TRUE(wins("gfx942", DType::F32, 1, 1, 1));
  const Layout two(Shape{2});
  EXPECT_FALSE(gpu::blas::wins(table, "gfx942",
                               {1, 1, 1, DType::F32, DType::F32, DType::F32, nullptr, nullptr, nullptr, 1, 1,
                                1, 1, 1, 1, Nest<3>({&two, &two, &two})}));
}

TEST(Hipblaslt, OldOnesAreRefused) {
  for (const VendorLibrary& library : libraries()) {
    if (library.name != "hipblaslt") continue;
    run_apart([&] {
      fake::BlasControl& control = library.use("vendor");
      control.version = 800;  // of ROCm 6.2, with another layout of what a search finds
      const Tensor x = numbers({5, 5}, DType::F32, 1).to_device(library.gpu.device());
      EXPECT_ERROR(x.matmul(x), Device, "is too old: it is hipBLASLt 0.8, and 0.10 is needed; update ROCm");
      EXPECT_EQ(control.handles, 0);
      control.version = 1000;
      expect_small_product(library.gpu.device());
      return "";
    });
  }
}

TEST(Hipblaslt, WhereItDoesNotStartRocblasServes) {
  for (const VendorLibrary& library : libraries()) {
    if (library.name != "hipblaslt") continue;
    run_apart([&] {
      fake::BlasControl& old = library.use("vendor");
      old.version = 800;
      ::setenv("BEESWAX_ROCBLAS_LIBRARY", stand_in("rocblas").c_str(), 1);
      const fake::BlasControl& other = blas_control(stand_in("rocblas"));
      expect_small_product(library.gpu.device());
      EXPECT_EQ(old.products, 0);
      EXPECT_EQ(other.products, 1);
      return "";
    });
  }
}

TEST(Rocblas, ThatIsLinkedWithAnotherRuntimeIsRefused) {
  for (const VendorLibrary& library : libraries()) {
    if (library.name != "rocblas") continue;
    run_apart([&] {
      library.use("vendor", stand_in("other_rocblas"));
      const Tensor x = numbers({5, 5}, DType::F32, 1).to_device(library.gpu.device());
      EXPECT_ERROR(x.matmul(x), Device,
                   "libother_rocblas.so uses another HIP runtime than " + library.gpu.library);
      return "";
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Libraries, VendorBlas, testing::ValuesIn(libraries()),
                         [](const auto& info) { return info.param.name; });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(VendorBlas);

}  // namespace
}  // namespace beeswax::test
