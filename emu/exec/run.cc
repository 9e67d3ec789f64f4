// SPDX-License-Identifier: Apache-2.0
#include "emu/exec/run.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

#include "emu/exec/worker.h"

namespace emu {
namespace {

using namespace exec;

void add_classes(const uint64_t* classes, Counters& counters) {
  const auto of = [classes](Class c) { return classes[size_t(c)]; };
  counters.valu += of(Class::Vector) + of(Class::Transcendental) + of(Class::Double) + of(Class::Dot) +
                   of(Class::LaneCross);
  counters.transcendental += of(Class::Transcendental);
  counters.f64 += of(Class::Double);
  counters.dot += of(Class::Dot);
  counters.cross_lane += of(Class::LaneCross);
  counters.salu += of(Class::Scalar);
  counters.matrix += of(Class::Matrix);
  counters.vmem += of(Class::Global) + of(Class::Scratch) + of(Class::Atomic);
  counters.atomics += of(Class::Atomic);
  counters.scratch += of(Class::Scratch);
  counters.smem += of(Class::ScalarMemory);
  counters.lds += of(Class::Lds);
  counters.branch += of(Class::Branch);
  counters.other += of(Class::Wait) + of(Class::Barrier) + of(Class::Other);
  counters.waits += of(Class::Wait);
  counters.barriers += of(Class::Barrier);
}

}  // namespace

void run(const Launch& launch, Memory& memory, const Options& options, Counters* counters) {
  const Kernel& kernel = *launch.kernel;
  const auto program = Program::of(kernel);
  Dispatch d;
  d.launch = &launch;
  d.memory = &memory;
  d.options = options;
  d.program = program.get();
  d.lanes = program->lanes();
  d.generation = generation_of(kernel);
  const uint32_t items = launch.block[0] * launch.block[1] * launch.block[2];
  d.wave_count = (items + d.lanes - 1) / d.lanes;
  // Functions may use what the kernel does not name.
  d.vector_registers = std::max({program->vector_registers(), 4u, program->calls() ? 513u : 0u});
  d.lds_bytes = kernel.group_segment_bytes + launch.dynamic_lds;
  d.private_bytes =
      (kernel.private_segment_bytes + (kernel.uses_dynamic_stack || program->calls() ? 16384u : 0u) + 15u) &
      ~15u;
  d.group_count = uint64_t(launch.grid[0]) * launch.grid[1] * launch.grid[2];

  if (launch.cooperative)
    d.grid = std::make_unique<GridSync>(d.group_count,
                                        launch.host != nullptr ? launch.host->grid_counter : nullptr);
  if (options.check >= Check::Race) d.races = std::make_unique<RaceTable>(d.group_count, launch.host);

  unsigned threads =
      options.threads != 0 ? options.threads : std::max(1u, std::thread::hardware_concurrency());
  threads = unsigned(std::min<uint64_t>(threads, std::max<uint64_t>(d.group_count, 1)));
  std::vector<std::unique_ptr<Worker>> workers;
  for (unsigned i = 0; i < threads; ++i) {
    workers.push_back(std::make_unique<Worker>(&d));
    workers.back()->counting = counters != nullptr;
  }
  std::exception_ptr failure;
  std::mutex mutex;
  const auto work = [&](Worker& worker) {
    try {
      worker.run();
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (failure == nullptr) failure = std::current_exception();
      d.stop = true;
    }
  };
  std::vector<std::thread> others;
  others.reserve(threads);
  // Workers of a cooperative launch must know how many groups each of them begins with.
  std::atomic<bool> begin{!launch.cooperative};
  // False when the system has no more threads; then those that there are do it all.
  const auto start = [&](unsigned i) {
    try {
      others.emplace_back([&, i] {
        begin.wait(false);
        work(*workers[i]);
      });
      return true;
    } catch (const std::exception&) {
      return false;
    }
  };
  for (unsigned i = 1; i < threads && start(i);) ++i;
  if (launch.cooperative) {
    d.groups_at_once = (d.group_count + others.size()) / (others.size() + 1);
    begin = true;
    begin.notify_all();
  }
  work(*workers[0]);
  for (std::thread& t : others) t.join();
  if (counters != nullptr) {
    counters->launches += 1;
    counters->groups += d.group_count;
    counters->waves += d.group_count * d.wave_count;
    for (const auto& worker : workers) {
      *counters += worker->counters;
      add_classes(worker->classes, *counters);
    }
  }
  if (failure != nullptr) std::rethrow_exception(failure);
}

}  // namespace emu
