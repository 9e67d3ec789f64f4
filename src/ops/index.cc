// SPDX-License-Identifier: Apache-2.0
// Slicing by numbers, ranges, id lists and id tensors.
#include <algorithm>

#include "ops/common.h"

namespace beeswax {

Tensor Tensor::index(std::span<const Index> indices) const {
  if (indices.size() > static_cast<size_t>(rank()))
    fail(ErrorKind::DimOutOfRange, "index", indices.size(), " indices for ", describe(), ", which has ",
         rank(), " axes");
  Tensor out = *this;
  int axis = 0;
  for (const Index& index : indices) {
    const int64_t size = out.shape()[axis];
    switch (index.kind()) {
      case Index::Kind::At: {
        const int64_t at = index.at() < 0 ? index.at() + size : index.at();
        if (at < 0 || at >= size)
          fail(ErrorKind::IndexOutOfRange, "index", "position ", index.at(), " is out of range for axis ",
               axis, " of ", out.shape(), " (size ", size, ")");
        out = out.get_on_dim(axis, at);
        break;
      }
      case Index::Kind::Range: {
        const int64_t start = index.range().start;
        const int64_t end = index.range().end == INT64_MAX ? size : index.range().end;
        if (start < 0 || end > size || (start > size))
          fail(ErrorKind::IndexOutOfRange, "index", "range ", start, "..", end, " does not fit axis ", axis,
               " of ", out.shape(), " (size ", size, ")");
        out = out.narrow(axis++, start, std::max<int64_t>(0, end - start));
        break;
      }
      case Index::Kind::Ids:
        out = out.index_select(index.ids(), axis++);
        break;
    }
  }
  return out;
}

}  // namespace beeswax
