// SPDX-License-Identifier: Apache-2.0
// Speed of the interpreter: wave instructions per second by class of instruction, checking level,
// instruction-set level of the host and number of threads; and the host's own f32 multiply-adds, for the
// matrix instructions.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "emu/support/compile.h"
#include "emu/support/launcher.h"

namespace {

using namespace emu;
/// Seconds: of the process's processors where one thread works, so that other programs on the machine do not
/// count; else of the wall.
double now(unsigned threads) {
  timespec t{};
  clock_gettime(threads == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &t);
  return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}

constexpr char kUsage[] =
    "usage: emu_exec_bench [options]\n"
    "  --chip NAME          gfx1100 (default), gfx90a, ...\n"
    "  --levels v4,v3       instruction-set levels of the host; those it lacks are left out\n"
    "  --threads 1,2        numbers of threads\n"
    "  --filter TEXT        classes whose name holds this\n"
    "  --json FILE          the figures as JSON\n"
    "  --compile FILE       write the code object and stop; --object FILE: use it (a machine without "
    "clang)\n";

struct Settings {
  std::string chip = "gfx1100", filter, json, compile, object;
  std::vector<std::string> levels = {"v4", "v3"};
  std::vector<unsigned> threads = {1, 2};
};

// Each kernel runs its body `n` times; the body is 64 instructions of one class, or 64 with a wait each.
struct Class {
  std::string name, body;
  double flops = 0;  // of one matrix instruction
};

std::vector<Class> classes(const Chip& chip) {
  const std::string name = chip.name;
  const bool gfx9 = name.starts_with("gfx9"), old = gfx9 || name.starts_with("gfx10"),
             gfx12 = name.starts_with("gfx12");
  const std::string wait =
      gfx12 ? "\\ns_wait_dscnt 0\\ns_wait_loadcnt 0" : "\\ns_waitcnt vmcnt(0) lgkmcnt(0)";
  const std::string b32 = old ? "dword" : "b32", ds_load = old ? "ds_read_" : "ds_load_",
                    ds_store = old ? "ds_write_" : "ds_store_", none = gfx12 ? "null" : "0";
  std::vector<Class> all = {
      {"add_f32", "\"v_add_f32 %0, %0, %1\" : \"+v\"(x) : \"v\"(y)"},
      {"fma_f32", "\"v_fma_f32 %0, %1, %1, %0\" : \"+v\"(x) : \"v\"(y)"},
      {"add_u32",
       "\"" + std::string(gfx9 ? "v_add_u32" : "v_add_nc_u32") + " %0, %0, %1\" : \"+v\"(b) : \"v\"(b)"},
      {"scalar_operand", "\"v_mul_f32 %0, %1, %0\" : \"+v\"(x) : \"s\"(1.0f)"},
      {"compare", "\"v_cmp_lt_f32 vcc" + std::string(chip.wave_size() == 32 ? "_lo" : "") +
                      ", %0, %1\" : : \"v\"(x), \"v\"(y) : \"vcc\""},
      {"add_f16", "\"v_add_f16 %0, %0, %1\" : \"+v\"(b) : \"v\"(b)"},
      {"pk_add_f16", "\"v_pk_add_f16 %0, %0, %1\" : \"+v\"(b) : \"v\"(b)"},
      {"pk_fma_f16", "\"v_pk_fma_f16 %0, %0, %1, %1\" : \"+v\"(b) : \"v\"(b)"},
      {"pk_add_u16", "\"v_pk_add_u16 %0, %0, %1\" : \"+v\"(b) : \"v\"(b)"},
      {"fma_f64", "\"v_fma_f64 %0, %1, %1, %0\" : \"+v\"(d) : \"v\"(e)"},
      {"rcp_f32", "\"v_rcp_f32 %0, %1\" : \"=v\"(x) : \"v\"(y)"},
      {"exp_f32", "\"v_exp_f32 %0, %1\" : \"=v\"(x) : \"v\"(y)"},
      {"log_f32", "\"v_log_f32 %0, %1\" : \"=v\"(x) : \"v\"(y)"},
      {"sin_f32", "\"v_sin_f32 %0, %1\" : \"=v\"(x) : \"v\"(y)"},
      {"salu", "\"s_add_u32 s20, s20, s21\" : : : \"s20\", \"scc\""},
      {"lds_load", "\"" + ds_load + "b32 %0, %1" + wait + "\" : \"=v\"(c) : \"v\"(a) : \"memory\""},
      {"lds_load_b128", "\"" + ds_load + "b128 %0, %1" + wait + "\" : \"=v\"(q) : \"v\"(a * 4) : \"memory\""},
      {"lds_gather", "\"" + ds_load + "b32 %0, %1" + wait + "\" : \"=v\"(c) : \"v\"(a * 3) : \"memory\""},
      {"lds_store", "\"" + ds_store + "b32 %0, %1" + wait + "\" : : \"v\"(a), \"v\"(b) : \"memory\""},
      {"load", "\"global_load_" + b32 + " %0, %1, off" + wait + "\" : \"=v\"(c) : \"v\"(p) : \"memory\""},
      {"load_b128", "\"global_load_" + std::string(old ? "dwordx4" : "b128") + " %0, %1, off" + wait +
                        "\" : \"=v\"(q) : \"v\"(wide) : \"memory\""},
      {"load_gather",
       "\"global_load_" + b32 + " %0, %1, off" + wait + "\" : \"=v\"(c) : \"v\"(apart) : \"memory\""},
      {"store", "\"global_store_" + b32 + " %0, %1, off" + wait + "\" : : \"v\"(p), \"v\"(b) : \"memory\""},
      {"buffer_load", "\"buffer_load_" + b32 + " %0, %1, %2, " + none + " offen" + wait +
                          "\" : \"=v\"(c) : \"v\"(a), \"s\"(buffer) : \"memory\""},
  };
  const auto matrix = [&](const char* mnemonic, const char* input, const char* sum, double flops) {
    all.push_back(
        {"matrix_f16",
         "\"" + std::string(mnemonic) + " %0, %1, %1, %0\" : \"+v\"(" + sum + ") : \"v\"(" + input + ")",
         flops});
  };
  constexpr double kFlops = 2.0 * 16 * 16 * 16;
  if (name.starts_with("gfx11")) matrix("v_wmma_f32_16x16x16_f16", "h16", "f8", kFlops);
  if (gfx12) matrix("v_wmma_f32_16x16x16_f16", "h8", "f8", kFlops);
  if (name == "gfx90a") matrix("v_mfma_f32_16x16x16f16", "h4", "f4", kFlops);
  if (name == "gfx942") matrix("v_mfma_f32_16x16x16_f16", "h4", "f4", kFlops);
  return all;
}

std::string source_of(const std::vector<Class>& all) {
  std::string text = "template <class T, int N> using Vec = T __attribute__((ext_vector_type(N)));\n";
  for (const Class& one : all) {
    text +=
        "extern \"C\" __global__ void " + one.name +
        "(float* block, int n) {\n"
        "  __shared__ int lds[4096];\n"
        "  for (int i = thread_x(); i < 4096; i += 32) lds[i] = 1;\n"
        "  float* p = block + global_x();\n"
        "  float x = *p, y = x + 1.0f;\n  double d = x, e = y;\n"
        "  int a = thread_x() * 4, b = 3, c = 0;\n"
        "  float* wide = block + 4096 + 4 * global_x();\n  float* apart = block + 4096 + 3 * global_x();\n"
        "  Vec<int, 4> q = 0, buffer = {(int)(long)(block + 4096), (int)((long)(block + 4096) >> 32), 4096, "
        "0x31014000};\n"
        "  Vec<float, 8> f8 = 0.0f; Vec<float, 4> f4 = 0.0f;\n"
        "  Vec<_Float16, 16> h16 = (_Float16)x; Vec<_Float16, 8> h8 = (_Float16)x; Vec<_Float16, 4> h4 = "
        "(_Float16)x;\n"
        "  for (int i = 0; i < n; ++i) {\n#pragma unroll\n    for (int k = 0; k < 64; ++k) asm volatile(" +
        one.body +
        ");\n  }\n"
        "  *p = x + y + (float)(d + e) + a + b + c + q[0] + f8[0] + f4[0] + (float)h16[0] + (float)h8[0] + "
        "(float)h4[0] + lds[thread_x()];\n}\n";
  }
  return text;
}

struct Figure {
  std::string name, level, check;
  unsigned threads = 0;
  double rate = 0;  // million wave instructions a second
  double flops = 0;
};

constexpr const char* kChecks[] = {"none", "bounds", "race", "strict"};

/// Of the numbers 1 and 2: what a launch leaves is what the next one would work on.
constexpr size_t kBlock = 16384;
double seconds_of(test::Device& device, const std::string& name, unsigned threads, float* block, int n) {
  std::fill_n(block, kBlock, 1.0f);
  const double start = now(threads);
  device.run(name, {.grid = threads, .block = device.image().chip().wave_size()}, block, n);
  return now(threads) - start;
}

Figure measure(const Class& one, const std::string& level, Check check, unsigned threads,
               test::Device& device, float* block) {
  device.options.check = check;
  device.options.threads = threads;
  int n = 20;
  double seconds = seconds_of(device, one.name, threads, block, n);
  while (seconds < 0.02) seconds = seconds_of(device, one.name, threads, block, n *= 4);
  for (int round = 0; round < 4; ++round)
    seconds = std::min(seconds, seconds_of(device, one.name, threads, block, n));
  return {one.name, level, kChecks[int(check)], threads, 64.0 * n * threads / seconds / 1e6, one.flops};
}

#if defined(__x86_64__)
constexpr int kChains = 12;
[[gnu::target("avx512f"), gnu::noinline]] double fma_512() {
  __m512 v[kChains];
  for (__m512& one : v) one = _mm512_setzero_ps();
  const __m512 scale = _mm512_set1_ps(0.5f);
  constexpr int kTimes = 200000;
  const double start = now(1);
  for (int i = 0; i < kTimes; ++i) {
#pragma GCC unroll 12
    for (int k = 0; k < kChains; ++k) v[k] = _mm512_fmadd_ps(v[k], scale, scale);
  }
  const double seconds = now(1) - start;
  for (const __m512& one : v) asm volatile("" : : "m"(one));
  return 2.0 * kTimes * kChains * 16 / seconds;
}
[[gnu::target("avx2,fma"), gnu::noinline]] double fma_256() {
  __m256 v[kChains];
  for (__m256& one : v) one = _mm256_setzero_ps();
  const __m256 scale = _mm256_set1_ps(0.5f);
  constexpr int kTimes = 200000;
  const double start = now(1);
  for (int i = 0; i < kTimes; ++i) {
#pragma GCC unroll 12
    for (int k = 0; k < kChains; ++k) v[k] = _mm256_fmadd_ps(v[k], scale, scale);
  }
  const double seconds = now(1) - start;
  for (const __m256& one : v) asm volatile("" : : "m"(one));
  return 2.0 * kTimes * kChains * 8 / seconds;
}
/// f32 operations a second of one thread with the level's multiply-adds; 0 where the host lacks them.
double host_flops(const std::string& level) {
  __builtin_cpu_init();
  double best = 0;
  for (int round = 0; round < 20; ++round) {
    if (level == "v4" && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl"))
      best = std::max(best, fma_512());
    if (level == "v3" && __builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2"))
      best = std::max(best, fma_256());
  }
  return best;
}
#else
double host_flops(const std::string&) { return 0; }
#endif

std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown";
}

std::vector<std::byte> object_of(const Settings& settings, const std::vector<Class>& all) {
  if (settings.object.empty()) return test::compile(source_of(all), settings.chip);
  std::ifstream file(settings.object, std::ios::binary);
  const std::string read{std::istreambuf_iterator<char>(file), {}};
  if (read.empty()) throw std::runtime_error("cannot read " + settings.object);
  const auto* start = reinterpret_cast<const std::byte*>(read.data());
  return {start, start + read.size()};
}

/// One process for each level, because a process chooses its level once.
std::vector<Figure> figures_of(const Settings& settings, const std::vector<Class>& all,
                               const std::vector<std::byte>& object, const std::string& level) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("no pipe");
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    setenv("BEESWAX_EMU_ISA", level.c_str(), 1);
    int status = 0;
    try {
      test::Device device(settings.chip, object);
      device.counting = false;
      float* block = device.upload(std::vector<float>(kBlock, 1.0f));
      for (const Class& one : all) {
        if (one.name.find(settings.filter) == std::string::npos) continue;
        for (const unsigned threads : settings.threads)
          for (const Check check : {Check::None, Check::Bounds, Check::Race, Check::Strict}) {
            const Figure f = measure(one, level, check, threads, device, block);
            dprintf(ends[1], "%s %s %s %u %.9g %.9g\n", f.name.c_str(), f.level.c_str(), f.check.c_str(),
                    f.threads, f.rate, f.flops);
          }
      }
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
      status = 1;
    }
    _exit(status);
  }
  close(ends[1]);
  std::vector<Figure> out;
  FILE* from = fdopen(ends[0], "r");
  char line[256];
  while (std::fgets(line, sizeof line, from) != nullptr) {
    Figure f;
    std::istringstream(line) >> f.name >> f.level >> f.check >> f.threads >> f.rate >> f.flops;
    const bool first = f.check == kChecks[0];
    if (first)
      std::printf("%s%-4s %u %-15s", out.empty() ? "" : "\n", level.c_str(), f.threads, f.name.c_str());
    std::printf(" %9.1f", f.rate);
    std::fflush(stdout);
    out.push_back(f);
  }
  std::fclose(from);
  std::printf("\n");
  int status = 0;
  waitpid(child, &status, 0);
  if (status != 0) throw std::runtime_error("the measurement failed");
  return out;
}

void write_json(const Settings& settings, const std::vector<std::pair<std::string, double>>& hosts,
                const std::vector<Figure>& figures) {
  std::ofstream out(settings.json);
  out << "{\n \"processor\": \"" << processor() << "\",\n \"chip\": \"" << settings.chip
      << "\",\n \"unit\": \"million wave instructions a second\",\n \"host_f32_gflops_of_one_thread\": {";
  const char* comma = "";
  for (const auto& [level, flops] : hosts) {
    out << comma << '"' << level << "\": " << flops * 1e-9;
    comma = ", ";
  }
  out << "},\n \"rows\": [";
  comma = "";
  for (const Figure& f : figures) {
    out << comma << "\n  {\"class\": \"" << f.name << "\", \"level\": \"" << f.level << "\", \"check\": \""
        << f.check << "\", \"threads\": " << f.threads << ", \"rate\": " << f.rate << "}";
    comma = ",";
  }
  out << "\n ]\n}\n";
}

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string word; std::getline(in, word, ',');) out.push_back(word);
  return out;
}

Settings settings_of(int argc, char** argv) {
  Settings out;
  for (int i = 1; i < argc; i += 2) {
    const std::string option = argv[i], value = i + 1 < argc ? argv[i + 1] : "";
    if (value.empty()) throw std::runtime_error(kUsage);
    if (option == "--chip") {
      out.chip = value;
    } else if (option == "--filter") {
      out.filter = value;
    } else if (option == "--json") {
      out.json = value;
    } else if (option == "--compile") {
      out.compile = value;
    } else if (option == "--object") {
      out.object = value;
    } else if (option == "--levels") {
      out.levels = words_of(value);
    } else if (option == "--threads") {
      out.threads.clear();
      for (const std::string& word : words_of(value)) out.threads.push_back(unsigned(std::stoul(word)));
    } else {
      throw std::runtime_error(kUsage);
    }
  }
  return out;
}

}  // namespace

int main(int argc, char** argv) try {
  const Settings settings = settings_of(argc, argv);
  const Chip* chip = find_chip(settings.chip);
  if (chip == nullptr) throw std::runtime_error("no chip " + settings.chip);
  const std::vector<Class> all = classes(*chip);
  const std::vector<std::byte> object = object_of(settings, all);
  if (!settings.compile.empty()) {
    std::ofstream file(settings.compile, std::ios::binary);
    file.write(reinterpret_cast<const char*>(object.data()), std::streamsize(object.size()));
    return file.flush() ? 0 : 1;
  }
  std::printf("%s, %s; million wave instructions a second\n%-22s %9s %9s %9s %9s\n", processor().c_str(),
              chip->name, "level, threads, class", kChecks[0], kChecks[1], kChecks[2], kChecks[3]);
  std::vector<Figure> figures;
  std::vector<std::pair<std::string, double>> hosts;
  for (const std::string& level : settings.levels) {
    const double flops = host_flops(level);
    if (flops == 0) {
      std::printf("%-4s this processor lacks it\n", level.c_str());
      continue;
    }
    hosts.emplace_back(level, flops);
    for (const Figure& f : figures_of(settings, all, object, level)) {
      figures.push_back(f);
      if (f.flops > 0 && f.check == kChecks[0] && f.threads == 1)
        std::printf("%-4s %s: %.1f GFLOP/s, the host's own multiply-adds %.1f: %.2f of it\n", level.c_str(),
                    f.name.c_str(), f.rate * f.flops * 1e-3, flops * 1e-9, f.rate * 1e6 * f.flops / flops);
    }
  }
  if (!settings.json.empty()) write_json(settings, hosts, figures);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
