// SPDX-License-Identifier: Apache-2.0
// What is printed and written: a table for people, JSON for programs.
#pragma once

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "ceilings.h"
#include "runner.h"

namespace beeswax::bench {

/// What the numbers were measured on.
struct Machine {
  std::string device, isa, commit, date;
  bool dirty = false;  ///< the tree had changes that the commit lacks
  int threads = 0;
  int64_t memory_bytes = 0;  ///< of a memory-resident tensor
  static Machine here(const Sizes& sizes);
};

using Results = std::vector<std::pair<Case, Result>>;

void print_machine(std::FILE* out, const Machine& machine);
void print_list(std::FILE* out, const std::vector<Case>& cases);
/// One line, with a heading before the first of a group.
void print_result(std::FILE* out, const Case& one, const Result& result, bool first_of_group);
void print_ceilings(std::FILE* out, const Ceilings& ceilings);
/// What is below its target, missing or failed.
void print_summary(std::FILE* out, const Results& results);

std::string list_json(const std::vector<Case>& cases);
std::string results_json(const Machine& machine, const Ceilings& ceilings, const Results& results);

}  // namespace beeswax::bench
