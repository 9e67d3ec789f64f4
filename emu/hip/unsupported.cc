// SPDX-License-Identifier: Apache-2.0
#include "emu/hip/abi.h"
#include "emu/hip/runtime.h"

using namespace emu::hip;

// Textures, arrays, interprocess handles and the like. Whatever arguments a caller passes stay unread, which
// the calling convention allows.
#define EMU_UNSUPPORTED(name)                                                                            \
  EMU_API int name() {                                                                                   \
    return api(#name, [] { throw ApiError(hipErrorNotSupported, "not part of the software AMD GPU"); }); \
  }
#include "emu/hip/unsupported.def"
