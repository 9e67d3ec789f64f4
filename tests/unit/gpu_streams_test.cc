// SPDX-License-Identifier: Apache-2.0
// Streams over fake drivers: exactly which stream waits for which, and that nobody waits where nothing tells;
// how many streams are made; every call failing in turn.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <functional>
#include <thread>
#include <utility>

#include "beeswax/graph.h"
#include "beeswax/stream.h"
#include "beeswax/tensor.h"
#include "support/expect_error.h"
#include "support/fake_faults.h"
#include "support/submitted_log.h"

namespace beeswax::test {
namespace {

size_t ptx_argument_bytes(const char* kernel) {
  const gpu::Bundle& bundle = gpu::Bundle::embedded();
  return bundle.find(*bundle.target_for("sm_80"), kernel)->argument_bytes;
}

class GpuStreams : public testing::TestWithParam<FakeGpu> {
 protected:
  fake::Control& control() const {
    fake::Control& control = GetParam().control();
    if (GetParam().name == "cuda:0") control.argument_bytes = ptx_argument_bytes;
    return control;
  }
  Device device() const { return GetParam().device(); }
  Tensor ones() const { return Tensor::ones({8}, DType::F32, device()); }
  // A process with a tensor of the default stream, 0, and two more, 1 and 2; nothing is noted yet.
  template <class Test>
  void with_two(const Test& test) const {
    run_apart([&] {
      fake::Control& fake = control();
      {
        Tensor x = ones();
        x.exp().sin();
        const Stream a = Stream::make(device()), b = Stream::make(device());
        fake.submitted = note;
        test(x, a, b);
      }
      EXPECT_EQ(fake.misuses, 0) << fake.misuse;
      fake.submitted = nullptr;
      expect_nothing_leaks(GetParam(), fake);
      return "";
    });
  }
};

template <class Work>
auto on(const Stream& stream, const Work& work) {
  const StreamScope scope(stream);
  return work();
}

TEST_P(GpuStreams, TheDefaultOneAloneNeedsNoEvents) {
  run_apart([this] {
    fake::Control& fake = control();
    fake.submitted = note;
    Tensor x = ones();
    const Stream own = Stream::current(device());
    Tensor y = x.exp();
    x.const_set(2);
    y = on(own, [&] { return x.sin(); });
    std::thread([&] { y.exp(); }).join();
    EXPECT_EQ(taken(),
              (Log{"0 fill_16", "0 unary_exp_f32", "0 fill_16", "0 unary_sin_f32", "0 unary_exp_f32"}));
    EXPECT_EQ(fake.events, 0);
    EXPECT_EQ(fake.streams, 1);
    return "";
  });
}

TEST_P(GpuStreams, SharedOperandsAreWaitedForOnce) {
  with_two([](const Tensor& x, const Stream& a, const Stream& b) {
    on(a, [&] { x.exp(), x.exp(); });
    on(b, [&] { x.sin(), x.sin(); });
    EXPECT_EQ(taken(), (Log{"0 record", "1 wait 0", "1 unary_exp_f32", "1 unary_exp_f32", "2 wait 0",
                            "2 unary_sin_f32", "2 unary_sin_f32"}));
    // The stream that made it reads it too, and still nobody waits.
    x.exp();
    on(a, [&] { x.exp(); });
    on(b, [&] { x.exp(); });
    x.exp();
    EXPECT_EQ(taken(), (Log{"0 unary_exp_f32", "1 unary_exp_f32", "2 unary_exp_f32", "0 unary_exp_f32"}));
  });
}

TEST_P(GpuStreams, ResultsAreWaitedForWhereTheyAreUsed) {
  with_two([](const Tensor& x, const Stream& a, const Stream& b) {
    const Tensor y = on(a, [&] { return x.exp(); });
    taken();
    y.sin();
    y.exp();
    EXPECT_EQ(taken(), (Log{"1 record", "0 wait 1", "0 unary_sin_f32", "0 unary_exp_f32"}));
    // What came after it on its stream is not waited for, nor is the event recorded again.
    on(a, [&] { x.exp(); });
    on(b, [&] { y.sin(); });
    EXPECT_EQ(taken(), (Log{"1 unary_exp_f32", "2 wait 1", "2 unary_sin_f32"}));
  });
}

TEST_P(GpuStreams, WritingInPlaceWaitsForReaders) {
  with_two([](Tensor x, const Stream& a, const Stream& b) {
    on(a, [&] { x.exp(); });
    on(b, [&] { x.exp(); });
    taken();
    x.const_set(2);
    EXPECT_EQ(taken(), (Log{"1 record", "0 wait 1", "2 record", "0 wait 2", "0 fill_16"}));
    x.const_set(3);
    x.exp();
    EXPECT_EQ(taken(), (Log{"0 fill_16", "0 unary_exp_f32"}));
    on(a, [&] { x.const_set(4); });
    EXPECT_EQ(taken(), (Log{"0 record", "1 wait 0", "1 fill_16"}));
    on(b, [&] { x.exp(); });
    EXPECT_EQ(taken(), (Log{"1 record", "2 wait 1", "2 unary_exp_f32"}));
  });
}

TEST_P(GpuStreams, FreedMemoryWaitsForItsUsers) {
  with_two([](const Tensor& x, const Stream& a, const Stream&) {
    Tensor y = on(a, [&] { return x.exp(); });
    y.sin();
    y = Tensor();
    taken();
    on(a, [&] { x.exp(), x.exp(); });
    EXPECT_EQ(taken(), (Log{"0 record", "1 wait 0", "1 unary_exp_f32", "1 unary_exp_f32"}));
    x.sin();  // takes the default stream's own
    EXPECT_EQ(taken(), (Log{"0 unary_sin_f32"}));
  });
}

TEST_P(GpuStreams, WhatTheHostWaitedForNobodyWaitsFor) {
  with_two([this](const Tensor& x, const Stream& a, const Stream& b) {
    const Tensor y = on(a, [&] { return x.exp(); });
    taken();
    device().synchronize();
    y.sin();
    on(b, [&] { x.exp(); });
    EXPECT_EQ(taken(), (Log{"0 unary_sin_f32", "2 unary_exp_f32"}));
    const Tensor z = on(a, [&] { return y.exp(); });
    a.synchronize();
    z.sin();
    EXPECT_EQ(taken(), (Log{"1 unary_exp_f32", "0 unary_sin_f32"}));
  });
}

TEST_P(GpuStreams, CopiesAreOrderedToo) {
  with_two([this](const Tensor& x, const Stream& a, const Stream&) {
    const Tensor y = on(a, [&] { return Tensor::of<float>({1, 2, 3, 4, 5, 6, 7, 8}, device()); });
    EXPECT_EQ(taken(), (Log{"1 copy", "1 record"}));  // the second is the buffer's event
    EXPECT_EQ(y.to_vec<float>(), (std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8}));
    EXPECT_EQ(taken(), (Log{"1 record", "0 wait 1", "0 copy", "0 record"}));
    const Tensor z = on(a, [&] { return x.copy(); });
    EXPECT_EQ(taken(), (Log{"1 copy"}));  // the default stream was waited for when y was read
    EXPECT_EQ(on(a, [&] { return z.to_vec<float>().size(); }), 8u);
    EXPECT_EQ(taken(), (Log{"1 copy", "1 record"}));
  });
}

TEST_P(GpuStreams, AReplayWritesAllOfItsMemory) {
  with_two([this](const Tensor& x, const Stream& a, const Stream& b) {
    Tensor y;
    const Graph graph = Graph::capture(device(), [&] { y = x.exp(); });
    on(b, [&] { x.sin(); });
    taken();
    on(a, [&] { graph.replay(), graph.replay(); });
    // The default stream's event was recorded when stream 2 read what it made.
    EXPECT_EQ(taken(), (Log{"1 wait 0", "2 record", "1 wait 2", "1 graph", "1 graph"}));
    y.sin();
    EXPECT_EQ(taken(), (Log{"1 record", "0 wait 1", "0 unary_sin_f32"}));
    on(a, [&] { graph.replay(); });
    EXPECT_EQ(taken(), (Log{"0 record", "1 wait 0", "1 graph"}));
  });
}

TEST_P(GpuStreams, WaitingForAStreamIsWaitingForWhatThatOneWaitsFor) {
  with_two([this](const Tensor& x, const Stream& a, const Stream& b) {
    const Stream first = Stream::current(device());
    a.wait_for(a);
    a.wait_for(b);
    EXPECT_EQ(taken(), Log());
    on(b, [&] { x.exp(); });
    taken();
    first.wait_for(b);
    on(a, [&] { x.exp(); });
    taken();
    b.wait_for(a);
    first.wait_for(b);
    first.wait_for(b);
    EXPECT_EQ(taken(), (Log{"1 record", "2 wait 1", "2 record", "0 wait 2"}));
  });
}

TEST_P(GpuStreams, StreamsAreHandedOutAgain) {
  run_apart([this] {
    fake::Control& fake = control();
    const Stream own = Stream::current(device());
    for (int i = 0; i < 100; ++i) {
      const Stream made = Stream::make(device());
      Stream copy = own;
      copy = made;
      EXPECT_FALSE(made == own);
      EXPECT_TRUE(made == copy);
      EXPECT_TRUE(made.idle());
    }
    EXPECT_EQ(fake.streams, 2);
    {
      const Stream a = Stream::make(device()), b = Stream::make(device());
      EXPECT_FALSE(a == b);
      EXPECT_EQ(fake.streams, 3);
    }
    fake.busy = true;  // no stream's work ends
    EXPECT_FALSE(own.idle());
    for (int i = 0; i < 100; ++i) Stream::make(device());
    EXPECT_EQ(fake.streams, int64_t{gpu::kMostStreams});
    std::vector<Stream> all;
    for (uint32_t i = 1; i < gpu::kMostStreams; ++i) all.push_back(Stream::make(device()));
    EXPECT_ERROR(Stream::make(device()), Unsupported, "31 streams of " + GetParam().name + " are held");
    all.pop_back();
    EXPECT_EQ(Stream::make(device()).device(), device());
    return "";
  });
}

TEST_P(GpuStreams, ThreadsPassTensorsOn) {
  run_apart([this] {
    control();
    Tensor shared = ones();
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        for (int i = 0; i < 20; ++i) {
          const Stream stream = Stream::make(device());
          Tensor y = on(stream, [&] { return shared.exp(); });
          std::thread([&] { y = y.sin(); }).join();
          EXPECT_EQ(y.to_vec<float>().size(), 8u);
        }
      });
    for (std::thread& thread : threads) thread.join();
    shared.const_set(1);
    device().synchronize();
    return "";
  });
}

// Parts of one storage that two streams write, each seen by who reads it.
TEST_P(GpuStreams, TwoWritersOfOneStorage) {
  with_two([this](const Tensor&, const Stream& a, const Stream& b) {
    const Tensor y = Tensor::zeros({2, 8}, DType::F32, device());
    const Tensor top = y.narrow(0, 0, 1), bottom = y.narrow(0, 1, 1);
    on(a, [&] { top.copy(), Tensor(top).const_set(1); });
    on(b, [&] { Tensor(bottom).const_set(2); });
    taken();
    y.exp();
    const Log log = taken();
    EXPECT_EQ(log.front(), "2 record");  // which waited for stream 1
    EXPECT_EQ(log[1], "0 wait 2");
  });
}

gpu::BinaryArgs divided;  // what the last division was launched with
void keep_division(const fake::Launch& launch) {
  if (std::string_view(launch.kernel).starts_with("binary_div"))
    std::memcpy(&divided, launch.arguments, sizeof(divided));
}
// As the kernel does where it divides by zero.
void report_division() {
  *divided.report.slot = {gpu::kSlotReported, gpu::kErrorDivisionByZero, 0, 3, 0, divided.report.origin};
}

// Does something once, after the driver waited for a stream and before its errors are looked at.
struct AfterWait final : gpu::LaunchHooks {
  std::function<void()> work;
  void begin(gpu::Gpu& /*gpu*/, const gpu::Submitted& /*work*/) noexcept override {}
  void end(gpu::Gpu& /*gpu*/, const gpu::Submitted& /*work*/, bool /*taken*/) noexcept override {}
  void waited(gpu::Gpu& /*gpu*/, const gpu::DeviceStream& /*stream*/) noexcept override {
    if (work != nullptr) std::exchange(work, nullptr)();
  }
};

// A replay that a stream is made to wait for while the host waits for that stream still runs, and what it
// finds later is told.
TEST_P(GpuStreams, ReplaysBehindAStreamThatIsWaitedForKeepTheirErrors) {
  with_two([this](const Tensor&, const Stream& a, const Stream& b) {
    static AfterWait hooks;
    gpu::launch_hooks.store(&hooks);
    control().run = keep_division;
    const Stream first = Stream::current(device());
    const Tensor x = Tensor::ones({8}, DType::I32, device());
    x.div(x);
    const Graph graph = Graph::capture(device(), [&] { x.div(x); });
    const auto replayed_while_waiting_for_a = [&](const std::function<void()>& meanwhile) {
      on(b, [&] { graph.replay(); });
      hooks.work = meanwhile;
      EXPECT_NO_THROW(a.synchronize());
      EXPECT_TRUE(hooks.work == nullptr);
      report_division();
    };
    replayed_while_waiting_for_a([&] { a.wait_for(b); });
    EXPECT_ERROR(b.synchronize(), DivisionByZero, "at element 3");
    a.wait_for(first);
    replayed_while_waiting_for_a([&] { first.wait_for(b); });
    EXPECT_ERROR(first.synchronize(), DivisionByZero, "at element 3");
    EXPECT_NO_THROW(device().synchronize());
    control().run = nullptr;
  });
}

// A graph's slot is looked at by every stream on which it was replayed.
TEST(SharedSlots, OneOfTwoThreadsTakesAnError) {
  gpu::ErrorSlot slot{};
  const gpu::SharedSlot shared{&slot, &slot};
  EXPECT_FALSE(shared.take().has_value());
  for (int round = 0; round < 300; ++round) {
    slot = {gpu::kSlotReported, gpu::kErrorIndexOutOfRange, round, 3, 2, 0};
    std::atomic<int> waiting{2}, got{0};
    const auto ask = [&] {
      for (--waiting; waiting != 0;) std::this_thread::yield();
      if (const auto found = shared.take(); found.has_value()) got += found->value == round ? 1 : 100;
    };
    std::thread other(ask);
    ask();
    other.join();
    EXPECT_EQ(got, 1);
    EXPECT_FALSE(shared.reported());
  }
}

void two_streams(const Device& device, const std::function<void()>& before_the_end) {
  const std::vector<float> values(256, 1.0F);
  Tensor x = Tensor::from_vec(values, {16, 16}, device);
  Tensor y = x.exp();
  y = Tensor();
  const Graph graph = Graph::capture(device, [&] { y = x.exp(); });
  const Stream other = Stream::make(device);
  {
    const StreamScope scope(other);
    graph.replay();
    x.matmul(y).sin();
    EXPECT_EQ(y.to_vec2<float>().size(), 16u);
  }
  x.const_set(2);
  Tensor z = on(other, [&] { return x.exp(); });
  z = z.sum_all();
  EXPECT_EQ(z.to_vec<float>().size(), 1u);
  other.synchronize();
  Stream::current(device).wait_for(other);
  device.synchronize();
  EXPECT_EQ(other.idle(), true);
  before_the_end();
}

TEST_P(GpuStreams, AnyCallFails) {
  expect_any_call_may_fail(GetParam(), [&](const Device& device) {
    fake::Control& control = this->control();
    two_streams(device, [&] { control.fail_nth = 0; });
  });
}

TEST_P(GpuStreams, FailuresNameWhatWasDone) {
  const bool cuda = GetParam().name == "cuda:0";
  const struct {
    const char *cuda, *hip, *says;
  } cases[] = {
      {"cuStreamWaitEvent", "hipStreamWaitEvent", "making a stream wait for another"},
      {"cuEventRecord", "hipEventRecord", "recording an event of a stream"},
      {"cuEventCreate", "hipEventCreateWithFlags", "creating an event of a stream"},
  };
  for (const auto& failing : cases)
    with_two([&](const Tensor& x, const Stream& a, const Stream&) {
      set_fault(control(), cuda ? failing.cuda : failing.hip, 1, 1);
      EXPECT_ERROR(on(a, [&] { return x.exp(); }), Device, failing.says);
      clear_fault(control());
      taken();
      on(a, [&] { x.exp(); });  // as if nothing had been
      EXPECT_EQ(taken().back(), "1 unary_exp_f32");
    });
  run_apart([&] {
    set_fault(control(), cuda ? "cuStreamCreate" : "hipStreamCreateWithFlags", 2, 2);
    EXPECT_ERROR(Stream::make(device()), OutOfMemory, "creating a stream");
    return "";
  });
}

INSTANTIATE_TEST_SUITE_P(Drivers, GpuStreams, testing::ValuesIn(fake_gpus()),
                         [](const auto& info) { return info.param.name.substr(0, 4); });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(GpuStreams);

}  // namespace
}  // namespace beeswax::test
