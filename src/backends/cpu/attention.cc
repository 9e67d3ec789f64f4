// SPDX-License-Identifier: Apache-2.0
// Grouped causal attention. A task takes the queries of a few tokens and of all heads that share their keys:
// scores, weights and results go through the loops of products and of softmax, in its core's caches as long
// as kScoreBytes hold the scores of kLeastRows rows. Keys and values pass kKeys at a time, cut at multiples
// of that in the cache, and no block of queries crosses such a place; so every row's additions have one
// order, whichever tokens it comes with:
//   a score          one chain of multiply-adds (gemm.h);
//   a row's sum      that of softmax over what the row sees;
//   a result         one chain for each kKeys positions, and the chains in order.
//
// Floors: 2 size multiply-adds a visible pair of query and key over the f32 peak, of which two Zen 5 cores
// reach 0.48 (512 tokens, 32 heads of 64 on 8) to 0.60 (2048); one token reads its keys and values once.
#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <vector>

#include "backends/cpu/backend.h"
#include "backends/cpu/chunks.h"
#include "backends/cpu/gemm_thin.h"
#include "backends/cpu/kernels/binary.h"
#include "backends/cpu/kernels/gemm.h"
#include "backends/cpu/kernels/rope.h"
#include "backends/cpu/kernels/rows.h"
#include "backends/cpu/kernels/unary.h"
#include "backends/cpu/scratch.h"
#include "core/divide.h"
#include "core/thread_pool.h"

namespace beeswax::cpu {
namespace {

// A chunk of the sum of a softmax: what is masked behind a row's end, in its last chunk, leaves its bits
// alone. Terms are scaled so that the largest is 2^64, and a masked one is 2^-86, which no sum of both shows.
constexpr int64_t kKeys = kChunk;
// Scores of a task that stay in the second-level cache beside what is packed, and the rows that a task has at
// least, for which packing is worth it.
constexpr int64_t kScoreBytes = 512 << 10;
constexpr int64_t kLeastRows = 56;
// Multiply-adds below which waking other threads costs more than they bring.
constexpr int64_t kSerialWork = 1 << 16;

/// Keys or values of all heads.
struct Cached {
  const std::byte* data;
  size_t dtype;
  int64_t element;    // bytes
  int64_t head, row;  // strides in elements

  explicit Cached(const Operand& x)
      : data(x.data()),
        dtype(static_cast<size_t>(x.dtype)),
        element(static_cast<int64_t>(dtype_bytes(x.dtype, 1))),
        head(x.layout->stride(0)),
        row(x.layout->stride(1)) {}
  const std::byte* at(int64_t of_head, int64_t position) const {
    return data + (of_head * head + position * row) * element;
  }
};

struct Attention {
  const float* q;
  int64_t q_token, q_head;  // strides
  Cached keys, values;
  float* out;  // [tokens, heads, size]
  int64_t tokens, heads, kv_heads, positions, size;
  AttentionOptions options;

  int64_t group() const { return heads / kv_heads; }
  int64_t before() const { return positions - tokens; }
  /// The first position that the query at `position` sees.
  int64_t first_seen(int64_t position) const {
    return options.window > 0 ? std::max<int64_t>(0, position + 1 - options.window) : 0;
  }
};

/// The queries of `count` tokens from `first` on, and the positions [begin, end) that some of them see.
struct Block {
  int64_t first, count, begin, end;

  /// Positions are cut at multiples of kKeys into so many parts.
  int64_t parts() const { return ceil_div(end, kKeys) - begin / kKeys; }
};

const GemmTile& tile() { return gemm_tiles().of[static_cast<size_t>(GemmCompute::f32)]; }

/// All queries in blocks.
std::vector<Block> blocks_of(const Attention& a) {
  const int64_t rows = tile().mr, least = round_up(ceil_div(kLeastRows, a.group()), rows);
  std::vector<Block> blocks;
  for (int64_t first = 0; first < a.tokens;) {
    const int64_t position = a.before() + first, begin = a.first_seen(position);
    const int64_t row_bytes = (position + rows - begin) * a.group() * static_cast<int64_t>(sizeof(float));
    const int64_t fit = std::clamp<int64_t>(kScoreBytes / row_bytes / rows * rows,
                                            std::min<int64_t>(least, tile().mt), tile().mt);
    const int64_t count = std::min({fit, kKeys - position % kKeys, a.tokens - first});
    blocks.push_back({first, count, begin, position + count});
    first += count;
  }
  return blocks;
}

/// Whether a block's rows are so few that they meet keys and values as they lie.
bool is_thin(const Attention& a, const Block& block) { return block.count * a.group() <= kGemmThin; }

int64_t padded_rows(const Attention& a, const Block& block) {
  const int64_t rows = block.count * a.group();
  return rows == 1 ? 1 : round_up(rows, kGemmVectorRows);
}

/// Packed keys or values of kKeys positions; behind them packed queries, of all heads, or the weights of one.
int64_t side_at(const Attention& a) { return round_up(a.size, tile().lanes) * kKeys; }

/// Where a task's floats lie: queries first, then scores, what softmax works in, and what is packed or, of
/// few rows, the mixes of each part.
struct TaskMemory {
  static constexpr int64_t kLine = 16;
  int64_t scores, softmax, packed, all;

  TaskMemory(const Attention& a, const Block& block) {
    const int64_t seen = block.end - block.begin, rows = padded_rows(a, block);
    scores = round_up(rows * a.size, kLine);
    softmax = scores + round_up(rows * seen, kLine);
    packed = softmax + round_up(row_scratch(seen), kLine);
    all = packed + (is_thin(a, block) ? block.parts() * rows * a.size
                                      : side_at(a) + block.count * std::max(a.group() * a.size, kKeys));
    all = round_up(all, kLine);
  }
};

/// One block with one head of keys and values. Rows are in the order of tokens, then of heads. Scores and
/// mixes of different parts may be made at the same time where there are few rows, mixes else one after the
/// other.
class Task {
 public:
  Task(const Attention& a, int64_t kv_head, const Block& block, const TaskMemory& memory, float* floats)
      : a_(a),
        kv_head_(kv_head),
        block_(block),
        group_(a.group()),
        rows_(block.count * group_),
        seen_(block.end - block.begin),
        thin_(is_thin(a, block)),
        queries_(floats),
        scores_(floats + memory.scores),
        softmax_(floats + memory.softmax),
        packed_(floats + memory.packed) {}

  void run() const {
    begin();
    for (int64_t part = 0; part < block_.parts(); ++part) score(part);
    weigh();
    for (int64_t part = 0; part < block_.parts(); ++part) mix(part);
    if (thin_) join();
  }

  /// Scales queries, and packs them.
  void begin() const {
    scale_queries();
    if (thin_) return;
    for (int64_t g = 0; g < group_; ++g)
      pack_rows(queries_ + g * a_.size, group_ * a_.size, a_.size, side() + g * block_.count * a_.size);
  }

  /// Scores of a part.
  void score(int64_t part) const {
    const Cached& keys = a_.keys;
    const auto [from, count] = positions(part);
    float* scores = scores_ + from - block_.begin;
    if (thin_) {
      gemm_vectors().dots[keys.dtype](
          {rows_, count, a_.size, keys.at(kv_head_, from), keys.row, queries_, a_.size, scores, seen_});
      return;
    }
    gemm_packs().pack[keys.dtype](
        {keys.at(kv_head_, from), keys.row, 1, count, a_.size, tile().nr, tile().lanes, packed_});
    for (int64_t g = 0; g < group_; ++g)
      tile().block({block_.count, count, a_.size, side() + g * block_.count * a_.size, packed_,
                    scores + g * seen_, group_ * seen_, false});
  }

  /// Scores to weights: what a row does not see becomes 0.
  void weigh() const {
    if (a_.options.cap > 0) cap();
    const auto softmax = row_kernels().loops[static_cast<size_t>(DType::F32)].softmax;
    const int64_t position = a_.before() + block_.first;
    const bool limited = a_.first_seen(position + block_.count - 1) > 0;
    for (int64_t row = 0; row < rows_; ++row) {
      float* scores = scores_ + row * seen_;
      const int64_t self = position + row / group_, end = self + 1 - block_.begin;
      if (!limited) {
        std::fill(scores + end, scores + seen_, -std::numeric_limits<float>::infinity());
        continue;
      }
      const int64_t begin = a_.first_seen(self) - block_.begin;
      softmax({scores + begin, 1, end - begin, scores + begin, false, softmax_, nullptr, nullptr, 0});
      std::fill(scores, scores + begin, 0.0f);
      std::fill(scores + end, scores + seen_, 0.0f);
    }
    if (!limited) softmax({scores_, rows_, seen_, scores_, false, softmax_, nullptr, nullptr, 0});
  }

  /// What the weights make of a part's values.
  void mix(int64_t part) const {
    const Cached& values = a_.values;
    const auto [from, count] = positions(part);
    const float* weights = scores_ + from - block_.begin;
    if (thin_) {
      gemm_vectors().lines[values.dtype]({rows_, a_.size, count, values.at(kv_head_, from), values.row,
                                          weights, seen_, mixed(part), a_.size});
      return;
    }
    gemm_packs().pack[values.dtype](
        {values.at(kv_head_, from), 1, values.row, a_.size, count, tile().nr, tile().lanes, packed_});
    for (int64_t g = 0; g < group_; ++g) {
      pack_rows(weights + g * seen_, group_ * seen_, count, side());
      tile().block(
          {block_.count, a_.size, count, side(), packed_, out() + g * a_.size, a_.heads * a_.size, part > 0});
    }
  }

  /// The results of few rows, of their parts.
  void join() const {
    for (int64_t row = 0; row < rows_; ++row) {
      float* to = out() + row / group_ * a_.heads * a_.size + row % group_ * a_.size;
      std::copy_n(mixed(0) + row * a_.size, a_.size, to);
      for (int64_t part = 1; part < block_.parts(); ++part) {
        const float* more = mixed(part) + row * a_.size;
        for (int64_t i = 0; i < a_.size; ++i) to[i] += more[i];
      }
    }
  }

 private:
  struct Positions {
    int64_t from, count;
  };
  Positions positions(int64_t part) const {
    const int64_t at = (block_.begin / kKeys + part) * kKeys, from = std::max(block_.begin, at);
    return {from, std::min(block_.end, at + kKeys) - from};
  }

  float* side() const { return packed_ + side_at(a_); }
  float* mixed(int64_t part) const { return packed_ + part * padded_rows(a_, block_) * a_.size; }
  float* out() const { return a_.out + (block_.first * a_.heads + kv_head_ * group_) * a_.size; }

  void scale_queries() const {
    const AffineLoop loop = compare_kernels().affine[static_cast<size_t>(DType::F32)];
    const auto factor = static_cast<float>(a_.options.scale);
    const float zero = 0;
    float* to = queries_;
    const bool dense = a_.q_head == a_.size;
    const int64_t heads = dense ? group_ : 1, run = heads * a_.size;
    for (int64_t t = 0; t < block_.count; ++t)
      for (int64_t g = 0; g < group_; g += heads, to += run)
        loop(a_.q + (block_.first + t) * a_.q_token + (kv_head_ * group_ + g) * a_.q_head, to, run, &factor,
             &zero, false);
    std::fill(to, queries_ + padded_rows(a_, block_) * a_.size, 0.0f);
  }

  /// The block's rows of one head, `stride` apart, as panels of A.
  void pack_rows(const float* from, int64_t stride, int64_t k, float* to) const {
    gemm_packs().pack[static_cast<size_t>(DType::F32)]({from, stride, 1, block_.count, k, tile().mr, 1, to});
  }

  void cap() const {
    const AffineLoop affine = compare_kernels().affine[static_cast<size_t>(DType::F32)];
    const UnaryLoop tanh = unary_float_kernels().f32[static_cast<size_t>(UnaryOp::Tanh)];
    const auto cap = static_cast<float>(a_.options.cap), inverse = 1 / cap;
    const float zero = 0;
    float* scores = scores_;
    affine(scores, scores, rows_ * seen_, &inverse, &zero, false);
    tanh(scores, scores, rows_ * seen_, 0, false);
    affine(scores, scores, rows_ * seen_, &cap, &zero, false);
  }

  const Attention& a_;
  const int64_t kv_head_;
  const Block& block_;
  const int64_t group_, rows_, seen_;
  const bool thin_;
  float *const queries_, *const scores_, *const softmax_, *const packed_;
};

/// A token on its way to its attention.
class Entry {
 public:
  /// Queries come to lie at `rotated`, the key and value at the end of keys and values.
  Entry(const Attention& a, const NextToken& next, const Target& keys, const Target& values, float* rotated)
      : a_(a),
        next_(next),
        keys_(keys),
        values_(values),
        rotated_(rotated),
        half_(next.cos.layout->dim(2)),
        rotate_(rope_kernels().loops[static_cast<size_t>(DType::F32)][static_cast<size_t>(next.pairs)]),
        store_(conversion(DType::F32, keys.dtype)) {}

  /// The queries that share a head of keys, and its key and value.
  void enter(int64_t kv_head) const {
    rotate(next_.query, kv_head * a_.group(), a_.group(), rotated_ + kv_head * a_.group() * a_.size);
    std::array<float, kGemmBlockMost> key;
    rotate(next_.key, kv_head, 1, key.data());
    store(key.data(), keys_, kv_head);
    store(floats(next_.value) + kv_head * a_.size, values_, kv_head);
  }

 private:
  static const float* floats(const Operand& x) { return reinterpret_cast<const float*>(x.data()); }
  void rotate(const Operand& x, int64_t head, int64_t heads, float* to) const {
    const int64_t at = a_.before() * half_;
    rotate_({floats(x) + head * a_.size, a_.size, floats(next_.cos) + at, floats(next_.sin) + at, 0, heads,
             a_.size, half_, to, false});
  }
  void store(const float* from, const Target& cache, int64_t kv_head) const {
    const int64_t at = kv_head * cache.layout->stride(0) + a_.before() * cache.layout->stride(1);
    std::byte* const to = cache.data() + at * static_cast<int64_t>(dtype_bytes(cache.dtype, 1));
    if (store_ == nullptr)
      std::memcpy(to, from, static_cast<size_t>(a_.size) * sizeof(float));
    else
      store_(from, to, a_.size);
  }

  const Attention& a_;
  const NextToken& next_;
  const Target &keys_, &values_;
  float* rotated_;
  int64_t half_;
  RopeLoop rotate_;
  CastLoop store_;
};

/// Few rows with a long past and with heads that do not go evenly on the threads, which then share each past.
void in_parts(const Attention& a, const Block& block) {
  const TaskMemory memory(a, block);
  const Scratch<float> floats(a.kv_heads * memory.all);
  std::vector<Task> tasks;
  tasks.reserve(static_cast<size_t>(a.kv_heads));
  for (int64_t head = 0; head < a.kv_heads; ++head)
    tasks.emplace_back(a, head, block, memory, floats.data() + head * memory.all).begin();
  const int64_t parts = block.parts();
  const auto each_part = [&](auto step) {
    ThreadPool::global().parallel_for(a.kv_heads * parts, [&](int64_t index) {
      step(tasks[static_cast<size_t>(index / parts)], index % parts);
    });
  };
  each_part([](const Task& task, int64_t part) { task.score(part); });
  ThreadPool::global().parallel_for(a.kv_heads,
                                    [&](int64_t head) { tasks[static_cast<size_t>(head)].weigh(); });
  each_part([](const Task& task, int64_t part) { task.mix(part); });
  for (const Task& task : tasks) task.join();
}

Attention attention_of(const Operand& queries, const Operand& keys, const Operand& values,
                       const AttentionOptions& options, const Target& out) {
  const Shape &q = queries.layout->shape(), &k = keys.layout->shape();
  return {reinterpret_cast<const float*>(queries.data()),
          queries.layout->stride(0),
          queries.layout->stride(1),
          Cached(keys),
          Cached(values),
          reinterpret_cast<float*>(out.data()),
          q[0],
          q[1],
          k[0],
          k[1],
          q[2],
          options};
}

/// All heads and tokens, of one token after its entry, if any.
void attend(const Attention& a, const Entry* entry) {
  const std::vector<Block> blocks = blocks_of(a);
  const auto count = static_cast<int64_t>(blocks.size());
  const bool worth = 2 * a.tokens * a.heads * a.positions * a.size >= kSerialWork;
  const int64_t threads = worth ? ThreadPool::global().threads() : 1;
  if (count == 1 && blocks[0].parts() > 1 && a.kv_heads % threads != 0 && is_thin(a, blocks[0])) {
    for (int64_t head = 0; entry != nullptr && head < a.kv_heads; ++head) entry->enter(head);
    return in_parts(a, blocks[0]);
  }
  const auto task = [&](int64_t index) {
    const Block& block = blocks[static_cast<size_t>(index % count)];
    const TaskMemory memory(a, block);
    if (entry != nullptr) entry->enter(index);
    const Scratch<float> floats(memory.all);
    Task(a, index / count, block, memory, floats.data()).run();
  };
  if (threads > 1) return ThreadPool::global().parallel_for(a.kv_heads * count, task);
  for (int64_t index = 0; index < a.kv_heads * count; ++index) task(index);
}

}  // namespace

bool CpuBackend::attends(int64_t size) const { return size <= kGemmBlockMost; }

void CpuBackend::attention(const Operand& queries, const Operand& keys, const Operand& values,
                           const AttentionOptions& options, const Target& out) {
  attend(attention_of(queries, keys, values, options, out), nullptr);
}

void CpuBackend::attention_of_next(const NextToken& next, const Target& keys, const Target& values,
                                   const AttentionOptions& options, const Target& out) {
  Attention a = attention_of(next.query, {keys.storage, keys.layout, keys.dtype},
                             {values.storage, values.layout, values.dtype}, options, out);
  const Scratch<float> rotated(a.heads * a.size);
  const Entry entry(a, next, keys, values, rotated.data());
  a.q = rotated.data();
  attend(a, &entry);
}

}  // namespace beeswax::cpu
