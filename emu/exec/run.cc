// SPDX-License-Identifier: Apache-2.0
#include "emu/exec/run.h"

namespace emu {

void run(const Launch& launch, Memory&, const Options&, Counters*) {
  Fault fault(Fault::Kind::Unsupported, "this build has no interpreter");
  fault.kernel = launch.kernel->name;
  throw fault;
}

}  // namespace emu
