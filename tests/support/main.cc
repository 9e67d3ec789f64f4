// SPDX-License-Identifier: Apache-2.0
// The tests' program: tensors that a test makes without a device lie on the first one of
// BEESWAX_TEST_DEVICES, so that one body serves every device.
#include <gtest/gtest.h>

#include "support/devices.h"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  beeswax::test::devices().front().make_default();
  return RUN_ALL_TESTS();
}
