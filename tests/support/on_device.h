// SPDX-License-Identifier: Apache-2.0
// Tests that take a device as their parameter, and what they ask of every device.
#pragma once

#include <gtest/gtest.h>

#include "support/configurations.h"
#include "support/raw.h"

namespace beeswax::test {

inline Device device_of_test;  ///< of the running one

class DeviceTest : public testing::TestWithParam<Device> {
 protected:
  void SetUp() override { device_of_test = GetParam(); }
};

/// The same bits for any thread count and level of the CPU; a GPU repeats itself.
template <class Make>
void expect_same_bits(Make&& make) {
  if (device_of_test.is_cpu()) {
    expect_same_everywhere(make);
  } else {
    EXPECT_EQ(make().to_bytes(), make().to_bytes());
  }
}

inline Tensor laid_out_here(Random& random, const Raw& values, const Shape& shape, DType dtype) {
  return laid_out(random, values, shape, dtype, device_of_test);
}

}  // namespace beeswax::test
