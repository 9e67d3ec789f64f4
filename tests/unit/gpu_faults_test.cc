// SPDX-License-Identifier: Apache-2.0
// The GPU layer over drivers that fail on request: every failure is an Error that says what and where,
// nothing leaks, and the device goes on wherever a real one could.
#include <gtest/gtest.h>

#include "beeswax/tensor.h"
#include "support/apart.h"
#include "support/expect_error.h"
#include "support/fake_gpu.h"

namespace beeswax::test {
namespace {

// Tensors from the host, an elementwise operation, a product, a sum, and the way back.
void small_program(const Device& device) {
  const std::vector<float> values(256, 1.0F);
  const Tensor a = Tensor::from_vec(values, {16, 16}, device);
  const Tensor b = Tensor::from_vec(values, {16, 16}, device);
  const Tensor sum = a.add(b).matmul(b).sum_all();
  EXPECT_EQ(sum.to_vec<float>().size(), 1u);
}

// The first failure of the program, or "".
std::string failure_of_program(const Device& device, ErrorKind* kind) {
  try {
    small_program(device);
  } catch (const Error& e) {
    *kind = e.kind();
    return e.what();
  }
  return "";
}

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

// Calls whose failure a program need not notice: questions for a report, releases, memory that is asked for
// once more, and finished code that gives way to PTX.
bool may_pass(std::string_view call, int error) {
  const bool lost = error == 719;
  return has(call, "GetVersion") || has(call, "Free") || has(call, "Destroy") || has(call, "Unload") ||
         (error == 2 && (call == "cuMemAlloc_v2" || call == "hipMalloc")) ||
         (!lost && error != 2 && call == "cuModuleLoadData");
}
// A driver that does not open stays closed to the process.
bool closes_driver(std::string_view call) { return call == "cuInit" || call == "hipInit"; }

std::string_view words_of(int error) {
  return error == 1 ? "invalid argument" : error == 2 ? "out of memory" : "a failure on request";
}

class GpuFaults : public testing::TestWithParam<FakeGpu> {
 protected:
  // Calls part(control, n) in processes of their own, for n = 1, 2, ... until no call was left to fail.
  template <class Part>
  void for_every_call(const Part& part) {
    int64_t n = 0;
    for (std::string hit = "first"; !hit.empty() && !HasFailure();) {
      ++n;
      SCOPED_TRACE(testing::Message() << "call " << n);
      hit = run_apart([&] {
        fake::Control& control = GetParam().control();
        part(control, n);
        return std::string(control.failed);
      });
    }
    EXPECT_GT(n, 20);
  }
};

TEST_P(GpuFaults, ASmallProgramLeavesNothing) {
  run_apart([this] {
    fake::Control& control = GetParam().control();
    small_program(GetParam().device());
    EXPECT_GE(control.launches, 3);
    expect_nothing_leaks(GetParam(), control);
    return "";
  });
}

TEST_P(GpuFaults, AnyCallFails) {
  for (const int error : {1, 2, 801})
    for_every_call([&](fake::Control& control, int64_t n) {
      const Device device = GetParam().device();
      set_fault(control, "", n, error);
      ErrorKind kind{};
      const std::string text = failure_of_program(device, &kind);
      if (control.failed[0] == 0) return;
      if (text.empty()) {
        EXPECT_TRUE(may_pass(control.failed, error)) << control.failed << " failed and nobody noticed";
      } else {
        EXPECT_TRUE(has(text, words_of(error))) << text;
        EXPECT_EQ(kind,
                  error == 2 && !closes_driver(control.failed) ? ErrorKind::OutOfMemory : ErrorKind::Device);
      }
      const std::string hit = control.failed;
      if (closes_driver(hit)) return;
      control.fail_nth = 0;
      small_program(device);
      expect_nothing_leaks(GetParam(), control);
    });
}

TEST_P(GpuFaults, ALostDeviceStaysLost) {
  for_every_call([&](fake::Control& control, int64_t n) {
    set_fault(control, "", n, 719, true);
    for (int run = 0; run < 2; ++run) {
      ErrorKind kind{};
      const std::string text = failure_of_program(GetParam().device(), &kind);
      if (control.failed[0] == 0) return;
      if (text.empty()) {
        EXPECT_TRUE(run == 0 && may_pass(control.failed, 719))
            << control.failed << " failed and nobody noticed";
      } else {
        EXPECT_EQ(kind, ErrorKind::Device);
        EXPECT_TRUE(closes_driver(control.failed) || has(text, "lost to the process, start it again"))
            << text;
      }
    }
  });
}

TEST_P(GpuFaults, MessagesNameTheKernelAndSayWhatToDo) {
  run_apart([this] {
    fake::Control& control = GetParam().control();
    const Device device = GetParam().device();
    const bool cuda = GetParam().name == "cuda:0";
    small_program(device);
    const Tensor x = Tensor::zeros({64}, DType::F32, device);
    set_fault(control, cuda ? "cuLaunchKernel" : "hipModuleLaunchKernel", 1, 701);
    EXPECT_ERROR(x.exp(), Device, "launching the kernel unary_exp_f32 of exp on " + GetParam().name);
    const Tensor y = x.exp();  // the device goes on
    set_fault(control, cuda ? "cuStreamSynchronize" : "hipStreamSynchronize", 1, 700, true);
    EXPECT_ERROR(
        y.to_vec<float>(), Device,
        "waiting for the device " + GetParam().name + " (the last kernel was unary_exp_f32 of exp): ");
    EXPECT_ERROR(x.add(y), Device, "this device is lost to the process, start it again");
    return "";
  });
}

TEST_P(GpuFaults, KeptMemoryIsGivenBackBeforeMemoryIsOut) {
  run_apart([this] {
    fake::Control& control = GetParam().control();
    const Device device = GetParam().device();
    gpu::Pool& pool = gpu::Gpu::of(device).pool();
    constexpr int64_t kMiB = 1 << 20;
    control.memory_bytes = 8 * kMiB + 4096;  // and the slot for errors
    {
      const Tensor first = Tensor::empty({3 * kMiB}, DType::U8, device);
      const Tensor second = Tensor::empty({4 * kMiB}, DType::U8, device);
      EXPECT_ERROR(Tensor::empty({2 * kMiB}, DType::U8, device), OutOfMemory, "2097152 bytes on the GPU: ");
      EXPECT_ERROR(Tensor::empty({2 * kMiB}, DType::U8, device), OutOfMemory, "7340032 bytes are in use");
    }
    EXPECT_EQ(pool.statistics().kept_bytes, size_t{7 * kMiB});
    const Tensor large = Tensor::empty({8 * kMiB}, DType::U8, device);  // only with what was kept
    EXPECT_EQ(pool.statistics().kept_bytes, 0u);
    EXPECT_EQ(control.allocations, 1);
    return "";
  });
}

INSTANTIATE_TEST_SUITE_P(Drivers, GpuFaults, testing::ValuesIn(fake_gpus()),
                         [](const auto& info) { return info.param.name.substr(0, 4); });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(GpuFaults);

}  // namespace
}  // namespace beeswax::test
