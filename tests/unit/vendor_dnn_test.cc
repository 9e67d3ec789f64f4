// SPDX-License-Identifier: Apache-2.0
// Vendors' libraries of convolutions that are not there, lack functions or fail, and when they are asked at
// all: stand-ins over the fake drivers, whose memory is the host's, so that sanitizers see each access.
#include <gtest/gtest.h>

#include <filesystem>
#include <thread>

#include "backends/gpu/backend.h"
#include "backends/gpu/dnn/conv.h"
#include "backends/gpu/report.h"
#include "ops/common.h"
#include "support/apart.h"
#include "support/expect_error.h"
#include "support/fake_dnn.h"
#include "support/fake_gpu.h"
#include "support/library_without.h"

namespace beeswax::test {
namespace {

namespace dnn = gpu::dnn;

struct Row {
  std::string symbol;
  bool required;
};

struct VendorLibrary {
  std::string name, title, file, product, variable, advice;
  std::string make_handle, run;  // functions
  int failure;                   // the status of an internal error
  FakeGpu gpu;
  std::vector<Row> rows;

  friend void PrintTo(const VendorLibrary& library, std::ostream* out) { *out << library.name; }
  Device device() const { return gpu.device(); }
  /// For this process: the fake driver, and the stand-in or another file.
  fake_dnn::Control& use(const char* choice, const std::string& other = "") const {
    gpu.control();
    ::setenv("BEESWAX_DNN", choice, 1);
    return use_stand_in(variable.c_str(), other.empty() ? file : other, gpu.library);
  }
  int64_t launches() const { return gpu.control().launches; }
};

std::vector<VendorLibrary> libraries() {
  std::vector<VendorLibrary> out;
  if (const FakeGpu hip = fake_hip(); gpu::Bundle::embedded().target_for(hip.arch).has_value())
    out.push_back({"miopen",
                   "MIOpen 3.2.1",
                   kFakeMiopen,
                   "MIOpen",
                   "BEESWAX_MIOPEN_LIBRARY",
                   "install AMD's (ROCm's package miopen-hip)",
                   "miopenCreateWithStream",
                   "miopenConvolutionForwardImmediate",
                   5,
                   hip,
                   {
#define BW_MIOPEN(name, need, parameters) {#name, std::string_view(#need) == "Required"},
#include "backends/hip/miopen_api.def"
                   }});
  if (const FakeGpu cuda = fake_cuda(); gpu::Bundle::embedded().target_for(cuda.arch).has_value())
    out.push_back({"cudnn",
                   "cuDNN 9.19.0",
                   kFakeCudnn,
                   "cuDNN",
                   "BEESWAX_CUDNN_LIBRARY",
                   "install NVIDIA's cuDNN 8 or 9",
                   "cudnnCreate",
                   "cudnnConvolutionForward",
                   4000,
                   cuda,
                   {
#define BW_CUDNN(name, need, parameters) {#name, std::string_view(#need) == "Required"},
#include "backends/cuda/cudnn_api.def"
                   }});
  return out;
}

constexpr ConvCase kSmall = {false, false, 1, 1, 2, 3, 5, 6, 3, 3, {1, 1, 1}};
constexpr ConvCase kBack = {true, false, 1, 1, 2, 3, 5, 6, 3, 3, {1, 2, 1}};

class VendorDnn : public testing::TestWithParam<VendorLibrary> {
 protected:
  static void expect_no_leaks(const fake_dnn::Control& control) {
    const gpu::Gpu& gpu = gpu::Gpu::of(GetParam().device());
    const auto plans = dnn::statistics(gpu).plans;
    EXPECT_EQ(control.misuses, 0) << control.misuse;
    EXPECT_EQ(control.handles, 1);
    EXPECT_LE(control.convolutions, plans);
    EXPECT_EQ(control.tensors + control.kernels, 3 * control.convolutions);
    EXPECT_EQ(gpu::Gpu::of(GetParam().device()).pool().statistics().used_bytes, 0u);
  }
};

TEST_P(VendorDnn, DoesConvolutions) {
  run_apart([] {
    const fake_dnn::Control& control = GetParam().use("vendor");
    int64_t done = 0;
    for (const ConvCase& c : conv_cases()) {
      if (GetParam().name == "miopen" && c.groups > 1 && c.options.dilation > 1) continue;
      if (c.transposed && c.options.output_padding >= c.options.stride) continue;
      for (const DType dtype : {DType::F32, DType::F16, DType::BF16}) {
        if (GetParam().name == "cudnn" && c.transposed && dtype == DType::F16) continue;
        expect_conv(c, dtype, GetParam().device());
        EXPECT_EQ(control.runs, ++done) << c.describe() << " " << dtype_name(dtype);
        if (testing::Test::HasFailure()) return "";
      }
    }
    EXPECT_GT(control.transposed, 0);
    EXPECT_GT(control.in_workspace, 0);
    EXPECT_EQ(control.convolutions, dnn::statistics(gpu::Gpu::of(GetParam().device())).plans);
    expect_no_leaks(control);
    return "";
  });
}

TEST_P(VendorDnn, PlansAreMadeOnceAndNotKeptForEver) {
  run_apart([] {
    const fake_dnn::Control& control = GetParam().use("vendor");
    const gpu::Gpu& gpu = gpu::Gpu::of(GetParam().device());
    for (int i = 0; i < 3; ++i) expect_conv(kSmall, DType::F32, GetParam().device());
    EXPECT_EQ(dnn::statistics(gpu).plans, 1);
    EXPECT_EQ(control.convolutions, 1);
    for (int64_t length = 1; length <= 600; ++length)
      expect_conv({false, true, 1, 1, 1, 1, 1, length, 1, 1, {}}, DType::F32, GetParam().device());
    EXPECT_EQ(control.runs, 603);
    EXPECT_LE(control.convolutions, 512);
    expect_no_leaks(control);
    return "";
  });
}

TEST_P(VendorDnn, IsAskedOnlyWhereItIsWanted) {
  for (const char* choice : {"own", "auto", ""}) {
    run_apart([&] {
      const fake_dnn::Control& control = GetParam().use(choice);
      const ConvInputs in(kSmall, DType::F32, GetParam().device());
      EXPECT_EQ(kSmall.run(in.x, in.kernel).shape(), kSmall.out_shape());
      EXPECT_EQ(control.handles, 0) << choice;
      EXPECT_EQ(GetParam().launches(), 1);
      return "";
    });
  }
  run_apart([] {
    GetParam().use("fastest");
    const ConvInputs in(kSmall, DType::F32, GetParam().device());
    for (int again = 0; again < 2; ++again)
      EXPECT_ERROR(kSmall.run(in.x, in.kernel), InvalidArgument,
                   "[conv2d] BEESWAX_DNN is 'fastest'; accepted: own, vendor, auto");
    return "";
  });
}

TEST_P(VendorDnn, ThatIsNotThereIsAnErrorThatSaysWhatToInstall) {
  run_apart([] {
    GetParam().use("vendor");
    ::setenv(GetParam().variable.c_str(), "/nowhere/libdnn.so", 1);
    const ConvInputs in(kSmall, DType::F32, GetParam().device());
    EXPECT_ERROR(kSmall.run(in.x, in.kernel), Device,
                 "[conv] BEESWAX_DNN=vendor on " + GetParam().gpu.name + ": " + GetParam().product +
                     " not found; " + GetParam().advice + ", or name the file in " + GetParam().variable +
                     " (/nowhere/libdnn.so: ");
    return "";
  });
}

TEST(Miopen, ThatIsLinkedWithAnotherRuntimeIsRefused) {
  for (const VendorLibrary& library : libraries()) {
    if (library.name != "miopen") continue;
    run_apart([&] {
      library.use("vendor", BW_BINARY_DIR "/lib-fake/libother_MIOpen.so");
      const ConvInputs in(kSmall, DType::F32, library.device());
      EXPECT_ERROR(kSmall.run(in.x, in.kernel), Device,
                   "libother_MIOpen.so uses another HIP runtime than " + library.gpu.library);
      return "";
    });
  }
}

TEST_P(VendorDnn, DevicesAreListedWithIt) {
  const auto listed = [](const std::string& file) {
    return run_apart([&] {
      GetParam().use("own");
      ::setenv(GetParam().variable.c_str(), file.c_str(), 1);
      return gpu::report_libraries(GetParam().device().kind());
    });
  };
  EXPECT_NE(listed(GetParam().file).find(", " + GetParam().title), std::string::npos);
  EXPECT_NE(listed("/nowhere/libdnn.so").find(", " + GetParam().product + " not found"), std::string::npos);
}

TEST_P(VendorDnn, MissingFunctionsAreNamed) {
  for (const Row& row : GetParam().rows) {
    SCOPED_TRACE(row.symbol);
    const std::string file = library_without(GetParam().file, row.symbol);
    run_apart([&] {
      GetParam().use("vendor", file);
      const ConvInputs in(kSmall, DType::F32, GetParam().device());
      EXPECT_TRUE(row.required);
      EXPECT_ERROR(kSmall.run(in.x, in.kernel), Device,
                   file + " lacks " + row.symbol + "; " + GetParam().advice);
      return "";
    });
    std::filesystem::remove(file);
  }
}

// Each call that three convolutions make fails in turn: an error names it, nothing leaks, and the next one is
// done.
TEST_P(VendorDnn, AnyCallMayFail) {
  std::string hit = "first";
  int64_t n = 0;
  for (; !hit.empty() && !HasFailure();) {
    ++n;
    SCOPED_TRACE(testing::Message() << "call " << n);
    hit = run_apart([&] {
      fake_dnn::Control& control = GetParam().use("vendor");
      control.fail_nth = n;
      control.fail_status = GetParam().failure;
      std::string text;
      try {
        expect_conv(kSmall, DType::F32, GetParam().device());
        expect_conv(kBack, DType::BF16, GetParam().device());
        expect_conv(kSmall, DType::F32, GetParam().device());
      } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::Device);
        text = e.what();
      }
      if (control.failed[0] == 0) return std::string();
      EXPECT_NE(text.find("[conv] "), std::string::npos) << control.failed << " failed and nobody noticed";
      EXPECT_NE(text.find(std::string(control.failed) + " says "), std::string::npos) << text;
      control.fail_nth = 0;
      expect_conv(kSmall, DType::F32, GetParam().device());
      expect_conv(kBack, DType::BF16, GetParam().device());
      expect_no_leaks(control);
      return std::string(control.failed);
    });
  }
  EXPECT_GT(n, 25);
}

TEST_P(VendorDnn, FailuresAreTold) {
  run_apart([] {
    fake_dnn::Control& control = GetParam().use("vendor");
    const ConvInputs in(kSmall, DType::F32, GetParam().device());
    const auto fail_next = [&](const std::string& function) {
      std::snprintf(control.fail_call, sizeof(control.fail_call), "%s", function.c_str());
      control.fail_status = GetParam().failure;
      control.fail_nth = 1;
    };
    fail_next(GetParam().make_handle);
    EXPECT_ERROR(kSmall.run(in.x, in.kernel), Device,
                 "[conv] " + GetParam().title + ": " + GetParam().make_handle + " says ");
    EXPECT_EQ(control.handles, 0);
    fail_next(GetParam().run);
    EXPECT_ERROR(kSmall.run(in.x, in.kernel), Device,
                 "[conv] " + GetParam().gpu.name + ": " + GetParam().run + " says ");
    EXPECT_EQ(kSmall.run(in.x, in.kernel).shape(), kSmall.out_shape());
    EXPECT_EQ(control.runs, 1);
    return "";
  });
}

// Ours do what the library does not, or not as precisely as is promised, or not within the memory that is
// there.
TEST_P(VendorDnn, TheRestIsOurs) {
  run_apart([] {
    fake_dnn::Control& control = GetParam().use("vendor");
    int64_t launched = GetParam().launches();
    const auto expect_ours = [&](const ConvCase& c, DType dtype) {
      const ConvInputs in(c, dtype, GetParam().device());
      EXPECT_EQ(c.run(in.x, in.kernel).shape(), c.out_shape());
      EXPECT_EQ(control.runs, 0) << c.describe();
      EXPECT_GT(GetParam().launches(), launched) << c.describe();
      launched = GetParam().launches();
    };
    expect_ours(kSmall, DType::F64);
    if (GetParam().name == "cudnn") expect_ours(kBack, DType::F16);  // beyond the bound on real cards
    expect_ours({true, false, 1, 1, 2, 3, 4, 5, 3, 3, {1, 1, 3, 1, 2}}, DType::F32);  // output padding
    control.nothing = true;
    expect_ours(kSmall, DType::F32);
    control.nothing = false;
    control.only_transforms = true;
    expect_ours(kBack, DType::F32);
    control.only_transforms = false;
    control.workspace_bytes = size_t{1} << 31;  // more than is ever taken
    expect_ours(kSmall, DType::F16);
    control.workspace_bytes = size_t{1} << 29;
    GetParam().gpu.control().memory_bytes = size_t{1} << 28;  // more than there is
    expect_ours(kSmall, DType::BF16);
    GetParam().gpu.control().memory_bytes = size_t{1} << 30;
    expect_conv(kSmall, DType::BF16, GetParam().device());  // which was no fault of the plan
    EXPECT_EQ(control.runs, 1);
    expect_no_leaks(control);
    return "";
  });
}

TEST_P(VendorDnn, TakesCallsFromManyThreads) {
  run_apart([] {
    const fake_dnn::Control& control = GetParam().use("vendor");
    std::vector<std::thread> threads;
    for (int64_t t = 0; t < 4; ++t)
      threads.emplace_back([t] {
        for (int64_t i = 0; i < 10; ++i)
          expect_conv({i % 2 == 1, false, 1, 1, 1 + t, 2, 4, 5 + i, 2, 2, {}}, DType::F32,
                      GetParam().device());
      });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(control.runs, 40);
    expect_no_leaks(control);
    return "";
  });
}

// Release 8 numbers its statuses otherwise; 7 has not all functions by which convolutions are done here.
TEST(CudnnReleases, EightServesAndSevenDoesNot) {
  const FakeGpu cuda = fake_cuda();
  if (!gpu::Bundle::embedded().target_for(cuda.arch).has_value())
    GTEST_SKIP() << "built without NVIDIA's targets";
  const auto use = [&](int64_t version) -> fake_dnn::Control& {
    cuda.control();
    ::setenv("BEESWAX_DNN", "vendor", 1);
    fake_dnn::Control& control = use_stand_in("BEESWAX_CUDNN_LIBRARY", kFakeCudnn, cuda.library);
    control.version = version;
    return control;
  };
  run_apart([&] {
    fake_dnn::Control& control = use(8907);
    EXPECT_EQ(dnn::library_for(DeviceKind::Cuda).library->title(), "cuDNN 8.9.7");
    for (const ConvCase& c : {kSmall, kBack}) expect_conv(c, DType::F32, cuda.device());
    EXPECT_EQ(control.runs, 2);
    control.nothing = true;  // CUDNN_STATUS_NOT_SUPPORTED of 8: ours do it
    const ConvInputs in(kSmall, DType::F16, cuda.device());
    EXPECT_EQ(kSmall.run(in.x, in.kernel).shape(), kSmall.out_shape());
    EXPECT_EQ(control.runs, 2);
    return "";
  });
  run_apart([&] {
    use(7605);
    const ConvInputs in(kSmall, DType::F32, cuda.device());
    EXPECT_ERROR(kSmall.run(in.x, in.kernel), Device,
                 "is cuDNN 7.6.5, too old; install NVIDIA's cuDNN 8 or 9");
    return "";
  });
}

// What conv_choice.def will say when something was measured.
TEST_P(VendorDnn, ATableChoosesIt) {
  run_apart([] {
    fake_dnn::Control& control = GetParam().use("auto");
    gpu::Gpu& gpu = gpu::Gpu::of(GetParam().device());
    const Shape unpadded{1, 3, 3, 4};
    const Tensor out = Tensor::empty(unpadded, DType::F32, GetParam().device());
    ConvShape shape{1, 1, 2, 3, 5, 6, 3, 4, 3, 3, 1, 1, 0, 0, 1, 1};
    const auto chosen = [&](const dnn::ChoiceRow& row, const Tensor& y) {
      const ConvInputs in(kSmall, DType::F32, GetParam().device());
      return dnn::conv({gpu::VendorMode::Auto, {&row, 1}}, gpu, gpu::GpuBackend::of(GetParam().device()),
                       shape, ops::operand(in.x), ops::operand(in.kernel), ops::target(y), false);
    };
    const std::string& arch = GetParam().gpu.arch;
    using enum dnn::ShapeClass;
    EXPECT_FALSE(chosen({"sm_10", DType::F32, FewChannels}, out));
    EXPECT_FALSE(chosen({arch, DType::F16, FewChannels}, out));
    EXPECT_FALSE(chosen({arch, DType::F32, Window}, out));
    EXPECT_EQ(control.handles, 0);
    // Nor where the result begins between the addresses that vectors may have.
    const Tensor all = Tensor::empty({unpadded.elem_count() + 1}, DType::F32, GetParam().device());
    const Tensor shifted = all.narrow(0, 1, all.dim(0) - 1).reshape(unpadded);
    const dnn::ChoiceRow row{arch, DType::F32, FewChannels};
    EXPECT_FALSE(chosen(row, shifted));
    // Nor over padding: an infinite weight gives NaN there by our rule alone.
    shape.h_out = 5;
    shape.h_padding = 1;
    EXPECT_FALSE(chosen(row, Tensor::empty({1, 3, 5, 4}, DType::F32, GetParam().device())));
    shape.h_out = 3;
    shape.h_padding = 0;
    EXPECT_EQ(control.handles, 0);
    // A library that fails is no error for who did not ask for it.
    control.fail_nth = 3;
    control.fail_status = GetParam().failure;
    EXPECT_FALSE(chosen(row, out));
    EXPECT_NE(control.failed[0], 0);
    EXPECT_TRUE(chosen(row, out));
    EXPECT_EQ(control.runs, 1);
    EXPECT_EQ(control.misuses, 0) << control.misuse;
    return "";
  });
}

INSTANTIATE_TEST_SUITE_P(Libraries, VendorDnn, testing::ValuesIn(libraries()),
                         [](const auto& info) { return info.param.name; });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(VendorDnn);

TEST(VendorMode, WordsOfTheVariable) {
  const gpu::VendorVariable variable("BEESWAX_DNN", "conv");
  EXPECT_EQ(variable.mode_of(nullptr), gpu::VendorMode::Auto);
  EXPECT_EQ(variable.mode_of(""), gpu::VendorMode::Auto);
  EXPECT_EQ(variable.mode_of("auto"), gpu::VendorMode::Auto);
  EXPECT_EQ(variable.mode_of("own"), gpu::VendorMode::Own);
  EXPECT_EQ(variable.mode_of("vendor"), gpu::VendorMode::Vendor);
  EXPECT_ERROR(variable.mode_of("Own"), InvalidArgument,
               "[conv] BEESWAX_DNN is 'Own'; accepted: own, vendor, auto");
}

TEST(ConvChoice, TheVariableIsReadOnceAndABenchmarkMayChange) {
  run_apart([] {
    ::setenv("BEESWAX_DNN", "own", 1);
    EXPECT_EQ(dnn::choice().mode, gpu::VendorMode::Own);
    ::setenv("BEESWAX_DNN", "vendor", 1);
    EXPECT_EQ(dnn::choice().mode, gpu::VendorMode::Own);
    dnn::set_mode(gpu::VendorMode::Vendor);
    EXPECT_EQ(dnn::choice().mode, gpu::VendorMode::Vendor);
    return "";
  });
}

TEST(ConvChoice, ClassesOfShapes) {
  dnn::Conv conv{DType::F32, false, 1, 1, 64, 28, 28, 128, 28, 28, 3, 3, 1, 1, 1, 1, 1, 1};
  EXPECT_EQ(dnn::class_of(conv), dnn::ShapeClass::Window);
  const auto changed = [&conv](auto change) {
    dnn::Conv other = conv;
    change(other);
    return dnn::class_of(other);
  };
  EXPECT_EQ(changed([](dnn::Conv& c) { c.h_k = c.w_k = 1; }), dnn::ShapeClass::Pointwise);
  EXPECT_EQ(changed([](dnn::Conv& c) { c.groups = c.c_out = 64; }), dnn::ShapeClass::Depthwise);
  EXPECT_EQ(changed([](dnn::Conv& c) { c.groups = 4; }), dnn::ShapeClass::Grouped);
  EXPECT_EQ(changed([](dnn::Conv& c) { c.h_in = c.h_k = c.h_out = 1; }), dnn::ShapeClass::Line);
  EXPECT_EQ(changed([](dnn::Conv& c) { c.c_in = 3; }), dnn::ShapeClass::FewChannels);
  EXPECT_EQ(changed([](dnn::Conv& c) { c.transposed = true; }), dnn::ShapeClass::Transposed);
}

}  // namespace
}  // namespace beeswax::test
