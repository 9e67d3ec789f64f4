// SPDX-License-Identifier: Apache-2.0
// Random chains of views against a model that moves every element by index arithmetic.
#include <gtest/gtest.h>

#include <functional>

#include "beeswax/tensor.h"
#include "core/storage.h"
#include "support/raw.h"

namespace beeswax {
namespace {

using test::for_each_index;
using test::linear;
using test::pick;
using test::Random;
using test::raw;
using test::Raw;

// A tensor and what it should hold.
struct Both {
  Tensor tensor;
  Shape shape;
  Raw values;
  std::string history;
};

using Indices = std::vector<int64_t>;

// The model after a view of shape `to` whose element `index` is the old element where(index).
void view(Both& x, const Shape& to, const Tensor& tensor, const std::string& name,
          const std::function<Indices(Indices)>& where) {
  Raw values;
  for_each_index(to,
                 [&](const Indices& index) { values.push_back(x.values[linear(x.shape, where(index))]); });
  x = {tensor, to, values, x.history + " " + name};
}

int random_axis(Random& random, const Shape& shape) {
  return static_cast<int>(pick(random, 0, shape.rank() - 1));
}

void narrow(Random& random, Both& x) {
  const int axis = random_axis(random, x.shape);
  const int64_t start = pick(random, 0, x.shape[axis]);
  const int64_t length =
      pick(random, 0, 3) == 0 ? pick(random, 0, x.shape[axis] - start) : x.shape[axis] - start;
  Shape to = x.shape;
  to.set(axis, length);
  view(x, to, x.tensor.narrow(axis - to.rank(), start, length), "narrow", [&](Indices index) {
    index[static_cast<size_t>(axis)] += start;
    return index;
  });
}

void transpose(Random& random, Both& x) {
  const int a = random_axis(random, x.shape);
  const int b = random_axis(random, x.shape);
  Shape to = x.shape;
  to.set(a, x.shape[b]);
  to.set(b, x.shape[a]);
  view(x, to, x.tensor.transpose(a, b), "transpose", [&](Indices index) {
    std::swap(index[static_cast<size_t>(a)], index[static_cast<size_t>(b)]);
    return index;
  });
}

void permute(Random& random, Both& x) {
  std::vector<int> axes(static_cast<size_t>(x.shape.rank()));
  std::iota(axes.begin(), axes.end(), 0);
  std::shuffle(axes.begin(), axes.end(), random);
  Shape to;
  for (int axis : axes) to.push_back(x.shape[axis]);
  view(x, to, x.tensor.permute(std::span<const int>(axes)), "permute", [&](const Indices& index) {
    Indices from(index.size());
    for (size_t i = 0; i < index.size(); ++i) from[static_cast<size_t>(axes[i])] = index[i];
    return from;
  });
}

void unfold(Random& random, Both& x) {
  if (x.shape.rank() == kMaxRank) return;
  const int axis = random_axis(random, x.shape);
  const int64_t size = pick(random, 0, x.shape[axis]);
  const int64_t step = pick(random, 1, 3);
  Shape to = x.shape;
  to.set(axis, (x.shape[axis] - size) / step + 1);
  to.push_back(size);
  view(x, to, x.tensor.unfold(axis, size, step), "unfold", [&](Indices index) {
    index[static_cast<size_t>(axis)] = index[static_cast<size_t>(axis)] * step + index.back();
    index.pop_back();
    return index;
  });
}

void broadcast(Random& random, Both& x) {
  Shape to;
  const int64_t added = std::min<int64_t>(pick(random, 0, 1), kMaxRank - x.shape.rank());
  for (int64_t i = 0; i < added; ++i) to.push_back(pick(random, 0, 3));
  for (int64_t size : x.shape) to.push_back(size == 1 ? pick(random, 1, 3) : size);
  view(x, to, x.tensor.broadcast_as(to), "broadcast", [&](Indices index) {
    index.erase(index.begin(), index.begin() + added);
    for (size_t i = 0; i < index.size(); ++i)
      if (x.shape[static_cast<int>(i)] == 1) index[i] = 0;
    return index;
  });
}

// The same elements under a shape of random factors.
void reshape(Random& random, Both& x) {
  int64_t rest = x.shape.elem_count();
  Shape to;
  if (rest == 0) {
    for (int64_t i = pick(random, 1, 4); i > 0; --i) to.push_back(pick(random, 0, 2));
    to.set(0, 0);
  } else {
    while (rest > 1 && to.rank() < kMaxRank - 1) {
      int64_t factor = pick(random, 1, rest);
      while (rest % factor != 0) ++factor;
      to.insert(static_cast<int>(pick(random, 0, to.rank())), factor);
      rest /= factor;
    }
    to.push_back(rest);
  }
  std::vector<int64_t> sizes(to.begin(), to.end());
  if (x.shape.elem_count() > 0 && pick(random, 0, 1) == 0)
    sizes[static_cast<size_t>(random_axis(random, to))] = -1;
  x = {x.tensor.reshape(std::span<const int64_t>(sizes)), to, x.values, x.history + " reshape"};
}

void squeeze(Random& random, Both& x) {
  const int axis = random_axis(random, x.shape);
  Shape to = x.shape;
  if (to[axis] == 1) to.erase(axis);
  x = {x.tensor.squeeze(axis), to, x.values, x.history + " squeeze"};
}

void unsqueeze(Random& random, Both& x) {
  if (x.shape.rank() == kMaxRank) return;
  const int axis = static_cast<int>(pick(random, 0, x.shape.rank()));
  Shape to = x.shape;
  to.insert(axis, 1);
  x = {x.tensor.unsqueeze(axis), to, x.values, x.history + " unsqueeze"};
}

void flatten(Random& random, Both& x) {
  const int first = random_axis(random, x.shape);
  const int last = static_cast<int>(pick(random, first, x.shape.rank() - 1));
  Shape to;
  int64_t joined = 1;
  for (int axis = 0; axis < x.shape.rank(); ++axis) {
    if (axis >= first && axis <= last) joined *= x.shape[axis];
    if (axis == last) to.push_back(joined);
    if (axis < first || axis > last) to.push_back(x.shape[axis]);
  }
  x = {x.tensor.flatten(first, last - x.shape.rank()), to, x.values, x.history + " flatten"};
}

void get(Random& random, Both& x) {
  const int axis = random_axis(random, x.shape);
  if (x.shape[axis] == 0) return;
  const int64_t at = pick(random, 0, x.shape[axis] - 1);
  Shape to = x.shape;
  to.erase(axis);
  view(x, to, x.tensor.get_on_dim(axis, at), "get_on_dim", [&](Indices index) {
    index.insert(index.begin() + axis, at);
    return index;
  });
}

TEST(ViewProperty, RandomChains) {
  Random random(20240607);
  const std::vector<std::pair<const char*, void (*)(Random&, Both&)>> steps = {
      {"narrow", narrow},   {"transpose", transpose}, {"permute", permute},
      {"unfold", unfold},   {"broadcast", broadcast}, {"reshape", reshape},
      {"squeeze", squeeze}, {"unsqueeze", unsqueeze}, {"flatten", flatten},
      {"get", get}};
  for (int chain = 0; chain < 1500; ++chain) {
    const auto dtype = static_cast<DType>(pick(random, 0, kArithmeticDTypeCount - 1));
    const Shape shape =
        test::random_shape(random, static_cast<int>(pick(random, 1, 4)), chain % 10 == 0 ? 0 : 1, 6);
    const Raw values = test::random_raw(random, shape.elem_count(), dtype);
    Both x = {test::laid_out(random, values, shape, dtype), shape, values, shape.to_string()};
    for (int64_t step = pick(random, 1, 8); step > 0 && x.shape.elem_count() < 5000; --step) {
      if (x.shape.rank() == 0) {
        unsqueeze(random, x);
        continue;
      }
      steps[static_cast<size_t>(pick(random, 0, static_cast<int64_t>(steps.size()) - 1))].second(random, x);
      ASSERT_EQ(x.tensor.shape(), x.shape) << x.history;
      ASSERT_EQ(raw(x.tensor), x.values) << x.history << " gives " << x.shape.to_string();
      ASSERT_LE(x.tensor.layout().extent() * static_cast<int64_t>(dtype_bytes(dtype, 1)),
                static_cast<int64_t>(x.tensor.storage().bytes()))
          << x.history;
      if (x.tensor.is_contiguous()) {
        ASSERT_EQ(&x.tensor.contiguous().storage(), &x.tensor.storage());
      }
    }
  }
}

// Copies into views: the elements outside stay.
TEST(ViewProperty, CopiesKeepEveryBit) {
  Random random(3);
  for (int round = 0; round < 300; ++round) {
    const auto dtype = static_cast<DType>(pick(random, 0, kArithmeticDTypeCount - 1));
    const Shape shape = test::random_shape(random, static_cast<int>(pick(random, 1, 5)), 1, 7);
    const Raw values = test::random_raw(random, shape.elem_count(), dtype);
    const Tensor x = test::laid_out(random, values, shape, dtype);
    const Tensor copy = x.copy();
    ASSERT_NE(&copy.storage(), &x.storage());
    ASSERT_TRUE(copy.is_contiguous());
    ASSERT_EQ(raw(copy), values);
    const Tensor to = test::random_tensor(random, shape, dtype);
    Tensor written = to;
    written.slice_set(x, 0, 0);
    ASSERT_EQ(raw(to), values);
  }
}

}  // namespace
}  // namespace beeswax
