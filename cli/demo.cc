// SPDX-License-Identifier: Apache-2.0
// `beeswax demo`: a picture drawn with tensor operations, four measured pieces of work, each checked, and
// then the model in the box.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "beeswax/qtensor.h"
#include "beeswax/system.h"
#include "beeswax/tensor.h"
#include "cli/commands.h"
#include "cli/numbers.h"

namespace beeswax::cli {
namespace {

// Points of the plane that stay bounded under z*z + c, as text: broadcasting, arithmetic, comparison and
// where.
void draw_mandelbrot(const Device& device) {
  constexpr int64_t kRows = 21;
  constexpr int64_t kColumns = 76;
  const Tensor cx = (Tensor::arange(0, kColumns, DType::F32, device) * (3.0 / (kColumns - 1)) - 2.2)
                        .broadcast_as({kRows, kColumns});
  const Tensor cy = (Tensor::arange(0, kRows, DType::F32, device) * (2.3 / (kRows - 1)) - 1.15).unsqueeze(1);
  Tensor x = cx.zeros_like();
  Tensor y = cx.zeros_like();
  Tensor steps = cx.zeros_like();
  for (int i = 0; i < 60; ++i) {
    const Tensor inside = (x.sqr() + y.sqr()).lt(4.0);
    steps = steps + inside.to_dtype(DType::F32);
    const Tensor next = x.sqr() - y.sqr() + cx;
    y = inside.where_cond(2 * x * y + cy, y);
    x = inside.where_cond(next, x);
  }
  const std::vector<float> values = steps.to_vec<float>();
  constexpr const char* kShades = " .:-=+*#%@";
  for (size_t row = 0; row < kRows; ++row) {
    std::string line;
    for (size_t column = 0; column < kColumns; ++column) {
      const double share = std::log(values[row * kColumns + column]) / std::log(60.0);
      line += kShades[static_cast<size_t>(std::clamp(share * 9.0, 0.0, 9.0))];
    }
    std::printf("  %s\n", line.c_str());
  }
}

template <class F>
double best_seconds(const F& work) {
  double best = HUGE_VAL;
  for (int i = 0; i < 5; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

double largest(const Tensor& x) { return x.abs().to_dtype(DType::F64).max_all().to_scalar<double>(); }

void matmul(const Device& device) {
  constexpr int64_t kN = 1024;
  const Tensor a = Tensor::randn({kN, kN}, DType::F32, device);
  const Tensor b = Tensor::randn({kN, kN}, DType::F32, device);
  Tensor c;
  const double seconds = best_seconds([&] { c = a.matmul(b); });
  const Tensor exact = a.narrow(0, 0, 8).to_dtype(DType::F64).matmul(b.to_dtype(DType::F64));
  std::printf("  f32 1024x1024 times 1024x1024    %7.1f GFLOP/s   largest error against f64 %.1e\n",
              2.0 * kN * kN * kN / seconds * 1e-9, largest(c.narrow(0, 0, 8).to_dtype(DType::F64) - exact));
}

void softmax(const Device& device) {
  const Tensor x = Tensor::randn({4096, 4096}, DType::F32, device);
  Tensor y;
  const double seconds = best_seconds([&] { y = x.softmax(-1); });
  std::printf("  softmax of 4096 rows of 4096      %7.1f GB/s      rows sum to 1 within %.1e\n",
              2 * 4.0 * 4096 * 4096 / seconds * 1e-9, largest(y.sum(-1) - 1));
}

void quantized(const Device& device) {
  const Tensor weight = Tensor::randn({4096, 4096}, DType::F32, device) / 64;
  const Tensor x = Tensor::randn({1, 4096}, DType::F32, device);
  const QTensor packed = QTensor::quantize(weight, QuantType::Q4_K);
  Tensor y;
  const double seconds = best_seconds([&] { y = packed.forward(x); });
  const Tensor exact = x.matmul(weight.t());
  const double error = (y - exact).norm_all().to_scalar<float>() / exact.norm_all().to_scalar<float>();
  std::printf("  q4_k 4096x4096 times a vector     %7.1f GB/s      %.1f%% from the f32 product\n",
              static_cast<double>(packed.bytes().size()) / seconds * 1e-9, 100 * error);
}

void sort(const Device& device) {
  const Tensor x = Tensor::rand({1 << 20}, DType::F32, device);
  std::pair<Tensor, Tensor> sorted;
  const double seconds = best_seconds([&] { sorted = x.sort(0); });
  const bool right = x.index_select(sorted.second, 0).to_vec<float>() == sorted.first.to_vec<float>();
  std::printf("  stable sort of a million numbers  %7.1f M/s       ids lead back to the values: %s\n",
              1.048576 / seconds, right ? "yes" : "NO");
}

void run_demo(const Device& device, int threads) {
  use_threads(threads);
  for (const DeviceInfo& info : list_devices())
    if (info.device == device.to_string())
      std::printf("%s: %s, %s\n\n", info.device.c_str(), info.name.c_str(), info.detail.c_str());
  draw_mandelbrot(device);
  std::printf("\n");
  matmul(device);
  softmax(device);
  quantized(device);
  sort(device);
  std::printf("\n");
  show_model();
}

}  // namespace

void add_demo(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("demo", "Compute with tensors, run a small language model, and show the speed");
  command->footer("\nExamples:\n  beeswax demo\n  beeswax demo --threads 1\n");
  const auto device = std::make_shared<std::string>("cpu");
  const auto threads = std::make_shared<int>(0);
  command->add_option("--device", *device, "Where to run: cpu")->capture_default_str();
  add_whole_number(command, "--threads", *threads, 1, 1024,
                   "Threads on the CPU (default: the physical cores)");
  command->callback([device, threads] { run_demo(Device::parse(*device), *threads); });
}

}  // namespace beeswax::cli
