// SPDX-License-Identifier: Apache-2.0
#include "beeswax/dtype.h"

#include "core/fail.h"

namespace beeswax {
namespace {

enum class Kind { Int, Float, Storage };

struct Row {
  std::string_view name;
  int bits;
  Kind kind;
};

constexpr Row kRows[] = {
#define BW_DTYPE(Name, name, ctype, compute, bits, kind) {#name, bits, Kind::kind},
#define BW_STORAGE_DTYPE(Name, name, bits) {#name, bits, Kind::Storage},
#include "tables/dtypes.def"
};

const Row& row(DType dtype) { return kRows[static_cast<size_t>(dtype)]; }

}  // namespace

std::string_view dtype_name(DType dtype) { return row(dtype).name; }
int dtype_bits(DType dtype) { return row(dtype).bits; }
bool dtype_is_float(DType dtype) { return row(dtype).kind == Kind::Float; }
bool dtype_is_int(DType dtype) { return row(dtype).kind == Kind::Int; }
bool dtype_is_storage(DType dtype) { return row(dtype).kind == Kind::Storage; }

DType parse_dtype(std::string_view name) {
  std::string known;
  for (int i = 0; i < kDTypeCount; ++i) {
    if (kRows[i].name == name) return static_cast<DType>(i);
    known.append(i == 0 ? "" : ", ").append(kRows[i].name);
  }
  fail(ErrorKind::InvalidArgument, "dtype", "'", name, "' is not a dtype; known are ", known);
}

}  // namespace beeswax
