// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/kernels/softmax_shared.h"

#include "backends/cpu/kernels/row_blocks.h"
#include "backends/cpu/kernels/softmax_terms.h"
#include "core/math/math.h"

namespace beeswax::cpu::BW_ISA {
namespace {

template <class S, bool kLog>
void step(const SoftmaxStep& step) {
  using A = Compute<S>;
  using PartRows = Rows<S, true>;
  using Block = typename PartRows::Block;
  RowArgs args{};
  args.x = step.x;
  args.rows = 1;
  args.n = step.n;
  args.past_caches = step.past_caches;
  args.scratch = step.scratch;
  PartRows rows(args);
  rows.partials = static_cast<A*>(step.partials);

  const Block last{nullptr, static_cast<const S*>(step.last), 1, static_cast<S*>(step.y)};
  const auto last_top = static_cast<A>(step.last_top);
  const auto last_scale = static_cast<A>(step.last_scale);
  const auto write = [&](const Block& block, int64_t, int64_t begin, int64_t count,
                         bool past) __attribute__((always_inline)) {
    const S* ahead = step.next != nullptr ? static_cast<const S*>(step.next) + begin
                                          : reinterpret_cast<const S*>(rows.values + begin);
    write_softmax<kLog>(ahead, block.y + begin, count, past, block.x + begin, rows.values + begin, last_top,
                        last_scale);
  };
  if (step.x != nullptr) {
    const A top = static_cast<A>(largest_number(step.tops, step.parts));
    rows.sum_chunks(static_cast<const S*>(step.x), 0, terms_kept<S, kLog>(top, rows.values),
                    [&](int64_t r, int64_t i) __attribute__((always_inline)) {
                      if (last.y != nullptr) rows.write_ahead(last, r, i, write);
                    });
  } else if (last.y != nullptr) {
    rows.write_part(last, 0, 0, step.n, write);
  }
  if (step.next != nullptr)
    *step.next_top = static_cast<A>(largest_number(static_cast<const S*>(step.next), step.n));
}

template <class S, bool kLog>
void join(const double* tops, int64_t parts, void* partials, int64_t chunks, double* top, double* scale) {
  using A = Compute<S>;
  *top = largest_number(tops, parts);
  *scale = static_cast<double>(softmax_scale<kLog>(tree_join(static_cast<A*>(partials), chunks)));
}

template <class S, bool kLog>
constexpr SoftmaxSharedKernels::Loops loops() {
  if constexpr (kWidens<S> && m::Floating<Compute<S>>) {
    return {step<S, kLog>, join<S, kLog>};
  } else {
    return {};
  }
}

}  // namespace

const SoftmaxSharedKernels& softmax_shared_kernels() {
  static constexpr SoftmaxSharedKernels kTable = {{
#define BW_DTYPE(Name, name, ctype, ...) {loops<ctype, false>(), loops<ctype, true>()},
#include "tables/dtypes.def"
  }};
  return kTable;
}

}  // namespace beeswax::cpu::BW_ISA
