// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/byte_shares.h"

#include <algorithm>
#include <cstdint>

#include "gtest/gtest.h"

namespace beeswax::cpu {
namespace {

constexpr int64_t kLeast = ByteShares::kLeastPiece, kMost = ByteShares::kMostPiece;

TEST(ByteShares, TasksAreAllBytesInOrder) {
  for (const int64_t threads : {1, 2, 3, 4, 64})
    for (const int64_t bytes : {int64_t{1}, kLeast - 1, kLeast, 2 * kLeast - 1, 2 * kLeast + 1, kMost,
                                3 * kMost + 7, int64_t{18'874'368}, int64_t{1} << 33}) {
      SCOPED_TRACE(testing::Message() << bytes << " bytes, " << threads << " threads");
      const ByteShares shares(bytes, threads);
      ASSERT_GE(shares.tasks(), 1);
      EXPECT_EQ(shares.begin(0), 0);
      EXPECT_EQ(shares.begin(shares.tasks()), bytes);
      for (int64_t task = 0; task < shares.tasks(); ++task) {
        const int64_t piece = shares.begin(task + 1) - shares.begin(task);
        ASSERT_GE(piece, 0);
        ASSERT_LE(piece, kMost);
      }
    }
}

TEST(ByteShares, NothingHasNoTasks) {
  EXPECT_EQ(ByteShares().tasks(), 0);
  EXPECT_EQ(ByteShares(0, 4).tasks(), 0);
}

TEST(ByteShares, LittleIsOneTask) { EXPECT_EQ(ByteShares(2 * kLeast - 1, 4).tasks(), 1); }

// The pool deals every thread as many tasks, and these are as many bytes.
TEST(ByteShares, ThreadsBeginWithAsMuch) {
  constexpr int64_t kThreads = 3, kBytes = 100 * kMost + 5;
  const ByteShares shares(kBytes, kThreads);
  ASSERT_EQ(shares.tasks() % kThreads, 0);
  const int64_t each = shares.tasks() / kThreads;
  for (int64_t thread = 0; thread < kThreads; ++thread) {
    const int64_t begin = shares.begin(thread * each), end = shares.begin((thread + 1) * each);
    EXPECT_NEAR(static_cast<double>(end - begin), static_cast<double>(kBytes) / kThreads, 1);
    // The last pieces halve, each but for the byte that a share may lack.
    int64_t wanted = kLeast;
    for (int64_t task = (thread + 1) * each; wanted < kMost; wanted *= 2, --task)
      EXPECT_NEAR(static_cast<double>(shares.begin(task) - shares.begin(task - 1)),
                  static_cast<double>(wanted), 1);
  }
}

TEST(ByteShares, ShortSharesHalveLess) {
  const ByteShares shares(4 * kLeast, 1);
  ASSERT_EQ(shares.tasks(), 2);
  EXPECT_EQ(shares.begin(1), 3 * kLeast);
}

}  // namespace
}  // namespace beeswax::cpu
