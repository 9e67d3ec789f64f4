// SPDX-License-Identifier: Apache-2.0
// What people read: the report of a fault, and the counters at the end.
#pragma once

#include <string>
#include <vector>

#include "emu/exec/run.h"

namespace emu::hip {

class Device;

/// Several lines: what happened, where in memory, which lane of which wave, which instruction.
std::string report_text(const Fault& fault, const Device& device);
void print_report(const std::string& report);

/// Counters of one launch, added to those of the kernel.
void add_counters(const Kernel& kernel, const Launch& launch, const Counters& counters);

/// Remembers that the kernel ran to its end, for write_launched.
void note_launched(const Kernel& kernel);
/// A line "chip kernel" for each kernel that was launched, sorted, into a file; nothing for "".
void write_launched(const std::string& where);

struct KernelTotals {
  std::string chip, kernel;
  uint32_t vgprs, sgprs, agprs, lds_bytes;  // lds_bytes: of the largest launch
  uint32_t block;                           // work-items of the newest launch's group
  uint32_t waves_per_simd;                  // the occupancy that registers and LDS allow then
  uint32_t slots;                           // waves of a SIMD at most
  std::string limit;                        // what allows no more, as in Occupancy
  Counters counters;
};
std::vector<KernelTotals> counted_kernels();
std::string counters_as_json(const std::vector<KernelTotals>& kernels);
std::string counters_as_table(const std::vector<KernelTotals>& kernels);
/// Whether a program asked for counting (beeswax_emu_count in report.cc), the environment aside.
bool counting_asked();
/// A table to standard error for "-", JSON into a file otherwise; nothing for "".
void write_counters(const std::string& where);

}  // namespace emu::hip
