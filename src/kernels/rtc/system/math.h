// SPDX-License-Identifier: Apache-2.0
// The functions have their names without std too.
#pragma once

#include "cmath"
