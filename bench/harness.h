// SPDX-License-Identifier: Apache-2.0
// Cases of the benchmark and how files register them. A file of this folder writes
//
//   BW_BENCH_GROUP(softmax, list, sizes) { list.add({.name = "softmax/rows/f32", ...}); }
//
// and edits no list. Making a case is cheap: its tensors are made by `make`, just before it is timed.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "beeswax/tensor.h"
#include "ceiling.h"

namespace beeswax::bench {

/// How large the cases' tensors are.
struct Sizes {
  int64_t memory_bytes;  ///< of the largest tensor of a streaming case: well beyond the last-level cache
  int64_t cache_bytes;   ///< of each tensor of a case that stays in the second-level cache
  bool quick;
  /// Elements of `dtype` in a memory-resident tensor, a multiple of 4096.
  int64_t memory_elements(DType dtype) const;
  int64_t cache_elements(DType dtype) const;
};

using Body = std::function<void()>;

/// Bytes of `count` elements, as the floors of the cases count them.
inline double bytes_of(DType dtype, int64_t count) {
  return static_cast<double>(dtype_bytes(dtype, static_cast<size_t>(count)));
}

/// Calls `body` on every thread, as calls from inside a task do, calls_in_cache() times in all: often enough
/// that starting the threads does not count.
Body on_every_thread(Body body);
double calls_in_cache();

/// One timed body. `bytes` and `flops` are what the operation cannot avoid: each input byte read once, each
/// output byte written once, and the arithmetic of its definition (0 where that says nothing).
struct Case {
  std::string name;  ///< group/what/dtype: unary/exp/f32
  std::string dtype = {};
  std::string shape = {};
  double bytes = 0;
  double flops = 0;
  Ceiling ceiling = Ceiling::None;
  double target = 0;  ///< the share of the ceiling that is asked for; 0: none
  /// Makes the inputs and returns the body. Throws what the operation throws.
  std::function<Body()> make = {};
  /// The same on tensors that stay in a cache, and its bytes: what the operation's arithmetic reaches. Where
  /// that is less than the ceiling, the share is taken of it.
  std::function<Body()> make_in_cache = {};
  double bytes_in_cache = 0;
  std::string group = {};  ///< filled in by the list
};

class CaseList {
 public:
  void add(Case one);
  void set_group(std::string group) { group_ = std::move(group); }
  const std::vector<Case>& cases() const { return cases_; }

 private:
  std::string group_;
  std::vector<Case> cases_;
};

using GroupFn = void (*)(CaseList&, const Sizes&);

class Registrar {
 public:
  Registrar(const char* group, GroupFn make);
};

/// All cases, groups in alphabetical order.
std::vector<Case> all_cases(const Sizes& sizes);

#define BW_BENCH_GROUP(group, list, sizes)                                                                 \
  static void bench_group_##group(::beeswax::bench::CaseList& list, const ::beeswax::bench::Sizes& sizes); \
  static const ::beeswax::bench::Registrar bench_registrar_##group(#group, bench_group_##group);           \
  static void bench_group_##group([[maybe_unused]] ::beeswax::bench::CaseList& list,                       \
                                  [[maybe_unused]] const ::beeswax::bench::Sizes& sizes)

}  // namespace beeswax::bench
