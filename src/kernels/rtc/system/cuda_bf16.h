// SPDX-License-Identifier: Apache-2.0
// bfloat16 by CUDA's names.
#pragma once

#include "kernels/rtc/bfloat.h"
