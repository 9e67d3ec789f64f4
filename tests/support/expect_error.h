// SPDX-License-Identifier: Apache-2.0
// EXPECT_ERROR(expression, Kind, text): the expression throws an Error of that kind whose message holds the
// text; what it says of "cpu" is read as the default device. What only the data shows (an index out of range)
// a GPU tells when it is waited for, so the devices of the tests are.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "beeswax/error.h"
#include "support/devices.h"

#define EXPECT_ERROR(expression, Kind, text)                                                   \
  do {                                                                                         \
    try {                                                                                      \
      (void)(expression);                                                                      \
      for (const ::beeswax::Device& device : ::beeswax::test::devices()) device.synchronize(); \
      ADD_FAILURE() << #expression << " did not throw";                                        \
    } catch (const ::beeswax::Error& error) {                                                  \
      EXPECT_EQ(error.kind(), ::beeswax::ErrorKind::Kind) << error.what();                     \
      const std::string expected = ::beeswax::test::here(text);                                \
      EXPECT_NE(std::string(error.what()).find(expected), std::string::npos)                   \
          << "message: " << error.what() << "\nexpected: " << expected;                        \
    }                                                                                          \
  } while (false)
