// SPDX-License-Identifier: Apache-2.0
// Nothing more: what kernels need of it, every compiler has before the source.
#pragma once
