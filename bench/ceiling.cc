// SPDX-License-Identifier: Apache-2.0
#include "ceiling.h"

namespace beeswax::bench {

const char* ceiling_name(Ceiling ceiling) {
  switch (ceiling) {
    case Ceiling::None:
      break;
    case Ceiling::Read:
      return "read";
    case Ceiling::Write:
      return "write";
    case Ceiling::Copy:
      return "copy";
    case Ceiling::Triad:
      return "triad";
    case Ceiling::Widen2:
      return "widen 2";
    case Ceiling::Widen4:
      return "widen 4";
    case Ceiling::Narrow2:
      return "narrow 2";
    case Ceiling::Narrow4:
      return "narrow 4";
    case Ceiling::Narrow8:
      return "narrow 8";
    case Ceiling::FmaF32:
      return "fma f32";
    case Ceiling::FmaF64:
      return "fma f64";
    case Ceiling::Int8Dot:
      return "dot i8";
  }
  return "-";
}

bool ceiling_counts_operations(Ceiling ceiling) { return ceiling >= Ceiling::FmaF32; }

}  // namespace beeswax::bench
