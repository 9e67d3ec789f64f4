// SPDX-License-Identifier: Apache-2.0
// The blocked product. C is cut into tasks of some rows by some columns. A task goes through k block by
// block: it packs its columns of B, all of them or a piece at a time (GemmArgs::panel_bytes), then for one
// band of its rows after the other packs A and multiplies. Nothing packed is shared between threads: lines
// that one core has just written cost another core more than packing them again (packing is a few percent of
// a task), and no thread waits for another before the end.
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

// The most rows and columns of a task. What is packed of B streams from the caches behind the first once for
// every panel of A, which stays in the first.
constexpr int64_t kTaskRows = 2048;
constexpr int64_t kTaskColumns = 2048;
// What packing one element of A or B costs beside one multiply-add of the tiles, about. A is usually dense
// along k and has to be transposed.
constexpr double kPackCostA = 10, kPackCostB = 8;
// Multiply-adds below which waking other threads costs more than they bring.
constexpr double kSerialWork = 1 << 18;

// One operand seen as lanes (rows of A, columns of B) by steps of k.
struct Side {
  DType dtype;
  const std::byte* data;
  int64_t lane_stride, k_stride;
  int64_t width, pad;  // of its panels

  const std::byte* at(int64_t lane, int64_t step) const {
    return data + (lane * lane_stride + step * k_stride) * element();
  }
  int64_t element() const { return dtype_bits(dtype) / 8; }
};

struct Product {
  int64_t m, n, k;
  Side a, b;
  DType c_type;
  std::byte* c;
  int64_t c_row;
  int64_t element;  // bytes of one of C
  int64_t word;     // bytes of one in the compute type
  bool narrow;      // the two types differ
  const GemmTile* tile;
  int64_t panel_bytes;
  bool parallel;
};

// A grid of tasks: boundaries that spread `panels` panels evenly over `count` tasks.
struct Cuts {
  int64_t size, panel, count;
  int64_t at(int64_t i) const { return std::min(size, ceil_div(size, panel) * i / count * panel); }
  int64_t most() const { return std::min(size, ceil_div(ceil_div(size, panel), count) * panel); }
};

struct Grid {
  Cuts down, across;
  int64_t tasks() const { return down.count * across.count; }
};

// The grid with the least work of the busiest thread, packing included.
Grid choose_grid(const Product& g) {
  const int64_t threads = g.parallel ? ThreadPool::global().threads() : 1;
  const GemmTile& tile = *g.tile;
  Grid grid{{g.m, tile.mr, ceil_div(g.m, kTaskRows)}, {g.n, tile.nr, ceil_div(g.n, kTaskColumns)}};
  if (threads == 1) return grid;
  const auto cost = [&](const Grid& one) {
    const auto rows = static_cast<double>(one.down.most());
    const auto columns = static_cast<double>(one.across.most());
    return static_cast<double>(ceil_div(one.tasks(), threads)) *
           (rows * columns + kPackCostA * rows + kPackCostB * columns);
  };
  const int64_t most_down = std::min(ceil_div(g.m, tile.mr), std::max(grid.down.count, 4 * threads));
  const int64_t most_across = std::min(ceil_div(g.n, tile.nr), std::max(grid.across.count, 4 * threads));
  Grid best = grid;
  double least = cost(best);
  for (Grid one = grid; one.down.count <= most_down; ++one.down.count) {
    for (one.across.count = grid.across.count; one.across.count <= most_across; ++one.across.count) {
      const double c = cost(one);
      if (c < least) {
        least = c;
        best = one;
      }
      if (one.tasks() > 8 * threads) break;
    }
  }
  return best;
}

void pack_part(const Side& side, int64_t lane, int64_t lanes, int64_t step, int64_t steps, void* to) {
  gemm_packs().pack[static_cast<size_t>(side.dtype)](
      {side.at(lane, step), side.lane_stride, side.k_stride, lanes, steps, side.width, side.pad, to});
}

// Columns of B that are packed at a time: of a task's, in pieces of about one size.
int64_t piece_columns(const Product& g, int64_t columns, int64_t steps) {
  if (g.panel_bytes == 0) return columns;
  const int64_t panels = ceil_div(columns, g.b.width);
  const int64_t most = std::max<int64_t>(1, g.panel_bytes / (g.b.width * steps * g.word));
  return std::min(columns, ceil_div(panels, ceil_div(panels, most)) * g.b.width);
}

// One task: C[row.., column..] from packed blocks of its own. Results narrower than the compute type are
// summed in scratch memory and rounded at the end.
void run_task(const Product& g, int64_t row, int64_t rows, int64_t column, int64_t columns) {
  const int64_t band = std::min<int64_t>(g.tile->mt, rows);
  const int64_t chain = gemm_block(g.k);
  const int64_t steps_most = std::min(g.k, chain);
  const int64_t piece = piece_columns(g, columns, steps_most);
  const bool keeps_a = piece < columns;  // all of its bands, for the pieces after the first
  const int64_t bytes_a = round_up((keeps_a ? rows : band) * steps_most * g.word, 64);
  const int64_t bytes_b = round_up(round_up(piece, g.b.pad) * steps_most * g.word, 64);
  const int64_t bytes_sums = g.narrow ? rows * columns * g.word : 0;
  auto* a = static_cast<std::byte*>(
      gemm_scratch(GemmScratch::local, static_cast<size_t>(bytes_a + bytes_b + bytes_sums)));
  std::byte* b = a + bytes_a;
  std::byte* out = g.c + (row * g.c_row + column) * g.element;
  std::byte* sums = g.narrow ? b + bytes_b : out;
  const int64_t sums_row = g.narrow ? columns : g.c_row;
  for (int64_t step = 0; step < g.k; step += chain) {
    const int64_t steps = std::min(chain, g.k - step);
    for (int64_t from = 0; from < columns; from += piece) {
      const int64_t lanes = std::min(piece, columns - from);
      pack_part(g.b, column + from, lanes, step, steps, b);
      for (int64_t first = 0; first < rows; first += band) {
        const int64_t count = std::min(band, rows - first);
        std::byte* panels = keeps_a ? a + first * steps * g.word : a;
        if (from == 0) pack_part(g.a, row + first, count, step, steps, panels);
        std::byte* to = sums + (first * sums_row + from) * g.word;
        g.tile->block({count, lanes, steps, panels, b, to, sums_row, step > 0});
      }
    }
  }
  if (!g.narrow) return;
  const auto round = gemm_packs().round[static_cast<size_t>(g.c_type)];
  for (int64_t r = 0; r < rows; ++r)
    round(sums + r * sums_row * g.word, out + r * g.c_row * g.element, columns);
}

// Few rows, or few columns: the product with A and B in exchanged roles.
GemmThin thin_of(const Product& g, const Side& x, int64_t rows, const Side& w, int64_t lanes, int64_t y_row,
                 int64_t y_lane) {
  return {x.dtype,    w.dtype, g.c_type,   rows,          lanes, g.k,   x.data, x.lane_stride,
          x.k_stride, w.data,  w.k_stride, w.lane_stride, g.c,   y_row, y_lane, g.parallel};
}

void run(const Product& g) {
  const GemmThin thin =
      g.m <= g.n ? thin_of(g, g.a, g.m, g.b, g.n, g.c_row, 1) : thin_of(g, g.b, g.n, g.a, g.m, 1, g.c_row);
  if (gemm_is_thin(thin)) return gemm_thin(thin);
  const Grid grid = choose_grid(g);
  const auto task = [&](int64_t index) {
    const int64_t i = index / grid.across.count, j = index % grid.across.count;
    const int64_t row = grid.down.at(i), column = grid.across.at(j);
    run_task(g, row, grid.down.at(i + 1) - row, column, grid.across.at(j + 1) - column);
  };
  if (g.parallel) return ThreadPool::global().parallel_for(grid.tasks(), task);
  for (int64_t index = 0; index < grid.tasks(); ++index) task(index);
}

int64_t batch_count(const GemmArgs& args) {
  int64_t count = 1;
  for (int i = 0; i < args.batch_rank; ++i) count *= args.batch[static_cast<size_t>(i)];
  return count;
}

Product one_product(const GemmArgs& args) {
  const GemmCompute compute = gemm_compute(args.types.c);
  const GemmTile& tile = gemm_tiles().of[static_cast<size_t>(compute)];
  Product g{};
  g.m = args.m;
  g.n = args.n;
  g.k = args.k;
  g.a = {args.types.a, static_cast<const std::byte*>(args.a), args.a_row, args.a_col, tile.mr, 1};
  g.b = {args.types.b, static_cast<const std::byte*>(args.b), args.b_col, args.b_row, tile.nr, tile.lanes};
  g.c_type = args.types.c;
  g.c = static_cast<std::byte*>(args.c);
  g.c_row = args.c_row;
  g.element = dtype_bits(args.types.c) / 8;
  g.word = gemm_word(compute);
  g.narrow = g.element < g.word;
  g.tile = &tile;
  g.panel_bytes = args.panel_bytes;
  return g;
}

void clear(const GemmArgs& args, int64_t batches) {
  const auto element = static_cast<size_t>(dtype_bits(args.types.c) / 8);
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
      g.a.data += at * args.a_batch[d] * g.a.element();
      g.b.data += at * args.b_batch[d] * g.b.element();
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
