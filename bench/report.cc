// SPDX-License-Identifier: Apache-2.0
#include "report.h"

#include <algorithm>
#include <cstdlib>
#include <ctime>

#include "backends/cpu/isa.h"
#include "core/os/cpu.h"
#include "core/thread_pool.h"

namespace beeswax::bench {
namespace {

std::string number(const char* form, double value) {
  char text[64];
  std::snprintf(text, sizeof(text), form, value);
  return text;
}

std::string time_text(double seconds) {
  if (seconds < 1e-6) return number("%.1f ns", seconds * 1e9);
  if (seconds < 1e-3) return number("%.2f us", seconds * 1e6);
  if (seconds < 1) return number("%.2f ms", seconds * 1e3);
  return number("%.2f s ", seconds);
}

std::string rate_text(double rate, bool operations) {
  if (rate <= 0) return "-";
  return number(rate < 1e10 ? "%.2f " : "%.1f ", rate / 1e9) + (operations ? "GFLOP/s" : "GB/s");
}

std::string percent(double share) { return number("%.0f%%", share * 100); }

// What the share is a share of.
const char* bound_name(const Case& one, const Result& result) {
  return result.by_in_cache ? "in cache" : ceiling_name(one.ceiling);
}

// Of a case that was timed again.
std::string first_share_text(const Result& result) {
  return result.again ? ", first " + percent(result.first_share) : "";
}

const char* status_name(Status status) {
  return status == Status::Ok ? "ok" : status == Status::Missing ? "missing" : "failed";
}

constexpr Ceiling kAll[] = {Ceiling::Read,    Ceiling::Write,  Ceiling::Copy,    Ceiling::Triad,
                            Ceiling::Widen2,  Ceiling::Widen4, Ceiling::Narrow2, Ceiling::Narrow4,
                            Ceiling::Narrow8, Ceiling::FmaF32, Ceiling::FmaF64,  Ceiling::Int8Dot};

// A JSON object under construction; values are written as they come.
class Object {
 public:
  Object& add(const char* key, const std::string& value) { return raw(key, quote(value)); }
  Object& add(const char* key, const char* value) { return raw(key, quote(value)); }
  Object& add(const char* key, double value) { return raw(key, number("%.6g", value)); }
  Object& add(const char* key, int64_t value) { return raw(key, std::to_string(value)); }
  Object& add(const char* key, bool value) { return raw(key, value ? "true" : "false"); }
  Object& raw(const char* key, const std::string& json) {
    text_ += (text_.empty() ? "" : ", ") + quote(key) + ": " + json;
    return *this;
  }
  std::string text() const { return "{" + text_ + "}"; }

 private:
  static std::string quote(const std::string& value) {
    std::string out = "\"";
    for (const char c : value) {
      if (c == '"' || c == '\\') out += '\\';
      out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;  // control characters become spaces
    }
    return out + "\"";
  }
  std::string text_;
};

Object case_object(const Case& one) {
  Object out;
  out.add("name", one.name).add("group", one.group).add("dtype", one.dtype).add("shape", one.shape);
  out.add("bytes", static_cast<int64_t>(one.bytes)).add("flops", static_cast<int64_t>(one.flops));
  if (one.ceiling != Ceiling::None) out.add("ceiling_kind", ceiling_name(one.ceiling));
  if (one.target > 0) out.add("target", one.target);
  return out;
}

std::string lines(const std::vector<std::string>& items) {
  std::string out = "[";
  for (size_t i = 0; i < items.size(); ++i) out += (i == 0 ? "\n    " : ",\n    ") + items[i];
  return out + "\n  ]";
}

}  // namespace

Machine Machine::here(const Sizes& sizes) {
  Machine out;
  out.device = os::cpu_name();
  out.isa = cpu::isa_name(cpu::isa());
  if (cpu::has_vnni(cpu::isa())) out.isa += "+vnni";
  if (cpu::isa() == cpu::Isa::v4 && cpu::has_amx()) out.isa += "+amx";
  out.threads = ThreadPool::global().threads();
  out.memory_bytes = sizes.memory_bytes;
  const char* commit = std::getenv("BEESWAX_COMMIT");
  out.commit = commit != nullptr && *commit != '\0' ? commit : "unknown";
  constexpr std::string_view kDirty = "-dirty";
  if (out.commit.ends_with(kDirty)) {
    out.dirty = true;
    out.commit.resize(out.commit.size() - kDirty.size());
  }
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char date[32];
  std::strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%SZ", &parts);
  out.date = date;
  return out;
}

void print_machine(std::FILE* out, const Machine& machine) {
  std::fprintf(out, "%s, level %s, %d thread%s; commit %s%s; %s; memory-resident tensors of %lld MiB\n",
               machine.device.c_str(), machine.isa.c_str(), machine.threads, machine.threads == 1 ? "" : "s",
               machine.commit.c_str(), machine.dirty ? " with changes" : "", machine.date.c_str(),
               static_cast<long long>(machine.memory_bytes >> 20));
}

void print_list(std::FILE* out, const std::vector<Case>& cases) {
  size_t width = 0;
  for (const Case& one : cases) width = std::max(width, one.name.size());
  for (const Case& one : cases)
    std::fprintf(out, "%-*s  %-7s %-28s %-8s %s\n", static_cast<int>(width), one.name.c_str(),
                 one.dtype.c_str(), one.shape.c_str(), ceiling_name(one.ceiling),
                 one.target > 0 ? percent(one.target).c_str() : "");
}

void print_result(std::FILE* out, const Case& one, const Result& result, bool first_of_group) {
  if (first_of_group)
    std::fprintf(out, "\n%-34s %-30s %11s %16s %18s %-8s %6s %7s %7s\n", one.group.c_str(), "shape", "time",
                 "rate", "ceiling", "", "share", "target", "memory");
  if (result.status != Status::Ok) {
    std::fprintf(out, "%-34s %-30s %s: %s\n", one.name.c_str(), one.shape.c_str(), status_name(result.status),
                 result.message.c_str());
  } else {
    const bool operations = counts_operations(one);
    const double ceiling = result.by_in_cache ? result.in_cache : result.ceiling;
    std::fprintf(out, "%-34s %-30s %11s %16s %18s %-8s %6s %7s %7s%s%s\n", one.name.c_str(),
                 one.shape.c_str(), time_text(result.median_seconds).c_str(),
                 rate_text(result.rate, operations).c_str(), rate_text(ceiling, operations).c_str(),
                 bound_name(one, result), result.ceiling > 0 ? percent(result.share).c_str() : "",
                 one.target > 0 ? percent(one.target).c_str() : "",
                 result.ceiling > 0 && !operations ? percent(result.ceiling_share).c_str() : "",
                 result.below_target(one) ? "  BELOW" : "", first_share_text(result).c_str());
  }
  std::fflush(out);
}

void print_ceilings(std::FILE* out, const Ceilings& ceilings) {
  for (const Ceiling one : kAll) {
    const Spread spread = ceilings.spread(one);
    const bool operations = ceiling_counts_operations(one);
    if (spread.median > 0)
      std::fprintf(out, "ceiling %-8s %16s  (%s to %s)  %s\n", ceiling_name(one),
                   rate_text(spread.median, operations).c_str(), rate_text(spread.least, operations).c_str(),
                   rate_text(spread.most, operations).c_str(), ceilings.variant(one).c_str());
  }
}

void print_summary(std::FILE* out, const Results& results) {
  const auto print_those = [&](const char* title, auto&& belongs) {
    const auto count = std::count_if(results.begin(), results.end(), belongs);
    if (count == 0) return;
    std::fprintf(out, "\n%lld %s:\n", static_cast<long long>(count), title);
    for (const auto& entry : results) {
      if (!belongs(entry)) continue;
      const auto& [one, result] = entry;
      if (result.status == Status::Ok) {
        std::fprintf(out, "  %-34s %s of %s, target %s%s\n", one.name.c_str(), percent(result.share).c_str(),
                     bound_name(one, result), percent(one.target).c_str(), first_share_text(result).c_str());
      } else {
        std::fprintf(out, "  %-34s %s\n", one.name.c_str(), result.message.c_str());
      }
    }
  };
  print_those("below target", [](const auto& e) { return e.second.below_target(e.first); });
  print_those("missing", [](const auto& e) { return e.second.status == Status::Missing; });
  print_those("failed", [](const auto& e) { return e.second.status == Status::Failed; });
  const auto with_target = std::count_if(results.begin(), results.end(), [](const auto& e) {
    return e.first.target > 0 && e.second.status == Status::Ok;
  });
  const auto below = std::count_if(results.begin(), results.end(),
                                   [](const auto& e) { return e.second.below_target(e.first); });
  const auto late = std::count_if(results.begin(), results.end(), [](const auto& e) {
    return e.second.again && e.second.status == Status::Ok && !e.second.below_target(e.first);
  });
  int samples = 0;
  int disturbed = 0;
  for (const auto& [one, result] : results) {
    samples += result.samples;
    disturbed += result.disturbed;
  }
  if (disturbed > samples / 10)
    std::fprintf(
        out,
        "\nother programs took processors during %d of the samples (%d were used): run again when the "
        "machine is idle\n",
        disturbed, samples);
  std::fprintf(out, "\n%zu cases; %lld of %lld with a target reach it", results.size(),
               static_cast<long long>(with_target - below), static_cast<long long>(with_target));
  if (late > 0) std::fprintf(out, ", %lld of them when timed again", static_cast<long long>(late));
  std::fprintf(out, "\n");
}

std::string list_json(const std::vector<Case>& cases) {
  std::vector<std::string> items;
  for (const Case& one : cases) items.push_back(case_object(one).text());
  return "{\n  \"cases\": " + lines(items) + "\n}\n";
}

std::string results_json(const Machine& machine, const Ceilings& ceilings, const Results& results) {
  std::vector<std::string> rates;
  for (const Ceiling one : kAll) {
    const Spread spread = ceilings.spread(one);
    if (spread.median > 0)
      rates.push_back(Object()
                          .add("name", ceiling_name(one))
                          .add("unit", ceiling_counts_operations(one) ? "gflops" : "gbps")
                          .add("median", spread.median / 1e9)
                          .add("min", spread.least / 1e9)
                          .add("max", spread.most / 1e9)
                          .add("variant", ceilings.variant(one))
                          .text());
  }
  std::vector<std::string> items;
  for (const auto& [one, result] : results) {
    Object item = case_object(one);
    item.add("status", status_name(result.status));
    if (result.status == Status::Ok) {
      const char* unit = counts_operations(one) ? "gflops" : "gbps";
      item.add("samples", static_cast<int64_t>(result.samples));
      item.add("disturbed", static_cast<int64_t>(result.disturbed));
      item.add("again", result.again);
      if (result.again) item.add("first_share", result.first_share);
      item.add("median_us", result.median_seconds * 1e6).add("min_us", result.min_seconds * 1e6);
      if (result.rate > 0) item.add(unit, result.rate / 1e9);
      if (result.in_cache > 0) item.add("in_cache", result.in_cache / 1e9);
      if (result.ceiling > 0)
        item.add("ceiling", result.ceiling / 1e9)
            .add("share_of", bound_name(one, result))
            .add("share", result.share)
            .add("ceiling_share", result.ceiling_share);
    } else {
      item.add("message", result.message);
    }
    items.push_back(item.text());
  }
  std::string out = "{\n";
  const auto field = [&](const char* key, const auto& value) {
    const std::string object = Object().add(key, value).text();
    out += "  " + object.substr(1, object.size() - 2) + ",\n";
  };
  field("device", machine.device);
  field("isa", machine.isa);
  field("threads", static_cast<int64_t>(machine.threads));
  field("commit", machine.commit);
  field("dirty", machine.dirty);
  field("date", machine.date);
  field("memory_bytes", machine.memory_bytes);
  return out + "  \"ceilings\": " + lines(rates) + ",\n  \"cases\": " + lines(items) + "\n}\n";
}

}  // namespace beeswax::bench
