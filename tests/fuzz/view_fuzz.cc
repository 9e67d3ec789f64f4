// SPDX-License-Identifier: Apache-2.0
// Views: a chain of view operations on a tensor holds what the same chain gives on plain index arithmetic.
// The model keeps, for each element in row-major order, which element of the first tensor it is.
#include <numeric>
#include <vector>

#include "beeswax/error.h"
#include "beeswax/tensor.h"
#include "fuzz/bytes.h"

using namespace beeswax;

namespace {

struct Model {
  std::vector<int64_t> dims;
  std::vector<int32_t> values;
};

// The model with shape `dims`, whose element at `index` is the old element at from(index).
template <class From>
Model remap(const Model& old, const std::vector<int64_t>& dims, From from) {
  Model out{dims, {}};
  const int64_t count = std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
  for (int64_t flat = 0; flat < count; ++flat) {
    std::vector<int64_t> index(dims.size());
    for (int64_t rest = flat, axis = static_cast<int64_t>(dims.size()) - 1; axis >= 0; --axis) {
      index[static_cast<size_t>(axis)] = rest % dims[static_cast<size_t>(axis)];
      rest /= dims[static_cast<size_t>(axis)];
    }
    const std::vector<int64_t> source = from(index);
    int64_t at = 0;
    for (size_t axis = 0; axis < old.dims.size(); ++axis) at = at * old.dims[axis] + source[axis];
    out.values.push_back(old.values[static_cast<size_t>(at)]);
  }
  return out;
}

struct Both {
  Tensor tensor;
  Model model;
};

void narrow(Both& both, fuzz::Bytes& bytes, int axis) {
  const auto at = static_cast<size_t>(axis);
  const int64_t start = bytes.between(0, both.model.dims[at]);
  const int64_t length = bytes.between(0, both.model.dims[at] - start);
  std::vector<int64_t> dims = both.model.dims;
  dims[at] = length;
  both.tensor = both.tensor.narrow(axis, start, length);
  both.model = remap(both.model, dims, [&](std::vector<int64_t> index) {
    index[at] += start;
    return index;
  });
}

void transpose(Both& both, fuzz::Bytes& bytes, int axis) {
  const int other = static_cast<int>(bytes.between(0, both.tensor.rank() - 1));
  const auto a = static_cast<size_t>(axis);
  const auto b = static_cast<size_t>(other);
  std::vector<int64_t> dims = both.model.dims;
  std::swap(dims[a], dims[b]);
  both.tensor = both.tensor.transpose(axis, other);
  both.model = remap(both.model, dims, [&](std::vector<int64_t> index) {
    std::swap(index[a], index[b]);
    return index;
  });
}

void unfold(Both& both, fuzz::Bytes& bytes, int axis) {
  const auto at = static_cast<size_t>(axis);
  const int64_t size = bytes.between(0, both.model.dims[at]);
  const int64_t step = bytes.between(1, 3);
  std::vector<int64_t> dims = both.model.dims;
  dims[at] = (dims[at] - size) / step + 1;
  dims.push_back(size);
  both.tensor = both.tensor.unfold(axis, size, step);
  both.model = remap(both.model, dims, [&](std::vector<int64_t> index) {
    index[at] = index[at] * step + index.back();
    index.pop_back();
    return index;
  });
}

void broadcast(Both& both, fuzz::Bytes& bytes, int axis) {
  const auto at = static_cast<size_t>(axis);
  if (both.model.dims[at] != 1) return;
  std::vector<int64_t> dims = both.model.dims;
  dims[at] = bytes.between(0, 3);
  both.tensor = both.tensor.broadcast_as(Shape(std::span<const int64_t>(dims)));
  both.model = remap(both.model, dims, [&](std::vector<int64_t> index) {
    index[at] = 0;
    return index;
  });
}

// Joins or splits axes; the values stay in order.
void reshape(Both& both, fuzz::Bytes& bytes, int axis) {
  std::vector<int64_t> dims = both.model.dims;
  const auto at = static_cast<size_t>(axis);
  if (bytes.byte() % 2 == 0 && at + 1 < dims.size()) {
    dims[at] *= dims[at + 1];
    dims.erase(dims.begin() + axis + 1);
  } else {
    const int64_t part = bytes.between(1, 4);
    if (dims[at] % part != 0) return;
    dims[at] /= part;
    dims.insert(dims.begin() + axis + 1, part);
  }
  both.tensor = both.tensor.reshape(std::span<const int64_t>(dims));
  both.model.dims = dims;
}

void unsqueeze(Both& both, fuzz::Bytes&, int axis) {
  both.tensor = both.tensor.unsqueeze(axis);
  both.model.dims.insert(both.model.dims.begin() + axis, 1);
}

void squeeze(Both& both, fuzz::Bytes&, int axis) {
  both.tensor = both.tensor.squeeze(axis);
  if (both.model.dims[static_cast<size_t>(axis)] == 1) both.model.dims.erase(both.model.dims.begin() + axis);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using Step = void (*)(Both&, fuzz::Bytes&, int);
  constexpr Step kSteps[] = {narrow, transpose, unfold, broadcast, reshape, unsqueeze, squeeze};
  fuzz::Bytes bytes(data, size);
  Model start{{bytes.between(0, 5), bytes.between(0, 5), bytes.between(0, 5)}, {}};
  start.values.resize(static_cast<size_t>(start.dims[0] * start.dims[1] * start.dims[2]));
  std::iota(start.values.begin(), start.values.end(), 0);
  Both both{Tensor::from_vec(start.values, Shape(std::span<const int64_t>(start.dims))), start};
  for (int count = 0; count < 12 && !bytes.empty() && both.tensor.rank() > 0; ++count) {
    const auto step = static_cast<size_t>(bytes.between(0, std::size(kSteps) - 1));
    const int axis = static_cast<int>(bytes.between(0, both.tensor.rank() - 1));
    try {
      kSteps[step](both, bytes, axis);
    } catch (const Error& error) {
      // The only way a legal view can fail.
      fuzz::require(both.tensor.rank() == kMaxRank && error.kind() == ErrorKind::InvalidArgument,
                    "a legal view of rank below 8 succeeds");
    }
    if (both.model.values.size() > 4096) break;
    const auto dims = both.tensor.shape().dims();
    fuzz::require(std::vector<int64_t>(dims.begin(), dims.end()) == both.model.dims, "the view's shape");
    fuzz::require(both.tensor.to_vec<int32_t>() == both.model.values, "the view's values");
  }
  return 0;
}
