// SPDX-License-Identifier: Apache-2.0
// Copies between two devices of a fake driver: what is submitted to which stream, what happens where a driver
// refuses or loses bytes, and every call failing in turn.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "beeswax/graph.h"
#include "beeswax/stream.h"
#include "beeswax/system.h"
#include "beeswax/tensor.h"
#include "core/fail.h"
#include "support/expect_error.h"
#include "support/fake_faults.h"
#include "support/submitted_log.h"

namespace beeswax::test {
namespace {

const std::vector<float> kValues = {1, 2, 3, 4, 5, 6, 7, 8};

class GpuPeers : public testing::TestWithParam<FakeGpu> {
 protected:
  static Device first() { return GetParam().device(); }
  static Device second() { return Device::parse(GetParam().name.substr(0, 4) + ":1"); }
  static Tensor values() { return Tensor::from_vec(kValues, {8}, first()); }
  static bool cuda() { return GetParam().name == "cuda:0"; }
  static const char* copy_call() { return cuda() ? "cuMemcpyPeerAsync" : "hipMemcpyPeerAsync"; }
  // A process with two devices, whose streams are 0 and 1.
  template <class Test>
  void with_two(const Test& test) const {
    run_apart([&] {
      fake::Control& control = GetParam().control();
      control.devices = 2;
      {
        const Tensor a = Tensor::ones({8}, DType::F32, first()), b = Tensor::ones({8}, DType::F32, second());
        a.exp().sin();
        b.exp();
      }
      test(control);
      control.submitted = nullptr;
      expect_nothing_leaks(GetParam(), control, {second()});
      return "";
    });
  }
};

// There and back again, by way of both devices' streams.
void there_and_back(const Device& first, const Device& second) {
  const Tensor there = Tensor::from_vec(kValues, {8}, first).to_device(second);
  EXPECT_EQ(there.device(), second);
  const Tensor back = there.to_device(first);
  EXPECT_EQ(back.to_vec<float>(), kValues);
  EXPECT_EQ(there.to_vec<float>(), kValues);
}

// Another library of the process may have made another device the thread's.
TEST_P(GpuPeers, TheThreadsDeviceMayBeAnothers) {
  with_two([](fake::Control& control) {
    const Tensor x = values();
    void* library = ::dlopen(GetParam().library.c_str(), RTLD_NOW | RTLD_NOLOAD);
    ASSERT_NE(library, nullptr);
    if (cuda()) {
      reinterpret_cast<int (*)(void*)>(::dlsym(library, "cuCtxSetCurrent"))(nullptr);
    } else {
      reinterpret_cast<int (*)(int)>(::dlsym(library, "hipSetDevice"))(1);
    }
    EXPECT_EQ(x.exp().device(), first());
    EXPECT_EQ(x.to_vec<float>(), kValues);
    EXPECT_EQ(control.misuses, 0) << control.misuse;
    ::dlclose(library);
  });
}

TEST_P(GpuPeers, CopiesGoFromDeviceToDeviceWithoutTheHost) {
  with_two([](fake::Control& control) {
    Tensor x = values();
    x.to_device(second());  // looks whether copies arrive
    control.submitted = note;
    Tensor y = x.exp().to_device(second());
    // What was read is used again at once, behind the copy on its own stream.
    x.sin();
    EXPECT_EQ(taken(), (Log{"0 unary_exp_f32", "1 record", "0 wait 1", "0 send 1", "0 record", "1 wait 0",
                            "0 unary_sin_f32"}));
    y.exp();
    EXPECT_EQ(taken(), (Log{"1 unary_exp_f32"}));
    y = x.to_device(second());
    EXPECT_EQ(taken(), (Log{"1 record", "0 wait 1", "0 send 1", "0 record", "1 wait 0"}));
    EXPECT_EQ(y.to_vec<float>(), kValues);
    const int64_t calls = control.calls;
    EXPECT_EQ(x.narrow(0, 2, 0).to_device(second()).elem_count(), 0);
    EXPECT_EQ(control.calls, calls);  // nothing to copy
  });
}

TEST_P(GpuPeers, StreamsOfBothDevicesAreOrdered) {
  with_two([](fake::Control& control) {
    const Tensor x = values();
    x.to_device(second());
    const Stream a = Stream::make(first()), b = Stream::make(second());  // 2 and 3
    control.submitted = note;
    Tensor y, z;
    {
      const StreamScope here(a);
      y = x.exp();
    }
    taken();
    {
      const StreamScope there(b);
      z = y.to_device(second());
    }
    EXPECT_EQ(taken(),
              (Log{"3 record", "2 record", "0 wait 2", "0 wait 3", "0 send 1", "0 record", "3 wait 0"}));
    // Stream 2 takes the memory again: it waits for the copy, which stream 0 made.
    y = Tensor();
    {
      const StreamScope here(a);
      y = x.sin();
    }
    EXPECT_EQ(taken(), (Log{"0 record", "2 wait 0", "2 unary_sin_f32"}));
    // Stream 1 reads what stream 3 waited for.
    z.exp();
    EXPECT_EQ(taken(), (Log{"3 record", "1 wait 3", "1 unary_exp_f32"}));
  });
}

TEST_P(GpuPeers, EachTwoAreTriedOnce) {
  with_two([](fake::Control& control) {
    control.submitted = note;
    there_and_back(first(), second());
    const auto sends = [] {
      const Log log = taken();
      return std::ranges::count_if(log, [](const std::string& what) { return has(what, "send"); });
    };
    EXPECT_EQ(sends(), 4);
    there_and_back(first(), second());
    EXPECT_EQ(sends(), 2);
  });
}

TEST_P(GpuPeers, WhatArrivesDamagedGoesByWayOfTheHost) {
  with_two([](fake::Control& control) {
    control.loses_copies = true;
    testing::internal::CaptureStderr();
    there_and_back(first(), second());
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_TRUE(has(said, join_text("copies from ", first(), " to ", second(),
                                    " go by way of the host: a direct copy did not arrive whole")))
        << said;
    control.submitted = note;
    there_and_back(first(), second());
    for (const std::string& what : taken()) EXPECT_FALSE(has(what, "send")) << what;
  });
}

TEST_P(GpuPeers, WithoutRoomForATrialCopiesGoByWayOfTheHost) {
  for (const bool at_source : {true, false})
    with_two([at_source](fake::Control& control) {
      const Device full = at_source ? first() : second();
      set_memory_limit(full, size_t{64} << 10);
      testing::internal::CaptureStderr();
      control.submitted = note;
      there_and_back(first(), second());
      for (const std::string& what : taken()) EXPECT_FALSE(has(what, "send")) << what;
      EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
      set_memory_limit(full, 0);
      there_and_back(first(), second());
      const Log log = taken();
      EXPECT_TRUE(std::ranges::any_of(log, [](const std::string& what) { return has(what, "send"); }));
    });
}

TEST_P(GpuPeers, DevicesThatCannotReachEachOtherStillCopy) {
  with_two([](fake::Control& control) {
    control.apart = true;
    there_and_back(first(), second());
  });
}

TEST_P(GpuPeers, ADriverThatRefusesIsNotAskedAgain) {
  with_two([](fake::Control& control) {
    there_and_back(first(), second());
    set_fault(control, copy_call(), 1, 1);
    testing::internal::CaptureStderr();
    there_and_back(first(), second());
    EXPECT_TRUE(has(testing::internal::GetCapturedStderr(), "go by way of the host: "));
    EXPECT_STREQ(control.failed, copy_call());
    set_fault(control, copy_call(), 2, 1);  // the second way is still direct
    there_and_back(first(), second());
    EXPECT_STREQ(control.failed, "");
    clear_fault(control);
  });
}

TEST_P(GpuPeers, ALostDeviceIsAnError) {
  run_apart([] {
    fake::Control& control = GetParam().control();
    control.devices = 2;
    const Tensor x = values();
    x.to_device(second());
    set_fault(control, copy_call(), 1, 719, true);
    EXPECT_ERROR(x.to_device(second()), Device, "this device is lost to the process");
    return "";
  });
}

TEST_P(GpuPeers, GraphsDoNotRecordThem) {
  with_two([](fake::Control&) {
    const Tensor x = values();
    EXPECT_ERROR(Graph::capture(first(), [&] { x.to_device(second()); }), Unsupported,
                 "a graph cannot record a copy to another device");
    EXPECT_ERROR(Graph::capture(second(), [&] { x.to_device(second()); }), Unsupported,
                 "a graph cannot record");
    there_and_back(first(), second());
  });
}

TEST_P(GpuPeers, OperandsOfTwoDevicesAreRefusedByName) {
  with_two([](fake::Control&) {
    const Tensor x = values(), y = values().to_device(second());
    const std::string both =
        join_text("the devices of [8] f32 ", first(), " and [8] f32 ", second(), " differ");
    EXPECT_ERROR(x.add(y), DeviceMismatch, both);
    EXPECT_ERROR(Tensor::cat({x, y}, 0), DeviceMismatch, both);
    EXPECT_ERROR(x.ge(3).where_cond(x, y), DeviceMismatch,
                 first().to_string() + " and [8] f32 " + second().to_string());
    EXPECT_ERROR(x.reshape({2, 4}).matmul(y.reshape({4, 2})), DeviceMismatch, second().to_string());
  });
}

TEST_P(GpuPeers, ThreadsCopyBothWays) {
  with_two([](fake::Control&) {
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([t] {
        const Stream stream = Stream::make(t % 2 == 0 ? first() : second());
        const StreamScope scope(stream);
        for (int i = 0; i < 20; ++i)
          there_and_back(t % 2 == 0 ? first() : second(), t % 2 == 0 ? second() : first());
      });
    for (std::thread& thread : threads) thread.join();
  });
}

// Taking memory for the trial makes a device current first: without memory for that, too, copies go by the
// host.
TEST_P(GpuPeers, AnyCallFails) {
  const Device other = second();
  expect_any_call_may_fail(
      GetParam(), [other](const Device& device) { there_and_back(device, other); }, {other},
      cuda() ? "cuCtxSetCurrent" : "hipSetDevice");
}

INSTANTIATE_TEST_SUITE_P(Drivers, GpuPeers, testing::ValuesIn(fake_gpus()),
                         [](const auto& info) { return info.param.name.substr(0, 4); });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(GpuPeers);

}  // namespace
}  // namespace beeswax::test
