// SPDX-License-Identifier: Apache-2.0
// Stand-ins for vendors' libraries of convolutions, and how far a convolution may be from its definition.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <stdexcept>
#include <string>

#include "fake_dnn/fake_dnn.h"
#include "support/conv_cases.h"
#include "support/numbers.h"

namespace beeswax::test {

/// Makes a stand-in this process's library, over the memory of a driver that the process opens, and gives its
/// control.
inline fake_dnn::Control& use_stand_in(const char* variable, const std::string& library,
                                       const std::string& driver) {
  ::setenv(variable, library.c_str(), 1);
  ::setenv("FAKE_DNN_DRIVER", driver.c_str(), 1);
  void* handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) throw std::runtime_error(::dlerror());
  return *reinterpret_cast<fake_dnn::ControlOf>(::dlsym(handle, "fake_dnn_control"))();
}
inline const std::string kFakeMiopen = BW_BINARY_DIR "/lib-fake/libMIOpen.so";
inline const std::string kFakeCudnn = BW_BINARY_DIR "/lib-fake/libcudnn.so";

struct ConvInputs {
  Tensor x, kernel;
  ConvInputs(const ConvCase& c, DType dtype, const Device& device = Device::default_device())
      : x(made(c.x_shape(), dtype, 1).to_device(device)),
        kernel(made(c.kernel_shape(), dtype, 2).to_device(device)) {}
  static Tensor made(const Shape& shape, DType dtype, uint32_t seed) {
    return tensor_of(small_numbers(shape.elem_count(), seed, false), shape, dtype, Device::cpu());
  }
};

/// |got - exact| <= gamma_k |x||w| of the accumulator, and the one rounding to the dtype. The accumulators of
/// matrix units cut what sticks out below instead of rounding it, and keep some two bits less than f32.
inline void expect_conv(const ConvCase& c, DType dtype, const Tensor& got, const ConvCase::Exact& exact) {
  ASSERT_EQ(got.shape(), c.out_shape());
  ASSERT_EQ(got.dtype(), dtype);
  const bool narrow = dtype == DType::F16 || dtype == DType::BF16;
  const long double unit = std::ldexp(1.0L, dtype == DType::F64 ? -53 : narrow ? -22 : -24);
  const auto terms = static_cast<long double>(c.terms());
  const long double gamma = terms * unit / (1 - terms * unit);
  const std::vector<double> values = got.to_device(Device::cpu()).to_doubles();
  for (size_t i = 0; i < values.size(); ++i) {
    long double bound = gamma * exact.magnitude[i];
    if (narrow) bound += ulp(dtype, std::fabs(exact.sum[i]) + bound) / 2;
    ASSERT_LE(std::fabs(values[i] - exact.sum[i]), bound)
        << c.describe() << " " << dtype_name(dtype) << " at " << i;
  }
}

/// Runs a convolution of small numbers on a device and looks at the result.
inline void expect_conv(const ConvCase& c, DType dtype, const Device& device = Device::default_device()) {
  const ConvInputs in(c, dtype, device), exact(c, dtype, Device::cpu());
  expect_conv(c, dtype, c.run(in.x, in.kernel), c.exact(exact.x.to_doubles(), exact.kernel.to_doubles()));
}

}  // namespace beeswax::test
