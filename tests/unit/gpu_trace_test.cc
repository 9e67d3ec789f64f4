// SPDX-License-Identifier: Apache-2.0
// BEESWAX_TRACE: a file of trace events for what was launched, whole JSON however the process ends.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "backends/gpu/driver.h"
#include "beeswax/graph.h"
#include "beeswax/stream.h"
#include "beeswax/tensor.h"
#include "support/apart.h"
#include "support/expect_error.h"
#include "support/fake_gpu.h"

namespace beeswax::test {
namespace {

using nlohmann::json;

class TraceFile {
 public:
  TraceFile()
      : path_(std::filesystem::temp_directory_path() /
              ("beeswax_trace_" + std::to_string(::getpid()) + ".json")) {
    std::filesystem::remove(path_);
    ::setenv("BEESWAX_TRACE", path_.c_str(), 1);
  }
  ~TraceFile() {
    ::unsetenv("BEESWAX_TRACE");
    std::filesystem::remove(path_);
  }
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;

  // Events of a phase; throws where the file is not JSON.
  std::vector<json> events(const std::string& phase) const {
    std::ifstream file(path_);
    std::vector<json> out;
    const json whole = json::parse(file);
    for (const json& event : whole.at("traceEvents"))
      if (event.at("ph") == phase) out.push_back(event);
    return out;
  }

 private:
  std::filesystem::path path_;
};

void exp_of_ones(const Device& device) {
  const Tensor x = Tensor::ones({3, 1000}, DType::F32, device);
  x.exp().sum_all().to_vec<float>();
}

// What exp_of_ones() launches, and what it copies.
void expect_launches(std::vector<json> events, const std::string& device) {
  std::vector<json> copies;
  std::erase_if(events, [&](const json& event) {
    if (event.at("cat") != "copy") return false;
    copies.push_back(event);
    return true;
  });
  ASSERT_GE(copies.size(), 1u);
  for (const json& copy : copies) {
    EXPECT_EQ(copy.at("name"), "copy_from_device");
    EXPECT_EQ(copy.at("args").at("bytes"), sizeof(float));
    EXPECT_GE(copy.at("dur").get<double>(), 0.0);
  }
  ASSERT_GE(events.size(), 3u);
  EXPECT_EQ(events[0].at("name"), "fill_16");
  EXPECT_EQ(events[0].at("cat"), "fill");
  EXPECT_EQ(events[1].at("name"), "unary_exp_f32");
  double last = 0;
  for (const json& event : events) {
    EXPECT_EQ(event.at("args").at("device"), device);
    EXPECT_EQ(event.at("args").at("stream"), 0);
    EXPECT_EQ(event.at("args").at("blocks").size(), 3u);
    EXPECT_GE(event.at("args").at("threads").get<int>(), 32);
    EXPECT_GE(event.at("dur").get<double>(), 0.0);
    EXPECT_GE(event.at("ts").get<double>(), last);
    last = event.at("ts").get<double>();
  }
}

TEST(GpuTrace, NamesEveryLaunch) {
  for (const FakeGpu& fake : fake_gpus()) {
    const TraceFile file;
    const std::string launches = run_apart([&] {
      fake::Control& control = fake.control();
      exp_of_ones(fake.device());
      exp_of_ones(fake.device());
      EXPECT_EQ(control.misuses, 0) << control.misuse;
      return std::to_string(control.launches + 2);  // and copies
    });
    expect_launches(file.events("X"), fake.name);
    EXPECT_EQ(file.events("X").size(), std::stoul(launches));
    ASSERT_EQ(file.events("M").size(), 2u);
    EXPECT_EQ(file.events("M")[0].at("args").at("name").get<std::string>().substr(0, 12),
              fake.name + " Fake ");
  }
}

TEST(GpuTrace, OnTheSoftwareGpu) {
  const TraceFile file;
  const std::string ran = run_apart([]() -> std::string {
    if (gpu::driver_for(DeviceKind::Emu).driver == nullptr ||
        !gpu::Bundle::embedded().target_for("gfx1100").has_value())
      return "";
    exp_of_ones(Device::parse("emu:gfx1100"));
    return "ran";
  });
  if (ran.empty()) GTEST_SKIP() << "built without the software AMD GPU";
  expect_launches(file.events("X"), "emu:gfx1100");
  for (const json& event : file.events("X")) EXPECT_GT(event.at("dur").get<double>(), 0.0);
}

TEST(GpuTrace, IsWholeHoweverTheProcessEnds) {
  for (const FakeGpu& fake : fake_gpus()) {
    const TraceFile file;
    run_apart([&] {  // a process that nobody lets clean up
      fake.control();
      exp_of_ones(fake.device());
      const Tensor x = Tensor::ones({8}, DType::F32, fake.device());
      ::_exit(0);
      return "";
    });
    EXPECT_GE(file.events("X").size(), 3u);
    run_apart([&] {  // one that ends before it waits
      fake.control();
      const Tensor x = Tensor::ones({8}, DType::F32, fake.device()).exp();
      return "";
    });
    EXPECT_EQ(file.events("X").size(), 2u);
    run_apart([&] {  // a lost device: what was submitted has a place but no time
      fake::Control& control = fake.control();
      const Tensor x = Tensor::ones({8}, DType::F32, fake.device()).exp();
      set_fault(control, "", 1, 719, true);
      EXPECT_ERROR(x.to_vec<float>(), Device, "lost to the process");
      return "";
    });
    EXPECT_EQ(file.events("X").size(), 0u);
    ASSERT_EQ(file.events("i").size(), 2u);
    EXPECT_EQ(file.events("i")[1].at("name"), "unary_exp_f32");
  }
}

TEST(GpuTrace, WhatThrowsHasNoEvent) {
  for (const FakeGpu& fake : fake_gpus()) {
    const TraceFile file;
    run_apart([&] {
      const fake::Control& control = fake.control();
      gpu::Gpu& gpu = gpu::Gpu::of(fake.device());
      const Tensor x = Tensor::ones({8}, DType::F32, fake.device());
      gpu.synchronize();
      const int64_t events = control.events;
      static const gpu::Kernel kCall{nullptr, "call", "call"};
      const auto thrower = [](gpu::StreamHandle) -> std::string { throw std::runtime_error("no plan"); };
      for (int i = 0; i < 10; ++i) EXPECT_THROW(gpu.submit_call(kCall, {}, thrower), std::runtime_error);
      EXPECT_LE(control.events, events + 1);  // which are used again
      x.exp();
      return "";
    });
    ASSERT_EQ(file.events("X").size(), 2u);
    EXPECT_EQ(file.events("X")[1].at("name"), "unary_exp_f32");
  }
}

TEST(GpuTrace, AReplayIsOneEvent) {
  for (const FakeGpu& fake : fake_gpus()) {
    const TraceFile file;
    run_apart([&] {
      fake::Control& control = fake.control();
      control.argument_bytes = [](const char*) -> size_t { return 0; };
      const Tensor x = Tensor::ones({8}, DType::F32, fake.device());
      x.exp().exp();
      const Graph graph = Graph::capture(fake.device(), [&] { x.exp().exp(); });
      graph.replay();
      EXPECT_EQ(control.launches, 5);
      EXPECT_EQ(control.misuses, 0) << control.misuse;
      return "";
    });
    ASSERT_EQ(file.events("X").size(), 4u);
    EXPECT_EQ(file.events("X")[3].at("name"), "graph");
    EXPECT_EQ(file.events("X")[3].at("cat"), "replay");
  }
}

TEST(GpuTrace, EachStreamIsAThread) {
  for (const FakeGpu& fake : fake_gpus()) {
    const TraceFile file;
    run_apart([&] {
      const fake::Control& control = fake.control();
      const Tensor x = Tensor::ones({8}, DType::F32, fake.device());
      const Stream other = Stream::make(fake.device());
      {
        const StreamScope scope(other);
        x.exp();
      }
      x.sin();
      other.synchronize();  // writes what ran there
      EXPECT_EQ(file.events("X").size(), 1u);
      fake.device().synchronize();
      EXPECT_EQ(control.misuses, 0) << control.misuse;
      return "";
    });
    ASSERT_EQ(file.events("X").size(), 3u);
    for (const json& event : file.events("X")) {
      const int stream = event.at("name") == "unary_exp_f32" ? 1 : 0;
      EXPECT_EQ(event.at("tid"), stream);
      EXPECT_EQ(event.at("args").at("stream"), stream);
    }
    ASSERT_EQ(file.events("M").size(), 3u);
    EXPECT_EQ(file.events("M")[2].at("tid"), 1);
    EXPECT_EQ(file.events("M")[2].at("args").at("name"), "stream 1");
  }
}

TEST(GpuTrace, FailuresOfTracingAreNotThePrograms) {
  for (const FakeGpu& fake : fake_gpus()) {
    const bool cuda = fake.name == "cuda:0";
    for (const char* call :
         {cuda ? "cuEventCreate" : "hipEventCreateWithFlags", cuda ? "cuEventRecord" : "hipEventRecord",
          cuda ? "cuEventElapsedTime" : "hipEventElapsedTime"})
      for (const int64_t nth : {1, 2, 3, 4}) {
        SCOPED_TRACE(testing::Message() << call << " " << nth);
        const TraceFile file;
        run_apart([&] {
          set_fault(fake.control(), call, nth, 801);
          exp_of_ones(fake.device());
          return "";
        });
        EXPECT_GE(file.events("X").size() + file.events("i").size(), 2u);
      }
  }
}

// The program goes on: what it computes does not hang on the trace.
TEST(GpuTrace, AFileThatIsFullIsSaidOnce) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  ::setenv("BEESWAX_TRACE", "/dev/full", 1);
  for (const FakeGpu& fake : fake_gpus())
    run_apart([&] {
      fake.control();
      testing::internal::CaptureStderr();
      exp_of_ones(fake.device());
      exp_of_ones(fake.device());
      EXPECT_EQ(testing::internal::GetCapturedStderr(),
                "beeswax: the trace ends here: BEESWAX_TRACE=/dev/full: No space left on device\n");
      return "";
    });
  ::unsetenv("BEESWAX_TRACE");
}

TEST(GpuTrace, CopiesBetweenDevicesAreThere) {
  for (const FakeGpu& fake : fake_gpus()) {
    const TraceFile file;
    run_apart([&] {
      fake.control().devices = 2;
      const Tensor x = Tensor::ones({1000}, DType::F32, fake.device());
      x.to_device(Device::parse(fake.name.substr(0, 5) + "1"));
      return "";
    });
    const std::vector<json> events = file.events("X");
    const auto copies = std::ranges::count_if(events, [](const json& event) {
      return event.at("name") == "copy_to_another_device" && event.at("args").at("bytes") == 4000;
    });
    EXPECT_EQ(copies, 1) << fake.name;
  }
}

TEST(GpuTrace, AFileThatCannotBeWrittenIsAnError) {
  ::setenv("BEESWAX_TRACE", "/no/such/folder/trace.json", 1);
  for (const FakeGpu& fake : fake_gpus())
    run_apart([&] {
      fake.control();
      EXPECT_ERROR(exp_of_ones(fake.device()), Io,
                   "[trace] BEESWAX_TRACE=/no/such/folder/trace.json: No such file");
      return "";
    });
  ::unsetenv("BEESWAX_TRACE");
}

}  // namespace
}  // namespace beeswax::test
