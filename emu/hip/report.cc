// SPDX-License-Identifier: Apache-2.0
#include "emu/hip/report.h"

#include <cxxabi.h>

#include <atomic>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>

#include "emu/hip/abi.h"
#include "emu/hip/device.h"
#include "emu/hip/occupancy.h"

namespace emu::hip {
namespace {

const char* kind_text(Fault::Kind kind) {
  switch (kind) {
    case Fault::Kind::OutOfBounds:
      return "access outside an allocation";
    case Fault::Kind::UseAfterFree:
      return "use after free";
    case Fault::Kind::Uninitialized:
      return "read of what was never written";
    case Fault::Kind::BadFree:
      return "free of no block";
    case Fault::Kind::LdsOutOfRange:
      return "LDS access out of range";
    case Fault::Kind::DataRace:
      return "data race";
    case Fault::Kind::DivergentBarrier:
      return "barrier that not every wave reaches";
    case Fault::Kind::MissingWait:
      return "result used before its wait";
    case Fault::Kind::Misaligned:
      return "misaligned access";
    case Fault::Kind::UnknownInstruction:
      return "unknown instruction";
    case Fault::Kind::Unsupported:
      return "not supported";
    case Fault::Kind::Trap:
      return "trap";
  }
  return "fault";
}

template <class... Numbers>
std::string format(const char* pattern, Numbers... numbers) {
  char text[512];
  std::snprintf(text, sizeof text, pattern, numbers...);
  return text;
}

// A kernel's name as it stands in the source.
std::string readable(const std::string& name) {
  int status = 0;
  char* text = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  const std::string result = status == 0 && text != nullptr ? text : name;
  std::free(text);
  return result;
}

std::mutex totals_mutex;
std::map<std::pair<std::string, std::string>, KernelTotals> totals;
std::set<std::pair<std::string, std::string>> launched;
std::atomic<bool> asked{false};

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    if (static_cast<unsigned char>(c) < 32) {
      result += format("\\u%04x", static_cast<unsigned>(c));
    } else {
      result += c;
    }
  }
  return result + "\"";
}

double lines_per_access(const Counters& c) {
  return c.accesses == 0 ? 0 : static_cast<double>(c.cache_lines) / static_cast<double>(c.accesses);
}

std::string shortened(uint64_t number) {
  if (number < 100000) return format("%" PRIu64, number);
  const char* unit = number < 100000000 ? "k" : number < 100000000000 ? "M" : "G";
  const double scale = number < 100000000 ? 1e3 : number < 100000000000 ? 1e6 : 1e9;
  return format("%.1f%s", static_cast<double>(number) / scale, unit);
}

}  // namespace

std::string report_text(const Fault& fault, const Device& device) {
  std::string text = "beeswax_emu: " + std::string(kind_text(fault.kind));
  if (!fault.kernel.empty()) text += " in kernel " + readable(fault.kernel);
  text += format(" on device %d (%s)\n", device.index(), device.chip().name);
  std::string detail = fault.what();
  if (detail.starts_with(kind_text(fault.kind))) detail.erase(0, std::strlen(kind_text(fault.kind)));
  if (detail.starts_with(": ")) detail.erase(0, 2);
  if (!detail.empty()) text += "  what         " + detail + "\n";
  if (fault.address != 0) text += format("  address      0x%" PRIx64 "\n", fault.address);
  if (fault.wave >= 0) {
    text += format("  work-group   (%u, %u, %u)\n", fault.group[0], fault.group[1], fault.group[2]);
    text += format("  wave, lane   %d", fault.wave) + (fault.lane >= 0 ? format(", %d\n", fault.lane) : "\n");
  }
  if (!fault.instruction.empty()) {
    const std::string where =
        fault.where.empty() ? fault.kernel + format("+0x%" PRIx64, fault.code_offset) : fault.where;
    text += "  instruction  " + fault.instruction + "  at " + where + "\n";
  }
  return text + "  the device is stopped: every later call fails until hipDeviceReset\n";
}

void print_report(const std::string& report) {
  std::fputs(report.c_str(), stderr);
  std::fflush(stderr);
}

void add_counters(const Kernel& kernel, const Launch& launch, const Counters& counters) {
  const uint32_t block = launch.block[0] * launch.block[1] * launch.block[2];
  const std::lock_guard lock(totals_mutex);
  KernelTotals& total = totals[{kernel.chip->name, kernel.name}];
  total.chip = kernel.chip->name;
  total.kernel = kernel.name;
  total.vgprs = kernel.vgpr_count;
  total.sgprs = kernel.sgpr_count;
  total.agprs = kernel.agpr_count;
  total.lds_bytes = std::max(total.lds_bytes, kernel.group_segment_bytes + launch.dynamic_lds);
  total.block = block;
  const Occupancy fits = occupancy(kernel, block, launch.dynamic_lds);
  total.waves_per_simd = fits.waves_per_simd;
  total.slots = kernel.chip->waves_per_simd;
  total.limit = fits.limit;
  total.counters += counters;
}

std::vector<KernelTotals> counted_kernels() {
  const std::lock_guard lock(totals_mutex);
  std::vector<KernelTotals> result;
  for (const auto& [key, total] : totals) result.push_back(total);
  return result;
}

std::string counters_as_json(const std::vector<KernelTotals>& kernels) {
  std::string text = "{\n  \"units\": {";
  const char* comma = "";
#define EMU_COUNTER(name, unit)                                        \
  text += std::string(comma) + "\n    \"" #name "\": " + quoted(unit); \
  comma = ",";
#include "emu/exec/counters.def"
  text += "\n  },\n  \"kernels\": [";
  comma = "";
  for (const KernelTotals& kernel : kernels) {
    text += std::string(comma) + "\n    {\"chip\": " + quoted(kernel.chip) +
            ", \"kernel\": " + quoted(kernel.kernel);
    text += format(
        ", \"vgprs\": %u, \"sgprs\": %u, \"agprs\": %u, \"lds_bytes\": %u, \"block\": %u, "
        "\"waves_per_simd\": %u, \"wave_slots\": %u",
        kernel.vgprs, kernel.sgprs, kernel.agprs, kernel.lds_bytes, kernel.block, kernel.waves_per_simd,
        kernel.slots);
    text += ", \"occupancy_limit\": " + quoted(kernel.limit);
    text += format(", \"instructions\": %" PRIu64 ", \"lines_per_access\": %.4g",
                   kernel.counters.instructions(), lines_per_access(kernel.counters));
#define EMU_COUNTER(name, unit) text += format(", \"" #name "\": %" PRIu64, kernel.counters.name);
#include "emu/exec/counters.def"
    text += "}";
    comma = ",";
  }
  return text + "\n  ]\n}\n";
}

std::string counters_as_table(const std::vector<KernelTotals>& kernels) {
  std::string text;
  std::string chip;
  for (const KernelTotals& kernel : kernels) {
    if (kernel.chip != chip) text += "== " + kernel.chip + "\n";
    chip = kernel.chip;
    text += format("%s: %u VGPRs, %u SGPRs", kernel.kernel.c_str(), kernel.vgprs, kernel.sgprs);
    if (kernel.agprs > 0) text += format(", %u AGPRs", kernel.agprs);
    text += format(", %u bytes of LDS; groups of %u, %u of %u waves on a SIMD (", kernel.lds_bytes,
                   kernel.block, kernel.waves_per_simd, kernel.slots) +
            kernel.limit + ")\n";
    text += format("  %10s  instructions of waves\n", shortened(kernel.counters.instructions()).c_str());
#define EMU_COUNTER(name, unit)  \
  if (kernel.counters.name != 0) \
    text += format("  %10s  %s\n", shortened(kernel.counters.name).c_str(), unit);
#include "emu/exec/counters.def"
    if (kernel.counters.accesses != 0)
      text += format("  %10.4g  cache lines for each access\n", lines_per_access(kernel.counters));
  }
  return text;
}

void note_launched(const Kernel& kernel) {
  const std::lock_guard lock(totals_mutex);
  launched.emplace(kernel.chip->name, kernel.name);
}

void write_launched(const std::string& where) {
  if (where.empty()) return;
  std::string text;
  {
    const std::lock_guard lock(totals_mutex);
    for (const auto& [chip, kernel] : launched) text.append(chip).append(" ").append(kernel).append("\n");
  }
  FILE* file = std::fopen(where.c_str(), "w");
  const bool whole = file != nullptr && std::fputs(text.c_str(), file) >= 0;
  if (file == nullptr || std::fclose(file) != 0 || !whole)
    std::fprintf(stderr, "beeswax_emu: cannot write the launched kernels to %s\n", where.c_str());
}

bool counting_asked() { return asked.load(); }

void write_counters(const std::string& where) {
  if (where.empty()) return;
  const auto kernels = counted_kernels();
  if (where == "-") {
    std::fputs(counters_as_table(kernels).c_str(), stderr);
    return;
  }
  FILE* file = std::fopen(where.c_str(), "w");
  const std::string json = counters_as_json(kernels);
  const bool whole = file != nullptr && std::fputs(json.c_str(), file) >= 0;
  if (file == nullptr || std::fclose(file) != 0 || !whole)
    std::fprintf(stderr, "beeswax_emu: cannot write counters to %s\n", where.c_str());
}

}  // namespace emu::hip

// For programs that know this library; not part of HIP. Counting while it is on; switching it on forgets what
// was counted before. Launches that have not ended count when they end.
EMU_API void beeswax_emu_count(int on) {
  const std::lock_guard lock(emu::hip::totals_mutex);
  if (on != 0) emu::hip::totals.clear();
  emu::hip::asked = on != 0;
}
// What was counted, as BEESWAX_EMU_COUNTERS writes it. Returns the bytes that the text needs with its zero;
// as many as `room` holds are stored.
EMU_API size_t beeswax_emu_counters(char* text, size_t room) {
  const std::string json = emu::hip::counters_as_json(emu::hip::counted_kernels());
  if (room > 0) {
    const size_t length = json.size() < room ? json.size() : room - 1;
    std::memcpy(text, json.data(), length);
    text[length] = 0;
  }
  return json.size() + 1;
}
