// SPDX-License-Identifier: Apache-2.0
// An operation of one's own on every device: the Mandelbrot set, by a function on the CPU and by a kernel
// that is compiled at run time on GPUs. Prints the picture; both devices draw the same one.
//
//     example_custom_kernel            the CPU
//     example_custom_kernel cuda:0     an NVIDIA card; rocm:0 an AMD card, emu:gfx1100 the software one
#include <cstdio>
#include <vector>

#include "beeswax/custom_op.h"
#include "beeswax/error.h"

namespace {

using namespace beeswax;

constexpr int kMostSteps = 64;

// Steps until z^2 + c leaves the circle of radius 2. No product is fused with a sum, so that devices agree.
int steps_of(float real, float imaginary) {
  float x = 0, y = 0;
  int step = 0;
  for (; step < kMostSteps && x * x + y * y < 4.0f; ++step) {
    const float next = x * x - y * y + real;
    y = 2.0f * x * y + imaginary;
    x = next;
  }
  return step;
}

constexpr const char* kSource = R"(
__global__ void mandelbrot(const float* real, const float* imaginary, int* steps, int count, int most) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  float x = 0, y = 0;
  int step = 0;
  for (; step < most && x * x + y * y < 4.0f; ++step) {
    const float next = x * x - y * y + real[i];
    y = 2.0f * x * y + imaginary[i];
    x = next;
  }
  steps[i] = step;
})";

CustomOp make_mandelbrot() {
  CustomOpParts parts;
  parts.output = [](std::span<const Tensor> inputs) { return OutputSpec{inputs[0].shape(), DType::I32}; };
  parts.cpu = [](const CpuCall& call) {
    const auto real = call.input<float>(0), imaginary = call.input<float>(1);
    const auto steps = call.output<int32_t>();
    for (size_t i = 0; i < steps.size(); ++i) steps[i] = steps_of(real[i], imaginary[i]);
  };
  parts.source = kSource;
  parts.launch = [](const Kernel& kernel, std::span<const Tensor> inputs, const Tensor& steps) {
    const auto count = static_cast<int>(steps.elem_count());
    const uint32_t blocks = (static_cast<uint32_t>(count) + 127) / 128;
    kernel.launch({.grid = {blocks}, .block = {128}}, inputs[0], inputs[1], output(steps), count, kMostSteps);
  };
  return {"mandelbrot", std::move(parts)};
}

}  // namespace

int main(int argc, char** argv) try {
  constexpr int kRows = 24, kColumns = 72;
  const Device device = Device::parse(argc > 1 ? argv[1] : "cpu");
  const Tensor real = Tensor::arange(0, kColumns, DType::F32, device) * (3.0 / kColumns) - 2.2;
  const Tensor imaginary = Tensor::arange(0, kRows, DType::F32, device) * (2.4 / kRows) - 1.2;
  const Shape shape{kRows, kColumns};
  const CustomOp mandelbrot = make_mandelbrot();
  const Tensor steps = mandelbrot({real.broadcast_as(shape), imaginary.unsqueeze(1).broadcast_as(shape)});
  for (const std::vector<int32_t>& row : steps.to_vec2<int32_t>()) {
    for (const int32_t step : row) std::putchar(" .:-=+*%@#"[step * 9 / kMostSteps]);
    std::putchar('\n');
  }
  return 0;
} catch (const beeswax::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
