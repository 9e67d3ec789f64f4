// SPDX-License-Identifier: Apache-2.0
// The shared math: one source for the host and the GPU compilers, the same bits everywhere. Only IEEE
// operations in written order, fma where written, no library functions, no branches: loops vectorize.
// Error bounds: tests/math/functions.def, tested by tests/unit/math_bounds_test.cc.
#pragma once

#include "core/math/activations.h"
#include "core/math/basic.h"
#include "core/math/convert.h"
#include "core/math/erf.h"
#include "core/math/exp.h"
#include "core/math/hyperbolic.h"
#include "core/math/log.h"
#include "core/math/pow.h"
#include "core/math/short.h"
#include "core/math/trig.h"
