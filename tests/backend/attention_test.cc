// SPDX-License-Identifier: Apache-2.0
// nn::attention against the definition in f64: shared heads, windows, caps, a past, as many queries that they
// are cut into blocks, and the bits of rows that come with others.
#include "nn/attention.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "core/thread_pool.h"
#include "support/devices.h"
#include "support/expect_error.h"
#include "support/isa_levels.h"

namespace beeswax {
namespace {

constexpr int64_t kSize = 16;

std::vector<float> normal_values(int64_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> out(static_cast<size_t>(count));
  for (float& value : out) value = normal(random);
  return out;
}

struct Case {
  int64_t tokens, before, window;
  double cap;
  DType dtype;  // of keys and values
  int64_t heads = 4, kv_heads = 2, size = kSize;
};

// The result of one query and head.
std::vector<double> by_hand(const Case& c, const AttentionOptions& options, const float* query,
                            int64_t position, const float* keys, const float* values) {
  const int64_t first = options.window > 0 ? std::max<int64_t>(0, position + 1 - options.window) : 0;
  std::vector<double> weights;
  double total = 0;
  for (int64_t p = first; p <= position; ++p) {
    double score = 0;
    for (int64_t i = 0; i < c.size; ++i)
      score += static_cast<double>(query[i]) * static_cast<double>(keys[p * c.size + i]);
    score *= options.scale;
    if (c.cap > 0) score = c.cap * std::tanh(score / c.cap);
    weights.push_back(std::exp(score));
    total += weights.back();
  }
  std::vector<double> out(static_cast<size_t>(c.size));
  for (int64_t p = first; p <= position; ++p)
    for (int64_t i = 0; i < c.size; ++i)
      out[static_cast<size_t>(i)] +=
          weights[static_cast<size_t>(p - first)] / total * static_cast<double>(values[p * c.size + i]);
  return out;
}

// What attention is asked.
struct Question {
  Tensor queries, keys, values;
  AttentionOptions options;

  explicit Question(const Case& c) : options{1 / std::sqrt(static_cast<double>(c.size)), c.window, c.cap} {
    const int64_t positions = c.before + c.tokens;
    const auto cached = [&](uint32_t seed) {
      return Tensor::from_vec(normal_values(c.kv_heads * positions * c.size, seed),
                              {c.kv_heads, positions, c.size})
          .to_dtype(c.dtype);
    };
    queries = Tensor::from_vec(normal_values(c.tokens * c.heads * c.size, 1), {c.tokens, c.heads, c.size});
    keys = cached(2);
    values = cached(3);
  }
  /// The answer for tokens [first, first + count), which come alone.
  Tensor part(int64_t first, int64_t count) const {
    const int64_t seen = keys.dim(1) - queries.dim(0) + first + count;
    return nn::attention(queries.narrow(0, first, count), keys.narrow(1, 0, seen), values.narrow(1, 0, seen),
                         options);
  }
};

void check(const Case& c) {
  const Question question(c);
  const std::vector<float> q = question.queries.to_vec<float>();
  const std::vector<float> k = question.keys.to_dtype(DType::F32).to_vec<float>();
  const std::vector<float> v = question.values.to_dtype(DType::F32).to_vec<float>();
  const Tensor result = question.part(0, c.tokens);
  ASSERT_EQ(result.shape(), (Shape{c.tokens, c.heads * c.size}));
  const std::vector<float> got = result.to_vec<float>();
  for (int64_t row = 0; row < c.tokens * c.heads; ++row) {
    const int64_t of_head = row % c.heads / (c.heads / c.kv_heads) * (c.before + c.tokens) * c.size;
    const std::vector<double> want =
        by_hand(c, question.options, q.data() + row * c.size, c.before + row / c.heads, k.data() + of_head,
                v.data() + of_head);
    // Means of numbers below 5; scores below 16 are off by less than 1e-5.
    for (int64_t i = 0; i < c.size; ++i)
      ASSERT_NEAR(got[static_cast<size_t>(row * c.size + i)], want[static_cast<size_t>(i)], 5e-5)
          << "token " << row / c.heads << " of " << c.tokens << " behind " << c.before << ", window "
          << c.window << ", cap " << c.cap << ", " << c.heads << " heads on " << c.kv_heads << " of "
          << c.size;
  }
}

TEST(Attention, IsTheDefinition) {
  for (const int64_t tokens : {1, 2, 63, 64, 65, 130})
    for (const int64_t before : {0, 70})
      for (const int64_t window : {0, 1, 40, 1000}) check({tokens, before, window, 0, DType::F32});
}

TEST(Attention, CapsScoresAndReadsHalves) {
  for (const DType dtype : {DType::F32, DType::F16, DType::BF16})
    for (const int64_t tokens : {1, 70})
      for (const int64_t window : {0, 9}) check({tokens, 33, window, 2, dtype});
}

TEST(Attention, HeadsOfAnyNumberAndSize) {
  struct Heads {
    int64_t heads, kv_heads, size;
  };
  for (const Heads& h : {Heads{1, 1, 1}, Heads{3, 3, 7}, Heads{2, 2, 64}, Heads{9, 1, 80}, Heads{16, 2, 33},
                         Heads{2, 1, 256}, Heads{2, 1, 769}})
    for (const int64_t tokens : {1, 5, 30})
      check({tokens, 20, 0, 0, DType::F32, h.heads, h.kv_heads, h.size});
}

// Past the places where keys and the sums of softmax are cut.
TEST(Attention, LongPasts) {
  for (const int64_t before : {505, 511, 512, 1020})
    for (const int64_t window : {0, 500, 600})
      for (const int64_t tokens : {1, 10}) check({tokens, before, window, 0, DType::F16, 2, 1, kSize});
}

// So many scores that a block has few tokens.
TEST(Attention, PastsWhoseScoresFillCaches) {
  if (test::on_software_gpu()) GTEST_SKIP() << "minutes there";
  for (const int64_t window : {0, 2500}) check({40, 3050, window, 0, DType::F32, 8, 1, kSize});
}

// What lies before a window is not looked at.
TEST(Attention, PositionsBeforeTheWindowMayBeAnything) {
  Question question({1, 700, 100, 0, DType::F32});
  const auto spoil = [](const Tensor& x) {
    std::vector<float> values = x.to_vec<float>();
    for (size_t i = 0; i < static_cast<size_t>(600 * kSize); ++i) values[i] = NAN;
    return Tensor::from_vec(values, x.shape());
  };
  const std::vector<float> want = question.part(0, 1).to_vec<float>();
  question.keys = spoil(question.keys);
  question.values = spoil(question.values);
  EXPECT_EQ(question.part(0, 1).to_vec<float>(), want);
}

TEST(Attention, QueriesAndCachesOfAnyStrides) {
  const Question dense({70, 30, 0, 0, DType::F16});
  Question strided = dense;
  strided.queries = dense.queries.transpose(0, 1).copy().transpose(0, 1);
  strided.keys = dense.keys.transpose(0, 2).copy().transpose(0, 2);
  const Tensor both = Tensor::cat({dense.values, dense.values}, 1);
  strided.values = both.narrow(1, 0, 100);
  EXPECT_EQ(strided.part(0, 70).to_bytes(), dense.part(0, 70).to_bytes());
}

// Whether a token comes alone, with a few or with all, at any level and with any number of threads.
TEST(Attention, RowsDoNotDependOnTheirBatch) {
  if (!test::on_cpu()) GTEST_SKIP() << "the promise of the CPU alone";
  for (const int64_t window : {0, 1, 300, 520})
    for (const DType dtype : {DType::F32, DType::F16}) {
      const int64_t tokens = 150;
      const Question question({tokens, 450, window, window == 300 ? 5.0 : 0.0, dtype});
      std::vector<std::byte> first;
      at_every_level([&](cpu::Isa level) {
        with_threads({1, 3}, [&](int threads) {
          for (const int64_t together : {tokens, int64_t{1}, int64_t{2}, int64_t{37}}) {
            std::vector<Tensor> parts;
            for (int64_t t = 0; t < tokens; t += together)
              parts.push_back(question.part(t, std::min(together, tokens - t)));
            const std::vector<std::byte> got = Tensor::cat(parts, 0).to_bytes();
            if (first.empty()) first = got;
            EXPECT_TRUE(got == first) << "window " << window << ", " << together << " together, level "
                                      << cpu::isa_name(level) << ", " << threads << " threads";
          }
        });
      });
    }
}

// Token by token, on every device: what the cache holds and what comes out, against the operations. Both
// kinds of pairs, heads that are rotated whole and in part, heads and pasts that threads share.
TEST(Attention, OfTheNextTokenIsTheOperations) {
  struct Next {
    int64_t heads, kv_heads, size, rotated, before;
    DType dtype;
    AttentionOptions options;
    RopePairs pairs;
  };
  const int64_t far = test::on_software_gpu() ? 40 : 1100;
  const Device device = Device::default_device();
  ThreadPool& pool = ThreadPool::global();
  const int threads = pool.threads();
  for (const Next& c : {Next{4, 2, 16, 16, 0, DType::F32, {0.25, 0, 0}, RopePairs::Neighbours},
                        Next{6, 3, 32, 32, 20, DType::F16, {0.2, 8, 0}, RopePairs::Halves},
                        Next{8, 1, 24, 16, 5, DType::BF16, {0.2, 0, 30}, RopePairs::Halves},
                        Next{8, 4, 64, 64, far / 4, DType::F16, {0.125, 100, 0}, RopePairs::Halves},
                        Next{3, 3, 64, 32, far, DType::F16, {0.125, 700, 0}, RopePairs::Neighbours}}) {
    pool.set_threads(2);
    const nn::Rope rope(c.rotated, c.before + 3, 10000, c.pairs, {}, device);
    nn::KvCache one(c.kv_heads, c.before + 3, c.size, c.dtype, device);
    nn::KvCache other(c.kv_heads, c.before + 3, c.size, c.dtype, device);
    const auto values = [&](const Shape& shape, uint32_t seed) {
      return Tensor::from_vec(normal_values(shape.elem_count(), seed), shape, device);
    };
    for (nn::KvCache* cache : {&one, &other})
      if (c.before > 0)
        cache->append(values({c.kv_heads, c.before, c.size}, 1), values({c.kv_heads, c.before, c.size}, 2));
    for (uint32_t token = 0; token < 3; ++token) {
      const int64_t at = c.before + token;
      const Tensor q = values({1, c.heads, c.size}, 10 + token),
                   k = values({1, c.kv_heads, c.size}, 20 + token),
                   v = values({1, c.kv_heads, c.size}, 30 + token);
      const Tensor got = nn::attention_after(one, rope, q, k, v, c.options);
      other.append(rope.apply(k, at).transpose(0, 1), v.transpose(0, 1));
      const Tensor want = nn::attention(rope.apply(q, at), other.keys(), other.values(), c.options);
      ASSERT_EQ(got.shape(), want.shape());
      EXPECT_EQ(got.to_bytes(), want.to_bytes()) << "token " << token << " of size " << c.size;
      EXPECT_EQ(one.length(), at + 1);
      EXPECT_EQ(one.keys().to_bytes(), other.keys().to_bytes());
      EXPECT_EQ(one.values().to_bytes(), other.values().to_bytes());
    }
    EXPECT_ERROR(
        nn::attention_after(one, rope, values({1, c.heads, c.size}, 1), values({1, c.kv_heads, c.size}, 2),
                            values({1, c.kv_heads, c.size}, 3), c.options),
        TooLarge, "do not fit the context of " + std::to_string(c.before + 3));
    EXPECT_EQ(one.length(), c.before + 3);
  }
  pool.set_threads(threads);
}

TEST(Attention, OfTheNextTokenSaysWhatDoesNotFit) {
  const Device device = Device::default_device();
  const nn::Rope rope(16, 4, 10000, RopePairs::Halves, {}, device);
  nn::KvCache cache(2, 8, 16, DType::F16, device);
  const auto ones = [](const Shape& shape) { return Tensor::ones(shape, DType::F32); };
  const auto ask = [&](const nn::Rope& by, const Shape& key) {
    return nn::attention_after(cache, by, ones({1, 4, 16}), ones(key), ones({1, 2, 16}), {0.25, 0, 0});
  };
  EXPECT_ERROR(ask(nn::Rope(32, 4, 10000, RopePairs::Halves, {}, device), {1, 2, 16}), ShapeMismatch,
               "[rope]");
  EXPECT_ERROR(ask(rope, {1, 2, 8}), ShapeMismatch, "");
  EXPECT_EQ(cache.length(), 0);
  for (int token = 0; token < 4; ++token) ask(rope, {1, 2, 16});
  EXPECT_ERROR(ask(rope, {1, 2, 16}), InvalidArgument, "");  // angles for four positions
  EXPECT_EQ(cache.length(), 4);
}

TEST(Attention, OfTheNextTokenReadsNoOtherDevice) {
  if (test::on_cpu()) GTEST_SKIP() << "needs another device";
  const Device cpu = Device::cpu();
  nn::KvCache cache(2, 8, 16, DType::F16, cpu);
  const nn::Rope rope(16, 4, 10000, RopePairs::Halves, {}, Device::default_device());
  const auto ones = [&](const Shape& shape) { return Tensor::ones(shape, DType::F32, cpu); };
  EXPECT_ERROR(nn::attention_after(cache, rope, ones({1, 4, 16}), ones({1, 2, 16}), ones({1, 2, 16}), {}),
               DeviceMismatch, "[rope]");
}

// One token with so long a past that threads share it, where three do not go evenly with the heads.
TEST(Attention, SharedPastsHaveTheBitsOfWholeOnes) {
  if (!test::on_cpu()) GTEST_SKIP() << "the promise of the CPU alone";
  for (const int64_t kv_heads : {1, 2})
    for (const int64_t window : {0, 1200}) {
      const int64_t tokens = 20;
      const Question question({tokens, 1530, window, 0, DType::F16, 4 * kv_heads, kv_heads, 64});
      const std::vector<std::byte> whole = question.part(0, tokens).to_bytes();
      with_threads({1, 2, 3}, [&](int threads) {
        std::vector<Tensor> rows;
        for (int64_t t = 0; t < tokens; ++t) rows.push_back(question.part(t, 1));
        EXPECT_TRUE(Tensor::cat(rows, 0).to_bytes() == whole)
            << kv_heads << " heads, window " << window << ", " << threads << " threads";
      });
    }
}

}  // namespace
}  // namespace beeswax
