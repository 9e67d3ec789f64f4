// SPDX-License-Identifier: Apache-2.0
#include "beeswax/version.h"

namespace beeswax {

const char* version() { return BW_VERSION; }

}  // namespace beeswax
