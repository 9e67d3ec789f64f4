// SPDX-License-Identifier: Apache-2.0
// Blocks of outputs as tasks. Many output channels: the terms are packed as panels and multiplied by the
// matrix product's tiles, a block of terms at a time, so that the matrix of all terms never exists. Few: the
// terms are read straight from the tile.
#include "backends/cpu/conv_sum.h"

#include <algorithm>

#include "backends/cpu/gemm_scratch.h"
#include "core/divide.h"
#include "core/thread_pool.h"

namespace beeswax::cpu {
namespace {

// Up to this many output channels per group, packing panels costs more than it brings.
constexpr int64_t kDirectChannels = 4;
// Elements of a direct block's tile, and its outputs at most: both stay in the second-level cache.
constexpr int64_t kDirectTile = 1 << 15;
constexpr int64_t kDirectOutputs = 1 << 12;
// Multiply-adds of one task of a pool, and those below which waking other threads does not pay.
constexpr int64_t kTaskWork = 1 << 16;
constexpr double kSerialWork = 1 << 17;
constexpr int64_t kSlack = 256;  // bytes that loops may touch behind a tile or a panel

// Outputs are cut into `down` x `across` blocks of `rows` x `columns` (the last ones may be smaller), and the
// channels of a group into `splits` parts.
struct Blocks {
  int64_t rows, columns, down, across, splits;
};

int64_t threads_for(const ConvSum& g) {
  const double outputs =
      static_cast<double>(g.batch * g.groups * g.c_out) * static_cast<double>(g.y.out * g.x.out);
  return outputs * static_cast<double>(g.terms()) < kSerialWork ? 1 : ThreadPool::global().threads();
}

Blocks direct_blocks(const ConvSum& g) {
  const int64_t channels = std::min(g.c_in, gemm_block(g.terms()) / (g.y.taps * g.x.taps) + 1);
  const int64_t most = std::clamp<int64_t>(kDirectTile / channels, 256, kDirectOutputs);
  Blocks b{};
  b.columns = std::min(g.x.out, most);
  b.across = ceil_div(g.x.out, b.columns);
  b.rows = std::clamp<int64_t>(most / b.columns, 1, g.y.out);
  while (b.rows > 8 && g.batch * g.groups * b.across * ceil_div(g.y.out, b.rows) < 2 * threads_for(g))
    b.rows /= 2;
  b.down = ceil_div(g.y.out, b.rows);
  b.splits = 1;
  return b;
}

// Rows of a block: of the sizes up to `most`, that which fills the vectors best.
int64_t best_rows(const ConvSum& g, int64_t most, int64_t lanes) {
  int64_t best = most, best_cost = INT64_MAX;
  for (int64_t rows = most; rows > most / 2; --rows) {
    const int64_t cost =
        g.y.out / rows * round_up(rows * g.x.out, lanes) + round_up(g.y.out % rows * g.x.out, lanes);
    if (cost < best_cost) {
      best = rows;
      best_cost = cost;
    }
  }
  return best;
}

Blocks panel_blocks(const ConvSum& g, const GemmTile& tile) {
  Blocks b{};
  if (g.x.out >= tile.nt) {
    b.columns = round_up(ceil_div(g.x.out, ceil_div(g.x.out, tile.nt)), tile.nr);
    b.rows = 1;
  } else {
    b.columns = g.x.out;
    b.rows = best_rows(g, std::min(tile.nt / g.x.out, g.y.out), tile.lanes);
  }
  b.across = ceil_div(g.x.out, b.columns);
  b.splits = 1;
  const int64_t want = threads_for(g) == 1 ? 1 : 2 * threads_for(g);
  const int64_t most_splits = ceil_div(g.c_out, tile.mr);
  for (;;) {
    b.down = ceil_div(g.y.out, b.rows);
    if (g.batch * g.groups * b.down * b.across * b.splits >= want) return b;
    if (b.rows > 1 && b.rows * b.columns > 2 * tile.nr) {
      b.rows = (b.rows + 1) / 2;
    } else if (b.splits < most_splits) {
      ++b.splits;
    } else {
      return b;
    }
  }
}

class Runner {
 public:
  explicit Runner(const ConvSum& sum)
      : g_(sum),
        compute_(static_cast<size_t>(gemm_compute(sum.dtype))),
        dtype_(static_cast<size_t>(sum.dtype)),
        tile_(gemm_tiles().of[compute_]),
        element_(dtype_bits(sum.dtype) / 8),
        word_(gemm_word(gemm_compute(sum.dtype))),
        chain_(gemm_block(sum.terms())),
        direct_(sum.c_out <= kDirectChannels),
        blocks_(direct_ ? direct_blocks(sum) : panel_blocks(sum, tile_)),
        plan_(sum, blocks_.rows, blocks_.columns) {
    const bool dense = element_ == word_ && g_.out_column == 1;
    in_place_ = dense && (direct_ || blocks_.rows == 1 || g_.out_row == blocks_.columns);
    bytes_tile_ = round_up(plan_.channels() * plan_.plane() * word_ + kSlack, 64);
    const int64_t outputs = round_up(blocks_.rows * blocks_.columns, tile_.lanes);
    bytes_panels_ = direct_ ? 0 : round_up(std::min(g_.terms(), chain_) * outputs * word_ + kSlack, 64);
    bytes_sums_ = in_place_ ? 0 : round_up(g_.c_out * blocks_.rows * blocks_.columns * word_, 64);
    bytes_runs_ = plan_.runs() * static_cast<int64_t>(sizeof(ConvRun));
  }

  void run() {
    if (direct_) {
      widen_weights();
    } else {
      pack_weights();
    }
    const int64_t work = blocks_.rows * blocks_.columns * ceil_div(g_.c_out, blocks_.splits) * g_.terms();
    const int64_t tasks = g_.batch * g_.groups * blocks_.splits * blocks_.down * blocks_.across;
    const int64_t grain = threads_for(g_) == 1 ? tasks : std::max<int64_t>(1, kTaskWork / work);
    parallel_ranges(tasks, grain, [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) compute(task);
    });
  }

 private:
  // One block of outputs of some channels of a group.
  struct Task {
    int64_t image, group, channel, channels, row, rows, column, columns;
  };

  Task task_at(int64_t index) const {
    Task t{};
    const auto next = [&](int64_t size) {
      const int64_t at = index % size;
      index /= size;
      return at;
    };
    t.column = next(blocks_.across) * blocks_.columns;
    t.row = next(blocks_.down) * blocks_.rows;
    const int64_t split = next(blocks_.splits);
    t.group = next(g_.groups);
    t.image = index;
    t.columns = std::min(blocks_.columns, g_.x.out - t.column);
    t.rows = std::min(blocks_.rows, g_.y.out - t.row);
    const int64_t panels = ceil_div(g_.c_out, tile_.mr);
    const auto cut = [&](int64_t i) { return std::min(g_.c_out, panels * i / blocks_.splits * tile_.mr); };
    t.channel = cut(split);
    t.channels = cut(split + 1) - t.channel;
    return t;
  }

  // The kernel as panels of A, block after block: those of a group's block begin where its terms do.
  void pack_weights() {
    const int64_t terms = g_.terms();
    weights_ = static_cast<std::byte*>(
        gemm_scratch(GemmScratch::shared, static_cast<size_t>(g_.groups * g_.c_out * terms * word_)));
    const int64_t blocks = ceil_div(terms, chain_);
    const int64_t lanes = round_up(64, tile_.mr);
    const int64_t pieces = ceil_div(g_.c_out, lanes);
    const int64_t tasks = g_.groups * blocks * pieces;
    parallel_ranges(tasks, threads_for(g_) == 1 ? tasks : 1, [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) {
        const int64_t lane = task % pieces * lanes;
        const int64_t k = task / pieces % blocks * chain_;
        const int64_t row = task / pieces / blocks * g_.c_out;
        const int64_t count = std::min(lanes, g_.c_out - lane);
        const int64_t steps = std::min(chain_, terms - k);
        gemm_packs().pack[dtype_]({g_.kernel + ((row + lane) * terms + k) * element_, terms, 1, count, steps,
                                   tile_.mr, 1,
                                   weights_ + (row * terms + k * g_.c_out + lane * steps) * word_});
      }
    });
  }

  void widen_weights() {
    weights_ = const_cast<std::byte*>(g_.kernel);
    if (element_ == word_) return;
    const int64_t count = g_.groups * g_.c_out * g_.terms();
    weights_ = static_cast<std::byte*>(gemm_scratch(GemmScratch::shared, static_cast<size_t>(count * word_)));
    const int64_t row = 0;
    parallel_ranges(count, kTaskWork, [&](int64_t begin, int64_t end) {
      const ConvRun whole{0, end - begin, 0, end - begin, 0};
      conv_kernels().fill[dtype_]({g_.kernel + begin * element_, 0, 0, 1, 1, 1, 1, &row, 0, 1, &whole,
                                   end - begin, end - begin, weights_ + begin * word_});
    });
  }

  void compute(int64_t index) {
    const Task t = task_at(index);
    auto* tile = static_cast<std::byte*>(gemm_scratch(
        GemmScratch::local, static_cast<size_t>(bytes_tile_ + bytes_panels_ + bytes_sums_ + bytes_runs_)));
    std::byte* panels = tile + bytes_tile_;
    std::byte* scratch = panels + bytes_panels_;
    auto* runs = reinterpret_cast<ConvRun*>(scratch + bytes_sums_);
    std::byte* out = g_.out + (t.image * g_.out_batch + (t.group * g_.c_out + t.channel) * g_.out_channel +
                               t.row * g_.out_row + t.column * g_.out_column) *
                                  element_;
    std::byte* sums = in_place_ ? out : scratch;
    const int64_t sum_channel = in_place_ ? g_.out_channel : t.rows * t.columns;
    const int64_t sum_row = in_place_ ? g_.out_row : t.columns;

    const int64_t taps = g_.y.taps * g_.x.taps;
    int64_t held = -1, held_end = -1;  // the channels in the tile
    for (int64_t k = 0; k < g_.terms(); k += chain_) {
      const int64_t steps = std::min(chain_, g_.terms() - k);
      const int64_t first = k / taps, end = (k + steps - 1) / taps + 1;
      if (first != held || end != held_end) {
        const std::byte* from =
            g_.in + (t.image * g_.in_batch + (t.group * g_.c_in + first) * g_.in_channel) * element_;
        conv_kernels().fill[dtype_](plan_.fill(g_, from, end - first, t.row, t.column, runs, tile));
        held = first;
        held_end = end;
      }
      const ConvTerms terms{steps,
                            plan_.tap_offset() + k,
                            plan_.tap_row() + k,
                            g_.y.taps,
                            plan_.row_offset(),
                            t.rows,
                            t.columns,
                            tile};
      if (direct_) {
        const std::byte* weights = weights_ + ((t.group * g_.c_out + t.channel) * g_.terms() + k) * word_;
        conv_kernels().direct[compute_](
            {terms, t.channels, weights, g_.terms(), sums, sum_channel, sum_row, k > 0});
        continue;
      }
      conv_kernels().pack[compute_]({terms, tile_.nr, panels});
      const std::byte* weights = weights_ + (t.group * g_.c_out * g_.terms() + k * g_.c_out) * word_;
      tile_.block({t.channels, t.rows * t.columns, steps, weights + t.channel * steps * word_, panels, sums,
                   sum_channel, k > 0});
    }
    if (!in_place_) write(t, sums, out);
  }

  void write(const Task& t, const std::byte* sums, std::byte* out) const {
    const auto scatter = conv_kernels().scatter[dtype_];
    for (int64_t c = 0; c < t.channels; ++c, out += g_.out_channel * element_) {
      for (int64_t r = 0; r < t.rows; ++r, sums += t.columns * word_)
        scatter(sums, t.columns, out + r * g_.out_row * element_, g_.out_column);
    }
  }

  const ConvSum& g_;
  size_t compute_, dtype_;
  const GemmTile& tile_;
  int64_t element_, word_;  // bytes of an element, and of one in the compute type
  int64_t chain_;           // terms of a chain of additions
  bool direct_;
  Blocks blocks_;
  ConvTile plan_;
  bool in_place_ = false;  // sums are made in the output
  int64_t bytes_tile_ = 0, bytes_panels_ = 0, bytes_sums_ = 0, bytes_runs_ = 0;
  std::byte* weights_ = nullptr;
};

}  // namespace

void conv_sum(const ConvSum& sum) { Runner(sum).run(); }

}  // namespace beeswax::cpu
