// SPDX-License-Identifier: Apache-2.0
// Tests of another processor's build run under qemu's user emulation, which cannot do all that a system does.
#pragma once

#include <gtest/gtest.h>

/// Skips a test there: `needs` says what it lacks.
#define SKIP_UNDER_QEMU(needs) \
  if (BW_UNDER_QEMU) GTEST_SKIP() << "qemu's user emulation has no " needs
