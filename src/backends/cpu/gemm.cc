// SPDX-License-Identifier: Apache-2.0
// The blocked product. C is cut into regions, k into slabs of several chain blocks. For each region and slab:
// first the shared operands are packed in parallel, then tasks of one tile of C each run over the slab's
// blocks in order. An operand that only one row (or column) of tiles reads is not shared: each task packs its
// own part, block by block, and finds it in its core's cache.
#include "backends/cpu/gemm.h"

#include <algorithm>
#include <cstring>

#include "backends/cpu/gemm_scratch.h"
#include "backends/cpu/gemm_thin.h"
#include "backends/cpu/kernels/gemm.h"
#include "core/divide.h"
#include "core/thread_pool.h"

namespace beeswax::cpu {
namespace {

constexpr int64_t kRegionRows = 2048;
constexpr int64_t kRegionColumns = 4096;
// Packed operands of one region and slab: they should stay in the last-level cache.
constexpr int64_t kSlabBytes = int64_t{16} << 20;
// Multiply-adds below which waking other threads costs more than they bring.
constexpr double kSerialWork = 1 << 18;
// Lanes that one packing task takes, at least.
constexpr int64_t kPackLanes = 64;

// One operand seen as lanes (rows of A, columns of B) by steps of k.
struct Side {
  const std::byte* data;
  int64_t lane_stride, k_stride;
  int64_t width, pad;  // of its panels
};

struct Product {
  DType dtype;
  int64_t m, n, k;
  Side a, b;
  std::byte* c;
  int64_t c_row;
  int64_t element;  // bytes of one
  int64_t word;     // bytes of one in the compute type
  bool narrow;      // the two types differ
  const GemmTile* tile;
  void (*pack)(const GemmPack&);
  void (*round)(const void*, void*, int64_t);
  bool parallel;
};

// A tile grid: boundaries that spread `panels` panels evenly over `count` tiles.
struct Cuts {
  int64_t size, panel, count;
  int64_t at(int64_t i) const { return std::min(size, ceil_div(size, panel) * i / count * panel); }
};

// Runs `fn` for every task, on the pool if the product is worth it.
template <class F>
void for_tasks(const Product& g, int64_t tasks, F&& fn) {
  if (g.parallel) {
    ThreadPool::global().parallel_for(tasks, fn);
  } else {
    for (int64_t task = 0; task < tasks; ++task) fn(task);
  }
}

void pack_part(const Product& g, const Side& side, int64_t lane, int64_t lanes, int64_t step, int64_t steps,
               void* to) {
  g.pack({side.data + (lane * side.lane_stride + step * side.k_stride) * g.element, side.lane_stride,
          side.k_stride, lanes, steps, side.width, side.pad, to});
}

// Bytes of `lanes` packed lanes of one chain block, from a lane that begins a panel.
int64_t packed_bytes(const Product& g, const Side& side, int64_t lanes, int64_t steps) {
  return round_up(lanes, side.pad) * steps * g.word;
}

// One region of C. Results narrower than the compute type are summed in scratch memory and rounded at the
// end.
class Region {
 public:
  Region(const Product& product, int64_t row, int64_t rows, int64_t column, int64_t columns)
      : g(product), row_(row), rows_(rows), column_(column), columns_(columns) {
    choose_tiles();
  }

  void run() {
    const int64_t lanes = round_up(rows_, g.a.pad) + round_up(columns_, g.b.pad);
    const int64_t fit = kSlabBytes / (lanes * g.word) / kGemmBlock * kGemmBlock;
    const int64_t slab = std::min(g.k, std::max(fit, kGemmBlock));
    const bool own_b = down_.count == 1;
    const bool own_a = !own_b && across_.count == 1;
    const int64_t bytes_sums = g.narrow ? round_up(rows_ * columns_ * g.word, 64) : 0;
    const int64_t bytes_a = own_a ? 0 : round_up(rows_ * slab * g.word, 64);
    const int64_t bytes_b = own_b ? 0 : round_up(columns_, g.b.pad) * slab * g.word;
    auto* shared = static_cast<std::byte*>(
        gemm_scratch(GemmScratch::shared, static_cast<size_t>(bytes_sums + bytes_a + bytes_b)));
    sums_ = g.narrow ? shared : g.c + (row_ * g.c_row + column_) * g.word;
    sums_row_ = g.narrow ? columns_ : g.c_row;
    a_ = own_a ? nullptr : shared + bytes_sums;
    b_ = own_b ? nullptr : shared + bytes_sums + bytes_a;
    for (step_ = 0; step_ < g.k; step_ += slab) {
      steps_ = std::min(slab, g.k - step_);
      pack_shared();
      for_tasks(g, down_.count * across_.count, [&](int64_t task) {
        // Neighbouring tasks share their columns of B.
        compute(task % down_.count, task / down_.count);
      });
    }
  }

 private:
  // Large tiles reuse the caches best; enough of them keep all threads busy to the end.
  void choose_tiles() {
    const GemmTile& tile = *g.tile;
    const int64_t threads = g.parallel ? ThreadPool::global().threads() : 1;
    down_ = {rows_, tile.mr, ceil_div(rows_, tile.mt)};
    across_ = {columns_, tile.nr, ceil_div(columns_, tile.nt)};
    while (threads > 1 && down_.count * across_.count < 4 * threads) {
      const int64_t tall = ceil_div(rows_, tile.mr) / down_.count;
      const int64_t broad = ceil_div(columns_, tile.nr) / across_.count;
      if (tall <= 2 && broad <= 1) break;
      if (broad > 1 && broad * tile.nr >= tall * tile.mr) {
        ++across_.count;
      } else if (tall > 2) {
        ++down_.count;
      } else {
        ++across_.count;
      }
    }
  }

  int64_t blocks() const { return ceil_div(steps_, kGemmBlock); }

  void pack_shared() {
    const int64_t threads = g.parallel ? ThreadPool::global().threads() : 1;
    const int64_t most = 4 * threads;
    const auto cut = [&](const Side& side, int64_t lanes, const void* to) {
      const int64_t tasks = to == nullptr ? 0 : std::clamp<int64_t>(lanes / kPackLanes, 1, most);
      return Cuts{lanes, side.width, std::min(tasks, ceil_div(lanes, side.width))};
    };
    const Cuts cuts_a = cut(g.a, rows_, a_);
    const Cuts cuts_b = cut(g.b, columns_, b_);
    const int64_t tasks_a = cuts_a.count * blocks();
    const int64_t tasks_b = cuts_b.count * blocks();
    for_tasks(g, tasks_a + tasks_b, [&](int64_t task) {
      if (task < tasks_a) {
        pack_piece(g.a, cuts_a, row_, a_, task);
      } else {
        pack_piece(g.b, cuts_b, column_, b_, task - tasks_a);
      }
    });
  }

  void pack_piece(const Side& side, const Cuts& cuts, int64_t origin, std::byte* to, int64_t task) {
    const int64_t first = cuts.at(task % cuts.count);
    const int64_t lanes = cuts.at(task % cuts.count + 1) - first;
    const int64_t step = task / cuts.count * kGemmBlock;
    const int64_t steps = std::min(kGemmBlock, steps_ - step);
    pack_part(g, side, origin + first, lanes, step_ + step, steps,
              to + offset(side, cuts.size, first, step, steps));
  }

  // Where lane `lane` (the first of a panel) of the block at `step` begins in a shared operand.
  int64_t offset(const Side& side, int64_t all, int64_t lane, int64_t step, int64_t steps) const {
    return (round_up(all, side.pad) * step + lane * steps) * g.word;
  }

  void compute(int64_t i, int64_t j) {
    const int64_t row = down_.at(i), rows = down_.at(i + 1) - row;
    const int64_t column = across_.at(j), columns = across_.at(j + 1) - column;
    std::byte* own = nullptr;
    if (a_ == nullptr || b_ == nullptr) {
      const int64_t bytes =
          a_ == nullptr ? packed_bytes(g, g.a, rows, kGemmBlock) : packed_bytes(g, g.b, columns, kGemmBlock);
      own = static_cast<std::byte*>(gemm_scratch(GemmScratch::local, static_cast<size_t>(bytes)));
    }
    std::byte* sums = sums_ + (row * sums_row_ + column) * g.word;
    for (int64_t step = 0; step < steps_; step += kGemmBlock) {
      const int64_t steps = std::min(kGemmBlock, steps_ - step);
      if (a_ == nullptr) pack_part(g, g.a, row_ + row, rows, step_ + step, steps, own);
      if (b_ == nullptr) pack_part(g, g.b, column_ + column, columns, step_ + step, steps, own);
      const std::byte* a = a_ == nullptr ? own : a_ + offset(g.a, rows_, row, step, steps);
      const std::byte* b = b_ == nullptr ? own : b_ + offset(g.b, columns_, column, step, steps);
      g.tile->block({rows, columns, steps, a, b, sums, sums_row_, step_ + step > 0});
    }
    if (g.narrow && step_ + steps_ == g.k) {
      std::byte* out = g.c + ((row_ + row) * g.c_row + column_ + column) * g.element;
      for (int64_t r = 0; r < rows; ++r)
        g.round(sums + r * sums_row_ * g.word, out + r * g.c_row * g.element, columns);
    }
  }

  const Product& g;
  int64_t row_, rows_, column_, columns_;
  int64_t step_ = 0, steps_ = 0;  // the slab
  Cuts down_{}, across_{};        // the tiles
  std::byte* a_ = nullptr;        // packed by all, or null where each task packs its own
  std::byte* b_ = nullptr;
  std::byte* sums_ = nullptr;
  int64_t sums_row_ = 0;
};

// Few rows, or few columns: the product with A and B in exchanged roles.
GemmThin thin_rows(const Product& g) {
  return {
      g.dtype,         g.m, g.n,     g.k, g.a.data,  g.a.lane_stride, g.a.k_stride, g.b.data, g.b.k_stride,
      g.b.lane_stride, g.c, g.c_row, 1,   g.parallel};
}
GemmThin thin_columns(const Product& g) {
  return {
      g.dtype,         g.n, g.m, g.k,     g.b.data,  g.b.lane_stride, g.b.k_stride, g.a.data, g.a.k_stride,
      g.a.lane_stride, g.c, 1,   g.c_row, g.parallel};
}

void run(const Product& g) {
  const GemmThin thin = g.m <= g.n ? thin_rows(g) : thin_columns(g);
  if (gemm_is_thin(thin)) return gemm_thin(thin);
  for (int64_t column = 0; column < g.n; column += kRegionColumns) {
    for (int64_t row = 0; row < g.m; row += kRegionRows) {
      Region(g, row, std::min(kRegionRows, g.m - row), column, std::min(kRegionColumns, g.n - column)).run();
    }
  }
}

int64_t batch_count(const GemmArgs& args) {
  int64_t count = 1;
  for (int i = 0; i < args.batch_rank; ++i) count *= args.batch[static_cast<size_t>(i)];
  return count;
}

Product one_product(const GemmArgs& args) {
  const auto dtype = static_cast<size_t>(args.dtype);
  const GemmTile& tile = gemm_tiles().of[static_cast<size_t>(gemm_compute(args.dtype))];
  Product g{};
  g.dtype = args.dtype;
  g.m = args.m;
  g.n = args.n;
  g.k = args.k;
  g.a = {static_cast<const std::byte*>(args.a), args.a_row, args.a_col, tile.mr, 1};
  g.b = {static_cast<const std::byte*>(args.b), args.b_col, args.b_row, tile.nr, tile.lanes};
  g.c = static_cast<std::byte*>(args.c);
  g.c_row = args.c_row;
  g.element = dtype_bits(args.dtype) / 8;
  g.word = gemm_word(gemm_compute(args.dtype));
  g.narrow = g.element < g.word;
  g.tile = &tile;
  g.pack = gemm_packs().pack[dtype];
  g.round = gemm_packs().round[dtype];
  return g;
}

void clear(const GemmArgs& args, int64_t batches) {
  const auto element = static_cast<size_t>(dtype_bits(args.dtype) / 8);
  for (int64_t i = 0; i < batches; ++i)
    for (int64_t r = 0; r < args.m; ++r)
      std::memset(
          static_cast<std::byte*>(args.c) + static_cast<size_t>(i * args.c_batch + r * args.c_row) * element,
          0, static_cast<size_t>(args.n) * element);
}

}  // namespace

void gemm(const GemmArgs& args) {
  const int64_t batches = batch_count(args);
  if (args.m == 0 || args.n == 0 || batches == 0) return;
  if (args.k == 0) return clear(args, batches);
  const Product first = one_product(args);
  // m n k does not overflow as a double, and need not be exact.
  const double work = static_cast<double>(args.m) * static_cast<double>(args.n) * static_cast<double>(args.k);
  const bool worth = work * static_cast<double>(batches) >= kSerialWork;
  // Many products: one task each. Few large ones: one after the other, each on all threads.
  const bool whole_tasks = worth && batches >= 2 * ThreadPool::global().threads();
  const auto one = [&](int64_t index) {
    Product g = first;
    g.c += index * args.c_batch * g.element;
    for (int i = args.batch_rank - 1; i >= 0; --i) {
      const auto d = static_cast<size_t>(i);
      const int64_t at = index % args.batch[d];
      index /= args.batch[d];
      g.a.data += at * args.a_batch[d] * g.element;
      g.b.data += at * args.b_batch[d] * g.element;
    }
    g.parallel = !whole_tasks && work >= kSerialWork;
    run(g);
  };
  if (whole_tasks) {
    ThreadPool::global().parallel_for(batches, one);
  } else {
    for (int64_t i = 0; i < batches; ++i) one(i);
  }
}

}  // namespace beeswax::cpu
