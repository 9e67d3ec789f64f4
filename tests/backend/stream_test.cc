// SPDX-License-Identifier: Apache-2.0
// Streams: work spread over them makes what one stream makes, whatever passes between them and whenever
// memory goes; errors come out of the stream whose kernel found them.
#include "beeswax/stream.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <string_view>
#include <thread>
#include <vector>

#include "beeswax/graph.h"
#include "beeswax/tensor.h"
#include "support/devices.h"
#include "support/expect_error.h"

namespace beeswax::test {
namespace {

constexpr int64_t kSize = 20000;  // enough to be under way when the next thing is submitted

class Streams : public testing::Test {
 protected:
  Tensor filled(double value) const { return Tensor::full({kSize}, value, DType::F32, device_); }
  Tensor numbers(const Shape& shape) const {
    return Tensor::arange(0, shape.elem_count(), DType::F32, device_).affine(0.001, -1).reshape(shape);
  }
  Device device_ = devices().front();
};

template <class Work>
auto on(const Stream& stream, const Work& work) {
  const StreamScope scope(stream);
  return work();
}

void expect_all(const Tensor& x, float value) {
  const std::vector<float> values = x.to_vec<float>();
  for (size_t i = 0; i < values.size(); ++i) ASSERT_EQ(values[i], value) << "element " << i;
}

// Long enough that what is submitted to another stream meanwhile overtakes it.
Tensor slowly(Tensor x) {
  for (int i = 0; i < 4; ++i) x = x.affine(1, 1);
  return x.affine(1, -4);
}

TEST_F(Streams, ScopesNest) {
  const Stream first = Stream::current(device_);
  EXPECT_EQ(first.device(), device_);
  const Stream a = Stream::make(device_), b = Stream::make(device_);
  {
    const StreamScope outer(a);
    EXPECT_TRUE(Stream::current(device_) == a);
    {
      const StreamScope inner(b), again(b);
      EXPECT_TRUE(Stream::current(device_) == b);
      std::thread([&] { EXPECT_TRUE(Stream::current(device_) == first); }).join();
    }
    EXPECT_TRUE(Stream::current(device_) == a);
  }
  EXPECT_TRUE(Stream::current(device_) == first);
  EXPECT_EQ(a == b, device_.is_cpu());
}

TEST(StreamsOfTheCpu, AreOneAndIdle) {
  const Stream a = Stream::make(Device::cpu());
  EXPECT_TRUE(a == Stream::current(Device::cpu()));
  const StreamScope scope(a);
  EXPECT_EQ(Tensor::ones({2}, DType::F32, Device::cpu()).add(1).to_vec<float>(), std::vector<float>(2, 2));
  EXPECT_TRUE(a.idle());
  a.wait_for(Stream::current(Device::cpu()));
  a.synchronize();
}

TEST_F(Streams, StayStreamsWhenMoved) {
  Stream a = Stream::make(device_);
  const Stream b = std::move(a);  // NOLINT(performance-move-const-arg): moving copies
  EXPECT_TRUE(a == b);            // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(a.device(), device_);
  a.synchronize();
  EXPECT_TRUE(a.idle());
}

// Kernels of one thread store an error while another thread waits: it comes whole, to one of them.
TEST_F(Streams, ErrorsComeWholeToWhoeverWaits) {
  if (device_.is_cpu()) GTEST_SKIP() << "the CPU's operations throw where they are called";
  // One thread of a kernel finds an error: of several, one would report as soon as the first report was
  // thrown to the thread that waits. Threads that have no element look at the last id once more.
  const Tensor x = numbers({4, 1}), ids = Tensor::of<uint32_t>({9, 1}, device_);
  constexpr int kErrors = 100;
  std::atomic<int> found{0};
  std::atomic<bool> ended{false};
  const auto counted = [&](const auto& work) {
    try {
      work();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::IndexOutOfRange);
      EXPECT_NE(std::string(error.what()).find("[index_select] index 9 at element 0 of the ids"),
                std::string::npos)
          << error.what();
      ++found;
    }
  };
  std::thread waiting([&] {
    const Tensor z = numbers({3});
    while (!ended) counted([&] { z.to_vec<float>(); });
  });
  for (int i = 0; i < kErrors; ++i) counted([&] { x.index_select(ids, 0).to_bytes(); });
  ended = true;
  waiting.join();
  EXPECT_GE(found, 1);
  EXPECT_LE(found, kErrors);
  EXPECT_NO_THROW(device_.synchronize());
}

TEST_F(Streams, WaitForTheirOwnDevicesOnly) {
  if (device_.is_cpu()) GTEST_SKIP() << "it takes another device";
  EXPECT_ERROR(Stream::current(device_).wait_for(Stream::current(Device::cpu())), InvalidArgument,
               "; synchronize() that one");
  EXPECT_ERROR(Stream::current(Device::cpu()).wait_for(Stream::current(device_)), InvalidArgument,
               "[wait_for] a stream of");
}

TEST_F(Streams, AChainOverStreamsMakesTheSameBits) {
  const Tensor x = numbers({64, 64});
  const auto step = [&](const Tensor& y) { return y.matmul(x).softmax(1).add(x).sum_keepdim(0).add(x); };
  std::vector<Stream> streams{Stream::current(device_), Stream::make(device_), Stream::make(device_)};
  Tensor expected = x, y = x;
  for (size_t i = 0; i < 12; ++i) expected = step(expected);
  for (size_t i = 0; i < 12; ++i) y = on(streams[i % 3], [&] { return step(y); });
  EXPECT_EQ(y.to_bytes(), expected.to_bytes());
}

TEST_F(Streams, ThreadsWithStreamsOfTheirOwn) {
  const Tensor x = numbers({48, 48});
  const auto work = [&] {
    const Tensor y = (x.exp() + x.t().contiguous()).narrow(0, 3, 20) * 0.5;
    return y.softmax(-1).matmul(x.narrow(1, 0, 7)).sum(0).to_vec<float>();
  };
  const std::vector<float> expected = work();
  std::vector<std::thread> threads;
  std::vector<int> wrong(4);
  for (size_t t = 0; t < wrong.size(); ++t)
    threads.emplace_back([&, t] {
      for (int round = 0; round < 3; ++round) {
        const StreamScope scope(Stream::make(device_));
        for (int i = 0; i < 3; ++i)
          if (work() != expected) ++wrong[t];
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4));
}

TEST_F(Streams, TensorsPassBetweenThreads) {
  const Stream a = Stream::make(device_), b = Stream::make(device_);
  for (int i = 0; i < 10; ++i) {
    Tensor y;
    std::thread([&] { y = on(a, [&] { return slowly(filled(i)); }); }).join();
    Tensor z;
    std::thread([&] { z = on(b, [&] { return y.add(1); }); }).join();
    expect_all(z.add(1), static_cast<float>(i + 2));
  }
}

TEST_F(Streams, MemoryFreedWhileInUse) {
  const Stream a = Stream::make(device_), b = Stream::make(device_);
  std::vector<Tensor> results;
  for (int i = 0; i < 20; ++i) {
    Tensor y = on(a, [&] { return filled(i); });
    Tensor waited = on(b, [&] { return slowly(filled(0)); });
    results.push_back(on(b, [&] { return y.add(waited); }));
    y = Tensor();  // while b has not read it
    on(a, [&] { filled(1000), filled(2000); });
  }
  for (size_t i = 0; i < results.size(); ++i) expect_all(results[i], static_cast<float>(i));
}

TEST_F(Streams, WritesInPlaceComeAfterReads) {
  const Stream a = Stream::make(device_), b = Stream::make(device_);
  Tensor x = filled(0);
  std::vector<Tensor> results;
  for (int i = 0; i < 10; ++i) {
    for (const Stream& stream : {a, b})
      results.push_back(on(stream, [&] { return slowly(filled(0)).add(x); }));
    if (i % 2 == 0) {
      x.const_set(i + 1);
    } else {
      on(b, [&] { x.slice_set(filled(i + 1).narrow(0, 0, kSize), 0, 0); });
    }
  }
  for (size_t i = 0; i < results.size(); ++i) {
    const size_t round = i / 2;
    expect_all(results[i], static_cast<float>(round));
  }
  expect_all(x, 10);
}

TEST_F(Streams, PartsWrittenByDifferentStreams) {
  const Stream a = Stream::make(device_), b = Stream::make(device_);
  Tensor x = Tensor::zeros({2, kSize}, DType::F32, device_);
  for (int i = 1; i <= 5; ++i) {
    std::thread other([&] { on(a, [&] { x.slice_set(slowly(filled(i)).reshape({1, kSize}), 0, 0); }); });
    on(b, [&] { x.slice_set(slowly(filled(10 * i)).reshape({1, kSize}), 0, 1); });
    other.join();
    const Tensor sum = x.narrow(0, 0, 1).add(x.narrow(0, 1, 1));
    expect_all(sum.reshape({kSize}), static_cast<float>(11 * i));
  }
}

TEST_F(Streams, CopiesFromAndToTheHost) {
  const Stream a = Stream::make(device_), b = Stream::make(device_);
  for (int i = 0; i < 10; ++i) {
    const std::vector<float> source(static_cast<size_t>(kSize), static_cast<float>(i));
    const Tensor there = on(a, [&] { return Tensor::from_vec(source, {kSize}, device_); });
    const Tensor y = on(b, [&] { return slowly(there).copy(); });
    expect_all(y, static_cast<float>(i));
  }
}

TEST_F(Streams, ManyComeAndGo) {
  const Tensor x = filled(1);
  for (int i = 0; i < 100; ++i) {
    const Stream stream = Stream::make(device_);
    const Tensor y = on(stream, [&] { return x.narrow(0, 0, 100).add(1); });
    if (i % 10 == 0) expect_all(y, 2);
  }
  device_.synchronize();
  EXPECT_TRUE(Stream::current(device_).idle());
}

// The call itself throws that index 9 is wrong; no wait for the device helps.
void expect_wrong(const std::function<void()>& call) {
  try {
    call();
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::IndexOutOfRange);
    EXPECT_NE(std::string_view(error.what()).find("index 9"), std::string_view::npos) << error.what();
  }
}

TEST_F(Streams, ErrorsComeOutOfTheirStream) {
  if (device_.is_cpu()) GTEST_SKIP() << "errors are found before a call returns";
  const Tensor x = numbers({4, 3}), ids = Tensor::of<uint32_t>({1, 9}, device_);
  const Stream a = Stream::make(device_), b = Stream::make(device_);
  const Tensor y = on(a, [&] { return x.index_select(ids, 0); });
  EXPECT_EQ(on(b, [&] { return x.add(1).to_vec2<float>().size(); }), 4u);
  b.synchronize();
  expect_wrong([&] { a.synchronize(); });
  a.synchronize();
  device_.synchronize();
  EXPECT_EQ(y.to_vec2<float>().size(), 2u);
  on(a, [&] {
    (void)x.index_select(ids, 0);
    expect_wrong([&] { device_.synchronize(); });
    (void)x.index_select(ids, 0);
    expect_wrong([&] { x.to_vec2<float>(); });
  });
}

TEST_F(Streams, ErrorsComeWithWhatTheyMade) {
  if (device_.is_cpu()) GTEST_SKIP() << "errors are found before a call returns";
  const Tensor x = numbers({4, 3}), ids = Tensor::of<uint32_t>({1, 9}, device_);
  const Stream a = Stream::make(device_), b = Stream::make(device_);
  Tensor y = on(a, [&] { return x.index_select(ids, 0); });
  expect_wrong([&] { y.to_vec2<float>(); });
  EXPECT_EQ(y.to_vec2<float>().size(), 2u);
  // By way of a third stream.
  y = on(a, [&] { return x.index_select(ids, 0); });
  const Tensor z = on(b, [&] { return y.add(1); });
  expect_wrong([&] { z.to_vec2<float>(); });
  a.synchronize();
  // What a stream does next is its own to tell, and so is everything before it.
  y = on(a, [&] { return x.index_select(ids, 0); });
  b.wait_for(a);
  const Tensor w = on(a, [&] { return x.add(1); });
  b.synchronize();
  expect_wrong([&] { w.to_vec2<float>(); });
}

TEST_F(Streams, AWaitForTheDeviceLeavesOthersErrors) {
  if (device_.is_cpu()) GTEST_SKIP() << "errors are found before a call returns";
  const Tensor x = numbers({4, 3}), ids = Tensor::of<uint32_t>({1, 9}, device_);
  const Stream a = Stream::make(device_);
  const Tensor y = on(a, [&] { return x.index_select(ids, 0); });
  (void)x.index_select(ids, 0);
  expect_wrong([&] { device_.synchronize(); });
  expect_wrong([&] { y.to_vec2<float>(); });
  device_.synchronize();
}

TEST_F(Streams, TheDeviceTellsErrorsOfAllStreams) {
  if (device_.is_cpu()) GTEST_SKIP() << "errors are found before a call returns";
  const Tensor x = numbers({4, 3});
  const auto wrong = [&](uint32_t id) {
    return [&x, ids = Tensor::of<uint32_t>({1, id}, device_)] { (void)x.index_select(ids, 0); };
  };
  const Stream a = Stream::make(device_), b = Stream::make(device_);
  on(a, wrong(9));
  expect_wrong([&] { device_.synchronize(); });
  device_.synchronize();
  on(a, wrong(8));
  on(b, wrong(9));
  wrong(7)();
  for (const char* next : {"index 7", "index 8", "index 9"})
    EXPECT_ERROR(device_.synchronize(), IndexOutOfRange, next);
  device_.synchronize();
}

TEST_F(Streams, WhatIsLeftBehindIsTheDevicesToTell) {
  if (device_.is_cpu()) GTEST_SKIP() << "errors are found before a call returns";
  const Tensor x = numbers({4, 3}), ids = Tensor::of<uint32_t>({1, 9}, device_);
  on(Stream::make(device_), [&] { (void)x.index_select(ids, 0); });
  expect_wrong([&] { device_.synchronize(); });
  const Tensor y = on(Stream::make(device_), [&] { return x.index_select(ids, 0); });
  x.add(1).copy().sum_all();  // time for it to end
  {
    const Stream next = Stream::make(device_);
    next.synchronize();  // it is not the next holder's
    expect_wrong([&] { device_.synchronize(); });
    device_.synchronize();
  }
}

TEST_F(Streams, GraphsAreReplayedOnAny) {
  if (device_.is_cpu()) GTEST_SKIP() << "graphs are for GPUs";
  const Stream a = Stream::make(device_), b = Stream::make(device_);
  Tensor x = filled(0), y;
  const auto step = [&] { y = slowly(x); };
  on(a, step);  // its memory is kept for this stream
  y = Tensor();
  const Graph graph = on(a, [&] { return Graph::capture(device_, step); });
  for (int i = 1; i <= 10; ++i) {
    x.const_set(i);
    const Stream& stream = i % 2 == 0 ? a : b;
    on(stream, [&] { graph.replay(); });
    const Tensor kept = on(b, [&] { return y.add(1); });
    on(a, [&] { x.const_set(100), graph.replay(); });
    expect_all(kept, static_cast<float>(i + 1));
    expect_all(y, 100);
  }
}

TEST_F(Streams, ThreadsReplayOneGraph) {
  if (device_.is_cpu()) GTEST_SKIP() << "graphs are for GPUs";
  Tensor x = filled(0);
  const auto step = [&] { x.slice_set(x.affine(1, 1), 0, 0); };
  step();
  const Graph graph = Graph::capture(device_, step);
  constexpr int kThreads = 4, kReplays = 25;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([&] {
      on(Stream::make(device_), [&] {
        for (int replay = 0; replay < kReplays; ++replay) graph.replay();
      });
    });
  for (std::thread& thread : threads) thread.join();
  expect_all(x, 1 + kThreads * kReplays);
}

TEST_F(Streams, ErrorsOfGraphsComeOutWhereTheyAreReplayed) {
  if (device_.is_cpu()) GTEST_SKIP() << "graphs are for GPUs";
  const Tensor x = numbers({4, 3});
  Tensor ids = Tensor::of<uint32_t>({1, 2}, device_), y;
  const auto step = [&] { y = x.index_select(ids, 0); };
  const Stream a = Stream::make(device_), b = Stream::make(device_);
  on(a, step);  // its memory is kept for this stream
  y = Tensor();
  {
    const Graph graph = on(a, [&] { return Graph::capture(device_, step); });
    const Tensor wrong = Tensor::of<uint32_t>({1, 9}, device_);
    ids.slice_set(wrong, 0, 0);
    on(b, [&] { graph.replay(); });
    a.synchronize();
    expect_wrong([&] { b.synchronize(); });
    b.synchronize();
    device_.synchronize();
    on(b, [&] { graph.replay(); });
  }
  expect_wrong([&] { b.synchronize(); });  // the graph is gone
}

TEST_F(Streams, ErrorsOfGraphsAreOfTheLastReplay) {
  if (device_.is_cpu()) GTEST_SKIP() << "graphs are for GPUs";
  const Tensor x = numbers({4, 3}), apart = numbers({4, 3});
  Tensor ids = Tensor::of<uint32_t>({1, 2}, device_), y;
  const auto step = [&] { y = x.index_select(ids, 0); };
  const Stream a = Stream::make(device_), c = Stream::make(device_);
  on(a, step);
  y = Tensor();
  const Graph graph = on(a, [&] { return Graph::capture(device_, step); });
  on(a, [&] { graph.replay(); });
  EXPECT_EQ(y.to_vec2<float>().size(), 2u);  // waits for a
  ids.slice_set(Tensor::of<uint32_t>({1, 9}, device_), 0, 0);
  on(c, [&] { graph.replay(); });
  while (!c.idle()) std::this_thread::yield();
  EXPECT_EQ(apart.to_vec2<float>().size(), 4u);  // which has nothing to do with c
  expect_wrong([&] { c.synchronize(); });
}

TEST_F(Streams, ACaptureRefusesThem) {
  if (device_.is_cpu()) GTEST_SKIP() << "graphs are for GPUs";
  const Stream a = Stream::make(device_);
  const Tensor x = numbers({8});
  on(a, [&] { (void)x.exp(); });  // its memory is kept for this stream
  const auto refuses = [&](const std::function<void()>& operations, const std::string& what) {
    EXPECT_ERROR(Graph::capture(device_, operations), Unsupported, "a graph cannot record " + what);
  };
  refuses([&] { Stream::make(device_); }, "making a stream");
  refuses([&] { Stream::current(device_); }, "asking for the thread's stream");
  refuses([&] { const StreamScope scope(a); }, "that the thread's stream changes; choose it before");
  refuses([&] { a.synchronize(); }, "waiting for a stream; replay the graph");
  refuses([&] { (void)a.idle(); }, "asking a stream whether it is done");
  refuses([&] { a.wait_for(a); }, "that a stream waits for another");
  const Graph graph = on(a, [&] { return Graph::capture(device_, [&] { (void)x.exp(); }); });
  graph.replay();
  device_.synchronize();
}

}  // namespace
}  // namespace beeswax::test
