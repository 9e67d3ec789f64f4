// SPDX-License-Identifier: Apache-2.0
// Numbers of 16 bits by the names of CUDA and HIP.
#pragma once

#include "kernels/rtc/half.h"
