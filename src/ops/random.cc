// SPDX-License-Identifier: Apache-2.0
// Random tensors, and the state of each device's stream: a seed and the number of the next unused block.
#include <cmath>
#include <mutex>
#include <utility>
#include <vector>

#include "core/random_bounds.h"
#include "ops/common.h"

namespace beeswax {
namespace {

constexpr uint64_t kDefaultSeed = 299792458;

class Streams {
 public:
  struct State {
    uint64_t seed = kDefaultSeed;
    uint64_t block = 0;
  };
  static Streams& all() {
    static auto* streams = new Streams;  // never destroyed: other static objects may draw while they end
    return *streams;
  }
  void seed(const Device& device, uint64_t seed) {
    const std::lock_guard<std::mutex> lock(mutex_);
    state(device) = {seed, 0};
  }
  /// The state before `blocks` were taken.
  State take(const Device& device, uint64_t blocks) {
    const std::lock_guard<std::mutex> lock(mutex_);
    State& now = state(device);
    const State before = now;
    now.block += blocks;
    return before;
  }
  /// `blocks` that were taken at `before` were not drawn; they stay taken where somebody went on behind them.
  void give_back(const Device& device, const State& before, uint64_t blocks) {
    const std::lock_guard<std::mutex> lock(mutex_);
    State& now = state(device);
    if (now.seed == before.seed && now.block == before.block + blocks) now = before;
  }

 private:
  State& state(const Device& device) {
    for (auto& [of, state] : states_)
      if (of == device) return state;
    return states_.emplace_back(device, State()).second;
  }
  std::mutex mutex_;
  std::vector<std::pair<Device, State>> states_;
};

Tensor draw(std::string_view operation, const Shape& shape, DType dtype, const Device& device,
            Distribution distribution, double a, double b) try {
  Tensor out = Tensor::empty(shape, dtype, device);
  const int64_t in_block = random_numbers_in_block(dtype);
  const auto blocks = static_cast<uint64_t>((out.elem_count() + in_block - 1) / in_block);
  if (blocks == 0) return out;
  const Streams::State at = Streams::all().take(device, blocks);
  try {
    backend_for(device).random(ops::target(out), distribution, a, b, at.seed, at.block);
  } catch (...) {
    Streams::all().give_back(device, at, blocks);
    throw;
  }
  return out;
} catch (...) {
  ops::rethrow_as(operation, {});
}

void check_float(std::string_view operation, DType dtype) {
  if (!dtype_is_float(dtype))
    fail(ErrorKind::UnsupportedDType, operation, "not defined for ", dtype_name(dtype),
         "; accepted dtypes: bf16, f16, f32, f64, f8e4m3");
}

}  // namespace

Tensor Tensor::rand(const Shape& shape, DType dtype, const Device& device, double lo, double hi) {
  check_float("rand", dtype);
  const double width = hi - lo;
  // Numbers are made in f32 from the first bound on, but for f64.
  const auto finite = [&](double x) {
    return std::isfinite(dtype == DType::F64 ? x : static_cast<float>(x));
  };
  if (!(lo < hi) || !finite(lo) || !finite(width))
    fail(ErrorKind::InvalidArgument, "rand", "the bounds ", Scalar(lo), " and ", Scalar(hi), " of a ",
         dtype_name(dtype), " must be finite, the first one less, and it and their difference in range of ",
         dtype == DType::F64 ? "f64" : "f32");
  const RandomBounds bounds = random_bounds(dtype, lo, hi);
  if (!(bounds.first <= bounds.last))
    fail(ErrorKind::InvalidArgument, "rand", "no ", dtype_name(dtype), " lies in [", Scalar(lo), ", ",
         Scalar(hi), ")");
  return draw("rand", shape, dtype, device, Distribution::Uniform, lo, hi);
}

Tensor Tensor::randn(const Shape& shape, DType dtype, const Device& device, double mean, double stddev) {
  check_float("randn", dtype);
  const DType computed = dtype == DType::F64 ? DType::F64 : DType::F32;
  const auto finite = [&](double x) { return std::isfinite(Scalar(x).to(computed, "randn").as_double()); };
  if (!finite(mean) || !finite(stddev) || stddev < 0)
    fail(ErrorKind::InvalidArgument, "randn", "the mean ", Scalar(mean), " and the standard deviation ",
         Scalar(stddev), " must be finite in ", dtype_name(computed), ", the latter not negative");
  return draw("randn", shape, dtype, device, Distribution::Normal, mean, stddev);
}

Tensor Tensor::rand_like(double lo, double hi) const try {
  return rand(shape(), dtype(), device(), lo, hi);
} catch (...) {
  ops::rethrow_as("rand_like", {*this});
}
Tensor Tensor::randn_like(double mean, double stddev) const try {
  return randn(shape(), dtype(), device(), mean, stddev);
} catch (...) {
  ops::rethrow_as("randn_like", {*this});
}

void Device::set_seed(uint64_t seed) const {
  backend_for(*this);  // refuses a device that there is not
  Streams::all().seed(*this, seed);
}

uint64_t Device::seed() const {
  backend_for(*this);
  return Streams::all().take(*this, 0).seed;
}

}  // namespace beeswax
