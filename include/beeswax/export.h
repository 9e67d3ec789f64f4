// SPDX-License-Identifier: Apache-2.0
// BW_API marks the names the shared library exports; everything else stays hidden.
#pragma once

#if defined(_WIN32)
#if defined(BW_BUILDING)
#define BW_API __declspec(dllexport)
#else
#define BW_API __declspec(dllimport)
#endif
#else
#define BW_API __attribute__((visibility("default")))
#endif
