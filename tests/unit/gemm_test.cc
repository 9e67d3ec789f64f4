// SPDX-License-Identifier: Apache-2.0
// The CPU's matrix product against long double sums with the error bound gamma_k |A||B|, and its promise that
// bits depend on k alone: not on threads, instruction-set level, strides, nor the other rows and columns.
#include "backends/cpu/gemm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "backends/cpu/isa.h"
#include "core/thread_pool.h"

namespace beeswax::cpu {
namespace {

// A matrix in memory with the strides under test.
template <class T>
struct Matrix {
  std::vector<T> data;
  int64_t row = 0, col = 0;
  const T& at(int64_t i, int64_t j) const { return data[static_cast<size_t>(i * row + j * col)]; }
};

enum class Kind { RowMajor, Transposed, WideRows, WideColumns, Every2nd, SameRow, SameColumn, Scalar };
constexpr Kind kKinds[] = {Kind::RowMajor, Kind::Transposed, Kind::WideRows,   Kind::WideColumns,
                           Kind::Every2nd, Kind::SameRow,    Kind::SameColumn, Kind::Scalar};

template <class T>
T random_value(std::mt19937& random) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>((uint64_t{random()} << 32) | random());
  } else if constexpr (std::is_same_v<T, double>) {
    return std::uniform_real_distribution<double>(-1, 1)(random);
  } else {
    return T(std::uniform_real_distribution<float>(-1, 1)(random));
  }
}

template <class T>
Matrix<T> make(int64_t rows, int64_t cols, Kind kind, std::mt19937& random) {
  Matrix<T> m;
  switch (kind) {
    case Kind::RowMajor:
      m.row = cols, m.col = 1;
      break;
    case Kind::Transposed:
      m.row = 1, m.col = rows;
      break;
    case Kind::WideRows:
      m.row = cols + 3, m.col = 1;
      break;
    case Kind::WideColumns:
      m.row = 1, m.col = rows + 5;
      break;
    case Kind::Every2nd:
      m.row = 2 * cols + 1, m.col = 2;
      break;
    case Kind::SameRow:
      m.row = 0, m.col = 1;
      break;
    case Kind::SameColumn:
      m.row = 1, m.col = 0;
      break;
    case Kind::Scalar:
      break;
  }
  const int64_t size = rows == 0 || cols == 0 ? 0 : (rows - 1) * m.row + (cols - 1) * m.col + 1;
  m.data.resize(static_cast<size_t>(size));
  for (T& x : m.data) x = random_value<T>(random);
  return m;
}

template <class T>
std::vector<T> multiply(const Matrix<T>& a, const Matrix<T>& b, int64_t m, int64_t n, int64_t k,
                        int64_t c_row = 0, int64_t panel_bytes = kPanelBytes) {
  if (c_row == 0) c_row = n;
  std::vector<T> c(static_cast<size_t>(m * c_row));
  if (!c.empty()) std::memset(static_cast<void*>(c.data()), 0x5a, c.size() * sizeof(T));
  gemm({.types = kDTypeOf<T>,
        .m = m,
        .n = n,
        .k = k,
        .a = a.data.data(),
        .a_row = a.row,
        .a_col = a.col,
        .b = b.data.data(),
        .b_row = b.row,
        .b_col = b.col,
        .c = c.data(),
        .c_row = c_row,
        .panel_bytes = panel_bytes});
  return c;
}

template <class T>
long double wide(T x) {
  if constexpr (std::is_arithmetic_v<T>) {
    return x;
  } else {
    return static_cast<float>(x);
  }
}

// The largest |got - exact| / bound over C, where bound is gamma_k (|A||B|) of the accumulation type, and for
// halves also one rounding of the result: `unit` relative, `tiny` absolute (subnormal spacing / 2).
template <class T>
long double worst_error(const Matrix<T>& a, const Matrix<T>& b, const std::vector<T>& c, int64_t m, int64_t n,
                        int64_t k) {
  const bool half = sizeof(T) < 4;
  const long double u = std::is_same_v<T, double> ? 0x1p-53L : 0x1p-24L;
  const long double gamma = static_cast<long double>(k) * u / (1 - static_cast<long double>(k) * u);
  const long double unit = std::is_same_v<T, f16> ? 0x1p-11L : std::is_same_v<T, bf16> ? 0x1p-8L : 0x1p-4L;
  const long double tiny = std::is_same_v<T, f16> ? 0x1p-25L : std::is_same_v<T, bf16> ? 0x1p-134L : 0x1p-10L;
  long double worst = 0;
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      long double sum = 0, size = 0;
      for (int64_t p = 0; p < k; ++p) {
        const long double x = wide(a.at(i, p)) * wide(b.at(p, j));
        sum += x;
        size += std::abs(x);
      }
      // One f32 subnormal per operation covers underflow inside the chain.
      long double bound = gamma * size + static_cast<long double>(k) * 0x1p-149L;
      if (half) bound += unit * (std::abs(sum) + bound) + tiny;
      const long double got = wide(c[static_cast<size_t>(i * n + j)]);
      const long double exact = std::is_same_v<T, f8e4m3> ? std::clamp(sum, -448.0L, 448.0L) : sum;
      worst = std::max(worst, std::abs(got - exact) / bound);
    }
  }
  return worst;
}

template <class T>
void expect_product(int64_t m, int64_t n, int64_t k, Kind kind_a, Kind kind_b, uint32_t seed) {
  std::mt19937 random(seed);
  const Matrix<T> a = make<T>(m, k, kind_a, random);
  const Matrix<T> b = make<T>(k, n, kind_b, random);
  const std::vector<T> c = multiply(a, b, m, n, k);
  const auto where = [&] {
    return testing::Message() << "m " << m << " n " << n << " k " << k << " kinds "
                              << static_cast<int>(kind_a) << " " << static_cast<int>(kind_b);
  };
  if constexpr (std::is_integral_v<T>) {
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        uint64_t sum = 0;
        for (int64_t p = 0; p < k; ++p)
          sum += static_cast<uint64_t>(a.at(i, p)) * static_cast<uint64_t>(b.at(p, j));
        ASSERT_EQ(c[static_cast<size_t>(i * n + j)], static_cast<T>(sum))
            << where() << " at " << i << " " << j;
      }
    }
  } else {
    ASSERT_LE(worst_error(a, b, c, m, n, k), 1) << where();
  }
}

// Runs `body` at every level this machine has.
template <class F>
void at_every_level(F&& body) {
  const Isa before = isa();
  for (Isa level : {Isa::base, Isa::v3, Isa::v4}) {
    if (level > best_isa()) continue;
    set_isa(level);
    SCOPED_TRACE(isa_name(level));
    body();
  }
  set_isa(before);
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

template <class T>
class GemmOf : public testing::Test {};
using AllTypes =
    testing::Types<uint8_t, uint32_t, int16_t, int32_t, int64_t, bf16, f16, float, double, f8e4m3>;
TYPED_TEST_SUITE(GemmOf, AllTypes);

TYPED_TEST(GemmOf, EveryLengthOfK) {
  at_every_level([] {
    for (int64_t k : {0, 1, 2, 3, 7, 15, 16, 17, 64, 255, 256, 257, 511, 512, 513, 767, 768, 769, 1000, 1025})
      for (int64_t m : {1, 2, 15}) expect_product<TypeParam>(m, 33, k, Kind::RowMajor, Kind::RowMajor, 1);
  });
}

TYPED_TEST(GemmOf, EveryStrideKind) {
  at_every_level([] {
    for (Kind a : kKinds)
      for (Kind b : kKinds)
        for (int64_t m : {1, 17, 37})
          for (int64_t n : {1, 35}) expect_product<TypeParam>(m, n, 70, a, b, 2);
  });
}

// Rows and columns 1 to twice the largest register tile and one more.
TYPED_TEST(GemmOf, EveryRemainder) {
  at_every_level([] {
    for (int64_t m = 1; m <= 29; ++m)
      for (int64_t n = 1; n <= 65; n += isa() == Isa::base ? 7 : 1)
        expect_product<TypeParam>(m, n, 5, m % 2 == 0 ? Kind::RowMajor : Kind::Transposed,
                                  n % 2 == 0 ? Kind::Transposed : Kind::RowMajor, 3);
  });
}

TYPED_TEST(GemmOf, LargeEnoughForManyTiles) {
  at_every_level([] {
    if (isa() == Isa::base) return expect_product<TypeParam>(150, 150, 40, Kind::RowMajor, Kind::RowMajor, 4);
    expect_product<TypeParam>(301, 515, 270, Kind::RowMajor, Kind::Transposed, 4);
    expect_product<TypeParam>(515, 270, 301, Kind::Transposed, Kind::RowMajor, 5);
    expect_product<TypeParam>(2300, 40, 30, Kind::RowMajor, Kind::RowMajor, 6);
    expect_product<TypeParam>(5, 4500, 30, Kind::RowMajor, Kind::RowMajor, 7);
  });
}

TYPED_TEST(GemmOf, BitsDependOnKAlone) {
  std::mt19937 random(8);
  const int64_t m = 67, n = 131, k = 777;
  const Matrix<TypeParam> a = make<TypeParam>(m, k, Kind::RowMajor, random);
  const Matrix<TypeParam> b = make<TypeParam>(k, n, Kind::RowMajor, random);
  const std::vector<TypeParam> want = multiply(a, b, m, n, k);
  const int threads = ThreadPool::global().threads();
  at_every_level([&] {
    for (int count : {1, 2, 3, 5}) {
      ThreadPool::global().set_threads(count);
      EXPECT_TRUE(same_bits(multiply(a, b, m, n, k), want)) << count << " threads";
    }
    ThreadPool::global().set_threads(threads);
    // All of B at a time, a panel, and a few.
    for (const int64_t bytes : {0, 1, 120'000})
      EXPECT_TRUE(same_bits(multiply(a, b, m, n, k, 0, bytes), want)) << bytes << " bytes of panels";
    // The same numbers behind other strides.
    Matrix<TypeParam> at = a, bt = b, aw = a;
    at.row = 1, at.col = m;
    bt.row = 1, bt.col = k;
    aw.row = 2 * k + 1, aw.col = 2;
    aw.data.resize(static_cast<size_t>(m * aw.row));
    for (int64_t i = 0; i < m; ++i)
      for (int64_t p = 0; p < k; ++p) {
        at.data[static_cast<size_t>(i + p * m)] = a.at(i, p);
        aw.data[static_cast<size_t>(i * aw.row + p * 2)] = a.at(i, p);
      }
    for (int64_t p = 0; p < k; ++p)
      for (int64_t j = 0; j < n; ++j) bt.data[static_cast<size_t>(p + j * k)] = b.at(p, j);
    EXPECT_TRUE(same_bits(multiply(at, bt, m, n, k), want));
    EXPECT_TRUE(same_bits(multiply(aw, bt, m, n, k), want));
    EXPECT_TRUE(same_bits(multiply(at, b, m, n, k), want));
    // Some rows and some columns alone.
    for (int64_t rows : {1, 2, 5, 20}) {
      const std::vector<TypeParam> head(want.begin(), want.begin() + static_cast<std::ptrdiff_t>(rows * n));
      EXPECT_TRUE(same_bits(multiply(a, b, rows, n, k), head)) << rows << " rows";
      EXPECT_TRUE(same_bits(multiply(a, bt, rows, n, k), head)) << rows << " rows, B transposed";
    }
    const std::vector<TypeParam> column = multiply(a, b, m, 1, k);
    const std::vector<TypeParam> column_t = multiply(at, bt, m, 1, k);
    for (int64_t i = 0; i < m; ++i) {
      const auto at_i = static_cast<size_t>(i);
      EXPECT_EQ(std::memcmp(&column[at_i], &want[static_cast<size_t>(i * n)], sizeof(TypeParam)), 0) << i;
      EXPECT_EQ(std::memcmp(&column_t[at_i], &want[static_cast<size_t>(i * n)], sizeof(TypeParam)), 0) << i;
    }
  });
}

TYPED_TEST(GemmOf, LongKIsOneOrderToo) {
  std::mt19937 random(9);
  const int64_t k = 70000;  // several slabs
  const Matrix<TypeParam> a = make<TypeParam>(3, k, Kind::RowMajor, random);
  const Matrix<TypeParam> b = make<TypeParam>(k, 40, Kind::RowMajor, random);
  const std::vector<TypeParam> all = multiply(a, b, 3, 40, k);
  const std::vector<TypeParam> one = multiply(a, b, 1, 40, k);
  const std::vector<TypeParam> corner = multiply(a, b, 1, 1, k);
  EXPECT_EQ(std::memcmp(all.data(), one.data(), one.size() * sizeof(TypeParam)), 0);
  EXPECT_EQ(std::memcmp(all.data(), corner.data(), sizeof(TypeParam)), 0);
  if constexpr (!std::is_integral_v<TypeParam>) {
    EXPECT_LE(worst_error(a, b, all, 3, 40, k), 1);
  }
}

// The documented order, computed plainly.
void expect_chains(int64_t k, int64_t block) {
  std::mt19937 random(10);
  const int64_t m = 4, n = 37;
  const Matrix<float> a = make<float>(m, k, Kind::RowMajor, random);
  const Matrix<float> b = make<float>(k, n, Kind::Transposed, random);
  std::vector<float> want;
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      float total = 0;
      for (int64_t first = 0; first < k; first += block) {
        float sum = 0;
        for (int64_t p = first; p < std::min(k, first + block); ++p)
          sum = std::fma(a.at(i, p), b.at(p, j), sum);
        total = first == 0 ? sum : total + sum;
      }
      want.push_back(total);
    }
  }
  at_every_level([&] { EXPECT_TRUE(same_bits(multiply(a, b, m, n, k), want)) << k; });
}

TEST(Gemm, FollowsTheDocumentedOrder) {
  // Lengths of k, and of the chains that they are cut into.
  for (const auto& [k, block] :
       {std::pair<int64_t, int64_t>{700, 700}, {768, 768}, {769, 400}, {1300, 656}, {1536, 768}, {1537, 528}})
    expect_chains(k, block);
}

TYPED_TEST(GemmOf, BatchesBroadcast) {
  std::mt19937 random(11);
  for (const auto& [m, n, k] : {std::array<int64_t, 3>{3, 5, 7}, {1, 40, 64}, {70, 90, 110}}) {
    // A is [2, 1, 3, m, k], B is [1, 4, 3, k, n] with its last batch axis reversed in memory order.
    std::vector<TypeParam> a(static_cast<size_t>(6 * m * k)), b(static_cast<size_t>(12 * k * n));
    for (auto& x : a) x = random_value<TypeParam>(random);
    for (auto& x : b) x = random_value<TypeParam>(random);
    std::vector<TypeParam> c(static_cast<size_t>(24 * m * n));
    GemmArgs args{.types = kDTypeOf<TypeParam>,
                  .m = m,
                  .n = n,
                  .k = k,
                  .a = a.data(),
                  .a_row = k,
                  .a_col = 1,
                  .b = b.data(),
                  .b_row = n,
                  .b_col = 1,
                  .c = c.data(),
                  .c_row = n,
                  .batch_rank = 3,
                  .batch = {2, 4, 3},
                  .a_batch = {3 * m * k, 0, m * k},
                  .b_batch = {0, k * n, 4 * k * n},
                  .c_batch = m * n};
    gemm(args);
    for (int64_t x = 0; x < 2; ++x)
      for (int64_t y = 0; y < 4; ++y)
        for (int64_t z = 0; z < 3; ++z) {
          Matrix<TypeParam> one{{}, k, 1}, two{{}, n, 1};
          const auto begin_a = a.begin() + static_cast<std::ptrdiff_t>((x * 3 + z) * m * k);
          const auto begin_b = b.begin() + static_cast<std::ptrdiff_t>((z * 4 + y) * k * n);
          one.data.assign(begin_a, begin_a + static_cast<std::ptrdiff_t>(m * k));
          two.data.assign(begin_b, begin_b + static_cast<std::ptrdiff_t>(k * n));
          const auto begin_c = c.begin() + static_cast<std::ptrdiff_t>(((x * 4 + y) * 3 + z) * m * n);
          const std::vector<TypeParam> got(begin_c, begin_c + static_cast<std::ptrdiff_t>(m * n));
          EXPECT_TRUE(same_bits(got, multiply(one, two, m, n, k))) << x << y << z;
        }
  }
}

TYPED_TEST(GemmOf, LeavesTheGapsBetweenRowsAlone) {
  std::mt19937 random(12);
  at_every_level([&] {
    for (int64_t m : {1, 20}) {
      for (int64_t n : {1, 5, 33}) {
        const Matrix<TypeParam> a = make<TypeParam>(m, 9, Kind::RowMajor, random);
        const Matrix<TypeParam> b = make<TypeParam>(9, n, Kind::RowMajor, random);
        const std::vector<TypeParam> dense = multiply(a, b, m, n, 9);
        const std::vector<TypeParam> spread = multiply(a, b, m, n, 9, n + 3);
        TypeParam mark;
        std::memset(static_cast<void*>(&mark), 0x5a, sizeof(mark));
        for (int64_t i = 0; i < m; ++i)
          for (int64_t j = 0; j < n + 3; ++j) {
            const TypeParam& want = j < n ? dense[static_cast<size_t>(i * n + j)] : mark;
            EXPECT_EQ(std::memcmp(&spread[static_cast<size_t>(i * (n + 3) + j)], &want, sizeof(want)), 0);
          }
      }
    }
  });
}

TEST(Gemm, NanAndInfinityStayInTheirRowsAndColumns) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  std::mt19937 random(13);
  at_every_level([&] {
    for (int64_t m : {1, 2, 16, 30}) {
      for (Kind kind : {Kind::RowMajor, Kind::Transposed}) {
        const int64_t n = 37, k = 300;
        Matrix<float> a = make<float>(m, k, Kind::RowMajor, random);
        Matrix<float> b = make<float>(k, n, kind, random);
        a.data[static_cast<size_t>((m - 1) * k + 299)] = std::numeric_limits<float>::quiet_NaN();
        b.data[static_cast<size_t>(5 * b.row + 36 * b.col)] = kInf;
        const std::vector<float> c = multiply(a, b, m, n, k);
        for (int64_t i = 0; i < m; ++i)
          for (int64_t j = 0; j < n; ++j) {
            const float x = c[static_cast<size_t>(i * n + j)];
            if (i == m - 1) {
              EXPECT_TRUE(std::isnan(x));
            } else if (j == 36) {
              EXPECT_EQ(std::abs(x), kInf);
            } else {
              EXPECT_TRUE(std::isfinite(x));
            }
          }
      }
    }
  });
}

// Halves are rounded once, from a sum that does not overflow or lose small terms on the way.
TEST(Gemm, HalvesAccumulateInFloat) {
  Matrix<f16> a{{f16(60000.0f), f16(60000.0f), f16(-60000.0f), f16(-60000.0f), f16(0.0009765625f)}, 5, 1};
  Matrix<f16> b{{f16(1.0f), f16(1.0f), f16(1.0f), f16(1.0f), f16(1.0f)}, 1, 1};
  at_every_level([&] { EXPECT_EQ(static_cast<float>(multiply(a, b, 1, 1, 5)[0]), 0.0009765625f); });
  Matrix<bf16> c{std::vector<bf16>(4096, bf16(1.0f)), 4096, 1};
  Matrix<bf16> d{std::vector<bf16>(4096, bf16(1.0f)), 1, 1};
  at_every_level([&] { EXPECT_EQ(static_cast<float>(multiply(c, d, 1, 1, 4096)[0]), 4096.0f); });
}

}  // namespace
}  // namespace beeswax::cpu
