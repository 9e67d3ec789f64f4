// SPDX-License-Identifier: Apache-2.0
// bw_bench: the command line.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "backends/cpu/memory.h"
#include "beeswax/error.h"
#include "clock.h"
#include "core/fail.h"
#include "core/os/cpu.h"
#include "core/os/memory.h"
#include "core/thread_pool.h"
#include "inputs.h"
#include "report.h"

namespace beeswax::bench {
namespace {

constexpr const char* kHelp =
    R"(bw_bench: measures the library's operations beside the ceilings of this machine

  bw_bench [options]

  --filter TEXT   only cases whose name contains TEXT (may be given more than once: any of them)
  --group NAME    only cases of this group (may be given more than once)
  --list          print the cases and measure nothing
  --quick         fewer samples, of smaller tensors where caches allow: everything in about a minute
  --json FILE     write the results as JSON too ("-": to standard output; the table then goes to standard error)
  --threads N     threads, the calling one included (default: BEESWAX_THREADS or the physical cores)
  --repeat N      at most N samples of each case (default 15, with --quick 5)
  --help

Every case is timed between two runs of its ceiling; its share is the median of the paired ratios. A line marked
BELOW is under the target stated with it. The variables BEESWAX_CPU_ISA and BEESWAX_COMMIT are obeyed and recorded.
Exit status: 0; 1 if an operation is missing or failed; 2 for a mistake on the command line.

  bw_bench --quick
  bw_bench --group matmul --filter f32 --json matmul.json
  bw_bench --filter unary/exp --filter unary/log --threads 1
)";

struct Options {
  std::vector<std::string> filters, groups;
  std::string json;
  bool list = false;
  bool quick = false;
  bool help = false;
  int threads = 0;
  int repeat = 0;
};

int positive(const std::string& name, const std::string& text) {
  char* end = nullptr;
  const auto value = std::strtoll(text.c_str(), &end, 10);
  if (end == text.c_str() || *end != '\0' || value < 1 || value > 1000000)
    fail(ErrorKind::InvalidArgument, "bw_bench", name, " ", text, ": give a number from 1 to 1000000");
  return static_cast<int>(value);
}

Options parse(int argc, char** argv) {
  Options out;
  for (int i = 1; i < argc; ++i) {
    std::string name = argv[i];
    std::string value;
    const size_t equals = name.find('=');
    const bool joined = equals != std::string::npos;
    if (joined) {
      value = name.substr(equals + 1);
      name.resize(equals);
    }
    const auto take = [&] {
      if (!joined) {
        if (i + 1 >= argc) fail(ErrorKind::InvalidArgument, "bw_bench", name, " needs a value");
        value = argv[++i];
      }
      return value;
    };
    if (name == "--filter") {
      out.filters.push_back(take());
    } else if (name == "--group") {
      out.groups.push_back(take());
    } else if (name == "--json") {
      out.json = take();
    } else if (name == "--threads") {
      out.threads = positive(name, take());
    } else if (name == "--repeat") {
      out.repeat = positive(name, take());
    } else if (name == "--list" && !joined) {
      out.list = true;
    } else if (name == "--quick" && !joined) {
      out.quick = true;
    } else if ((name == "--help" || name == "-h") && !joined) {
      out.help = true;
    } else {
      fail(ErrorKind::InvalidArgument, "bw_bench", "unknown option ", argv[i], "; --help lists them");
    }
  }
  return out;
}

int64_t available_memory() {
  std::ifstream file("/proc/meminfo");
  std::string key;
  int64_t kib = 0;
  std::string unit;
  while (file >> key >> kib) {
    if (key == "MemAvailable:") return kib << 10;
    std::getline(file, unit);
  }
  return static_cast<int64_t>(os::physical_memory_bytes() / 2);
}

// Well beyond the last-level cache, and at most a sixteenth of the memory that is free: a case and its
// ceiling use up to eight such arrays.
Sizes sizes_for(const Options& options) {
  const auto cache = static_cast<int64_t>(os::last_level_cache_bytes());
  const int64_t wanted = std::max((options.quick ? int64_t{48} : int64_t{256}) << 20, 4 * cache);
  int64_t bytes = int64_t{16} << 20;
  while (bytes < wanted && bytes * 2 <= available_memory() / 16) bytes *= 2;
  return {bytes, int64_t{256} << 10, options.quick};
}

bool chosen(const Options& options, const Case& one) {
  const auto in = [](const std::vector<std::string>& list, auto&& matches) {
    return list.empty() || std::any_of(list.begin(), list.end(), matches);
  };
  return in(options.groups, [&](const std::string& group) { return one.group == group; }) &&
         in(options.filters,
            [&](const std::string& text) { return one.name.find(text) != std::string::npos; });
}

void write_json(const std::string& path, const std::string& json) {
  if (path.empty()) return;
  if (path == "-") {
    std::cout << json << std::flush;
    return;
  }
  std::ofstream file(path);
  file << json;
  file.close();
  if (!file) fail(ErrorKind::Io, "bw_bench", "cannot write ", path);
}

// "12/240 unary/exp/f32, about 3 min left" on one line that the next one overwrites.
class Progress {
 public:
  explicit Progress(size_t total) : total_(total), shown_(isatty(2) == 1) {}
  void show(size_t done, const std::string& name) const {
    if (!shown_) return;
    const double left =
        done == 0 ? 0 : watch_.seconds() / static_cast<double>(done) * static_cast<double>(total_ - done);
    std::fprintf(stderr, "\r\033[K%zu/%zu %s", done + 1, total_, name.c_str());
    if (done > 0) std::fprintf(stderr, ", about %.0f s left", left);
    std::fflush(stderr);
  }
  void clear() const {
    if (shown_) std::fprintf(stderr, "\r\033[K");
  }

 private:
  size_t total_;
  bool shown_;
  Stopwatch watch_;
};

// Times cases below their targets once more, for as long as without --quick: what other programs did to a
// short measurement is not the case's. The second figures stand, whatever they are, beside the first share.
void time_again(std::FILE* table, Ceilings& ceilings, Results& results) {
  const auto below = [](const auto& entry) { return entry.second.below_target(entry.first); };
  const auto count = static_cast<size_t>(std::count_if(results.begin(), results.end(), below));
  if (count == 0) return;
  std::fprintf(table, "\n%zu below their targets, timed again:\n", count);
  const Progress progress(count);
  size_t done = 0;
  for (auto& [one, result] : results) {
    if (!result.below_target(one)) continue;
    progress.show(done, one.name);
    drop_shared_inputs();
    cpu::trim_memory();
    const double first_share = result.share;
    result = run_case(one, ceilings, Effort{});
    result.again = true;
    result.first_share = first_share;
    progress.clear();
    print_result(table, one, result, done++ == 0);
  }
}

int run(const Options& options) {
  if (options.threads > 0) ThreadPool::global().set_threads(options.threads);
  const Sizes sizes = sizes_for(options);
  std::vector<Case> cases = all_cases(sizes);
  std::erase_if(cases, [&](const Case& one) { return !chosen(options, one); });
  std::FILE* table = options.json == "-" ? stderr : stdout;
  if (cases.empty())
    fail(ErrorKind::InvalidArgument, "bw_bench", "no case has that name or group; --list shows all");
  if (options.list) {
    if (options.json.empty()) {
      print_list(stdout, cases);
    } else {
      write_json(options.json, list_json(cases));
    }
    return 0;
  }

  Effort effort;
  if (options.quick) {
    effort.samples = 5;
    effort.seconds = std::clamp(30.0 / static_cast<double>(cases.size()), 0.05, 1.0);
  }
  if (options.repeat > 0) effort.samples = options.repeat;
  const Machine machine = Machine::here(sizes);
  print_machine(table, machine);
  Ceilings ceilings(sizes.memory_bytes);
  const Progress progress(cases.size());
  Results results;
  std::string group;
  for (const Case& one : cases) {
    progress.show(results.size(), one.name);
    const bool first = one.group != group;
    if (first) {
      drop_shared_inputs();
      cpu::trim_memory();
      group = one.group;
    }
    results.emplace_back(one, run_case(one, ceilings, effort));
    progress.clear();
    print_result(table, one, results.back().second, first);
  }
  time_again(table, ceilings, results);
  std::fprintf(table, "\n");
  print_ceilings(table, ceilings);
  print_summary(table, results);
  write_json(options.json, results_json(machine, ceilings, results));
  const bool all_ran = std::all_of(results.begin(), results.end(),
                                   [](const auto& entry) { return entry.second.status == Status::Ok; });
  return all_ran ? 0 : 1;
}

}  // namespace
}  // namespace beeswax::bench

int main(int argc, char** argv) {
  try {
    const beeswax::bench::Options options = beeswax::bench::parse(argc, argv);
    if (options.help) {
      std::fputs(beeswax::bench::kHelp, stdout);
      return 0;
    }
    return beeswax::bench::run(options);
  } catch (const beeswax::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return beeswax::error_exit_code(error.kind());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bw_bench: %s\n", error.what());
    return 70;
  }
}
