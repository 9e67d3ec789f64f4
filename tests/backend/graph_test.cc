// SPDX-License-Identifier: Apache-2.0
// Graphs: a replay makes the bits that the operations make, sees inputs that changed in place, and keeps its
// memory; what cannot be recorded is refused with what to do.
#include "beeswax/graph.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <thread>

#include "beeswax/stream.h"
#include "beeswax/tensor.h"
#include "support/devices.h"
#include "support/expect_error.h"

namespace beeswax::test {
namespace {

class Graphs : public testing::Test {
 protected:
  void SetUp() override {
    if (device_.is_cpu()) GTEST_SKIP() << "graphs are for GPUs";
  }
  // Capturing needs kernels that are loaded and memory that was used before.
  template <class Operations>
  Graph warm_capture(const Operations& operations, Tensor& result) const {
    operations();
    result = Tensor();
    return Graph::capture(device_, operations);
  }
  Tensor numbers(const Shape& shape, double first) const {
    return Tensor::arange(0, shape.elem_count(), DType::F32, device_).affine(0.01, first).reshape(shape);
  }
  Device device_ = devices().front();
};

TEST(GraphsOfTheCpu, AreRefused) {
  EXPECT_ERROR(Graph::capture(Device::cpu(), [] {}), Unsupported, "[capture] graphs are for GPUs");
}

// One layer of many kinds: products, rows, elements, indices, copies.
Tensor layer(const Tensor& x, const Tensor& weight, const Tensor& ids) {
  const Tensor y = x.matmul(weight).silu();
  const Tensor rows = y.softmax(1).add(y.sum_keepdim(1)).index_select(ids, 0);
  return Tensor::cat({rows, rows.t().contiguous().t()}, 1).exp();
}

TEST_F(Graphs, ReplaysMakeTheSameBits) {
  const Tensor weight = numbers({32, 48}, -0.3), ids = Tensor::of<uint32_t>({3, 0, 7, 7, 2}, device_);
  Tensor x = numbers({8, 32}, 0.5);
  Tensor y;
  const Graph graph = warm_capture([&] { y = layer(x, weight, ids); }, y);
  EXPECT_EQ(graph.device(), device_);
  for (const double first : {0.5, -1.0, 0.25}) {
    x.slice_set(numbers({8, 32}, first), 0, 0);
    graph.replay();
    EXPECT_EQ(y.to_bytes(), layer(x, weight, ids).to_bytes());
  }
}

TEST_F(Graphs, StateIsCarriedFromReplayToReplay) {
  Tensor sum = Tensor::zeros({100}, DType::F32, device_), one = Tensor::ones({100}, DType::F32, device_);
  const auto step = [&] { sum.slice_set(sum.add(one), 0, 0); };
  step();
  const Graph graph = Graph::capture(device_, step);
  EXPECT_EQ(sum.to_vec<float>(), std::vector<float>(100, 1));  // capturing ran nothing
  for (int i = 0; i < 5; ++i) graph.replay();
  EXPECT_EQ(sum.to_vec<float>(), std::vector<float>(100, 6));
  EXPECT_EQ(sum.version(), 2u);  // the step and the capture
}

TEST_F(Graphs, KeepTheirMemory) {
  Tensor y;
  std::vector<std::byte> expected;
  std::unique_ptr<Graph> graph;
  {
    const Tensor weight = numbers({32, 48}, -0.3), ids = Tensor::of<uint32_t>({3, 0, 7, 7, 2}, device_);
    const Tensor x = numbers({8, 32}, 0.5);
    graph = std::make_unique<Graph>(warm_capture([&] { y = layer(x, weight, ids); }, y));
    expected = layer(x, weight, ids).to_bytes();
  }
  EXPECT_GT(graph->memory_bytes(), size_t{4 * (32 * 48 + 8 * 32)});
  // Nothing of the inputs, the temporaries or the result goes to others,
  std::vector<Tensor> others;
  for (const int64_t n : {5, 256, 384, 480, 1536})
    for (int i = 0; i < 20; ++i) others.push_back(Tensor::full({n}, 7, DType::F32, device_));
  graph->replay();
  EXPECT_EQ(y.to_bytes(), expected);
  for (const Tensor& other : others)
    EXPECT_EQ(other.to_vec<float>(), std::vector<float>(static_cast<size_t>(other.elem_count()), 7));
  // not even when the result was let go, or when only a copy of the graph is left.
  const Graph copy = *graph;
  graph.reset();
  y = Tensor();
  for (int i = 0; i < 20; ++i) others.push_back(Tensor::full({480}, 7, DType::F32, device_));
  copy.replay();
  for (const Tensor& other : others)
    EXPECT_EQ(other.to_vec<float>(), std::vector<float>(static_cast<size_t>(other.elem_count()), 7));
}

TEST_F(Graphs, ResultsOutliveTheGraph) {
  const Tensor x = numbers({300}, 0);
  Tensor y;
  {
    const Graph graph = warm_capture([&] { y = x.exp().add(x); }, y);
    graph.replay();
  }
  EXPECT_EQ(y.to_bytes(), x.exp().add(x).to_bytes());
}

// Made before the driver was opened, so it goes after what the driver does where the process ends.
std::optional<Graph> kept_to_the_end;

TEST_F(Graphs, MayOutliveTheDriver) {
  const Tensor x = numbers({64}, 0);
  Tensor y;
  kept_to_the_end = warm_capture([&] { y = x.exp(); }, y);
  kept_to_the_end->replay();
  EXPECT_EQ(y.to_bytes(), x.exp().to_bytes());
}

TEST_F(Graphs, OneReadsWhatAnotherMakes) {
  const Tensor x = numbers({300}, 0);
  Tensor y, z;
  auto first = std::make_unique<Graph>(warm_capture([&] { y = x.exp(); }, y));
  const Graph second = warm_capture([&] { z = y.add(1); }, z);
  first->replay();
  second.replay();
  EXPECT_EQ(z.to_bytes(), x.exp().add(1).to_bytes());
  first.reset();
  y = Tensor();
  const Tensor other = Tensor::zeros({300}, DType::F32, device_);
  second.replay();
  EXPECT_EQ(z.to_bytes(), x.exp().add(1).to_bytes());
}

TEST_F(Graphs, EmptyOnesReplayNothing) {
  const Graph graph = Graph::capture(device_, [] {});
  EXPECT_EQ(graph.memory_bytes(), 0u);
  graph.replay();
  device_.synchronize();
}

// Whether there is a GPU beside the first.
bool has_second(const Device& second) {
  try {
    Tensor::zeros({1}, DType::F32, second);
    return true;
  } catch (const Error&) {
    return false;
  }
}

TEST_F(Graphs, OtherThreadsAndDevicesRunAsAlways) {
  const Device second = another_device(device_);
  const bool two = has_second(second);
  const Tensor x = numbers({64}, 0);
  Tensor y, there;
  std::optional<Graph> of_second;
  if (two) {
    const Tensor one = Tensor::ones({8}, DType::F32, second);
    one.add(1);
    of_second = Graph::capture(second, [&] { there = one.add(1); });
  }
  const Graph graph = warm_capture(
      [&] {
        std::thread([&] {
          EXPECT_EQ(Tensor::ones({4}, DType::F32, device_).add(1).to_vec<float>(), std::vector<float>(4, 2));
        }).join();
        EXPECT_EQ(Tensor::ones({4}, DType::F32, Device::cpu()).add(1).to_vec<float>(),
                  std::vector<float>(4, 2));
        if (two) {  // with memory and kernels that are new there, values of the host, and waits
          EXPECT_EQ(Tensor::ones({1 << 12}, DType::F32, second).sqr().sum_all().to_scalar<float>(), 4096);
          EXPECT_EQ(Tensor::of<float>({1, 4}, second).sqrt().to_vec<float>(), (std::vector<float>{1, 2}));
          of_second->replay();
          EXPECT_EQ(there.to_vec<float>(), std::vector<float>(8, 2));
        }
        y = x.exp();
      },
      y);
  graph.replay();
  EXPECT_EQ(y.to_bytes(), x.exp().to_bytes());
}

TEST_F(Graphs, WhatCannotBeRecordedIsRefused) {
  Tensor x = numbers({64}, 0);
  Tensor y = x.exp();
  x.exp();  // whose result leaves the pool memory for the graph's
  const Graph replayed = Graph::capture(device_, [&] { x.exp(); });
  const auto refuses = [&](const std::function<void()>& operations, const std::string& what) {
    EXPECT_ERROR(Graph::capture(device_, operations), Unsupported, what);
    EXPECT_ERROR(Graph::capture(device_, operations), Unsupported,
                 "while capturing a graph on " + device_.to_string());
    EXPECT_EQ(x.exp().to_bytes(), y.to_bytes());  // the device goes on
  };
  refuses([&] { x.to_vec<float>(); }, "replay the graph, then wait or read its results");
  refuses([&] { Tensor::of<float>({1, 2}, device_); }, "make the tensor before capturing");
  refuses([&] { device_.synchronize(); }, "waiting for the device; replay the graph, then");
  refuses([&] { replayed.replay(); }, "replay it after capturing");
  refuses([&] { Tensor::empty({1 << 20}, DType::F32, device_); },
          "4194304 bytes are asked of the driver; run the same operations once before capturing");
  refuses([&] { y = x.erf(); },
          "the first use of the kernel unary_erf_f32; run the same operations once before");
  device_.set_seed(9);
  Device::cpu().set_seed(9);
  refuses([&] { Tensor::rand({4}, DType::F64, device_); }, "the first use of the kernel random_uniform_f64");
  EXPECT_EQ(Tensor::rand({4}, DType::F64, device_).to_bytes(),  // nothing was drawn
            Tensor::rand({4}, DType::F64, Device::cpu()).to_bytes());
  EXPECT_ERROR(Graph::capture(device_, nullptr), InvalidArgument, "an empty function has nothing to record");
  EXPECT_ERROR(Graph::capture(device_, [&] { Graph::capture(device_, [] {}); }), InvalidArgument,
               "this thread is capturing a graph already");
  EXPECT_THROW(Graph::capture(device_, [] { throw std::runtime_error("the caller's own"); }),
               std::runtime_error);
  EXPECT_EQ(x.exp().to_bytes(), y.to_bytes());
}

TEST_F(Graphs, ErrorsOfKernelsComeAfterTheReplay) {
  const Tensor x = numbers({4, 3}, 0);
  Tensor ids = Tensor::of<uint32_t>({1, 2}, device_);
  Tensor y;
  const Graph graph = warm_capture([&] { y = x.index_select(ids, 0); }, y);
  ids.slice_set(Tensor::of<uint32_t>({1, 9}, device_), 0, 0);
  graph.replay();
  EXPECT_ERROR(y.to_vec<float>(), IndexOutOfRange, "index 9");
  ids.slice_set(Tensor::of<uint32_t>({3, 0}, device_), 0, 0);
  graph.replay();
  EXPECT_EQ(y.to_bytes(), x.index_select(ids, 0).to_bytes());
  // One that nobody waited for is the device's to tell, once; it is not told of replays on another stream.
  ids.slice_set(Tensor::of<uint32_t>({1, 9}, device_), 0, 0);
  {
    const Stream stream = Stream::make(device_);
    stream.wait_for(Stream::current(device_));
    const StreamScope scope(stream);
    graph.replay();
  }
  EXPECT_ERROR(device_.synchronize(), IndexOutOfRange, "index 9");
  const Stream again = Stream::make(device_);
  ids.slice_set(Tensor::of<uint32_t>({3, 0}, device_), 0, 0);
  graph.replay();
  EXPECT_NO_THROW(device_.synchronize());
  EXPECT_EQ(y.to_bytes(), x.index_select(ids, 0).to_bytes());
}

}  // namespace
}  // namespace beeswax::test
