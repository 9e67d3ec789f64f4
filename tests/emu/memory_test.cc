// SPDX-License-Identifier: Apache-2.0
// The arena: what is inside a block and what is not, rest after free, reuse, shadow, and descriptions of
// addresses.
#include "emu/memory.h"

#include <gtest/gtest.h>

#include <random>
#include <thread>
#include <utility>
#include <vector>

using emu::HostSpace;
using emu::Memory;

namespace {

uint64_t at(void* block) { return reinterpret_cast<uint64_t>(block); }

TEST(Memory, BoundsOfABlock) {
  Memory memory(1 << 24);
  for (size_t bytes : {1u, 3u, 255u, 256u, 257u, 512u, 1000u, 65536u, 100001u}) {
    const uint64_t block = at(memory.allocate(bytes));
    EXPECT_EQ(block % 256, 0u);
    EXPECT_TRUE(memory.valid(block, bytes));
    EXPECT_TRUE(memory.valid(block + bytes - 1, 1));
    EXPECT_FALSE(memory.valid(block + bytes, 1));
    EXPECT_FALSE(memory.valid(block, bytes + 1));
    EXPECT_FALSE(memory.valid(block - 1, 1));
    EXPECT_FALSE(memory.valid(block - 1, 2));
    EXPECT_FALSE(memory.valid(block + bytes - 1, 2));
    EXPECT_EQ(memory.block_at(block + bytes - 1).address, block);
    EXPECT_EQ(memory.block_at(block + bytes).bytes, 0u);
  }
  EXPECT_FALSE(memory.valid(0, 4));
  EXPECT_FALSE(memory.valid(UINT64_MAX - 2, 4));
  int on_the_stack = 0;
  EXPECT_FALSE(memory.valid(reinterpret_cast<uint64_t>(&on_the_stack), 4));
}

TEST(Memory, AlignedBlocks) {
  Memory memory(1 << 24);
  // From many places, near and with the usual guard: no two blocks touch.
  std::vector<std::pair<uint64_t, size_t>> blocks;
  std::mt19937 random(3);
  for (int i = 0; i < 200; ++i) {
    const size_t alignment = size_t{256} << random() % 14, bytes = 1 + random() % 3000;
    const uint64_t block =
        at(random() % 2 == 0 ? memory.allocate(bytes, alignment) : memory.allocate_near(bytes, alignment));
    ASSERT_NE(block, 0u);
    EXPECT_EQ(block % alignment, 0u);
    EXPECT_TRUE(memory.valid(block, bytes));
    EXPECT_FALSE(memory.valid(block, bytes + 1));
    EXPECT_FALSE(memory.valid(block - 1, 2));
    for (const auto& [other, size] : blocks)
      EXPECT_TRUE(block + bytes + 256 <= other || other + size + 256 <= block) << block << " and " << other;
    blocks.emplace_back(block, bytes);
    if (i % 3 != 2) continue;
    EXPECT_TRUE(memory.release(reinterpret_cast<void*>(blocks[blocks.size() / 2].first)));
    blocks.erase(blocks.begin() + std::ptrdiff_t(blocks.size() / 2));
  }
  EXPECT_EQ(memory.live_blocks(), blocks.size());
}

TEST(Memory, Descriptions) {
  Memory memory(1 << 24);
  void* block = memory.allocate(4096);
  EXPECT_EQ(memory.describe(at(block) + 4096 + 16), "16 bytes past the end of an allocation of 4096 bytes");
  EXPECT_EQ(memory.describe(at(block) + 4096), "right past the end of an allocation of 4096 bytes");
  EXPECT_EQ(memory.describe(at(block)), "at the start of an allocation of 4096 bytes");
  EXPECT_EQ(memory.describe(at(block) - 8), "8 bytes before an allocation of 4096 bytes");
  EXPECT_EQ(memory.describe(at(block) + 10), "10 bytes inside an allocation of 4096 bytes");
  EXPECT_TRUE(memory.release(block));
  EXPECT_EQ(memory.describe(at(block) + 10), "10 bytes inside a freed allocation of 4096 bytes");
  EXPECT_EQ(memory.describe(16), "a null pointer");
  EXPECT_NE(memory.describe(reinterpret_cast<uint64_t>(&block)).find("not memory of this device"),
            std::string::npos);
}

TEST(Memory, FreedBlocksRest) {
  Memory memory(1 << 24);
  void* block = memory.allocate(1000);
  EXPECT_TRUE(memory.release(block));
  EXPECT_FALSE(memory.release(block)) << "a second time";
  EXPECT_FALSE(memory.release(static_cast<std::byte*>(memory.allocate(10)) + 1));
  EXPECT_FALSE(memory.valid(at(block), 1));
  for (int i = 0; i < 100; ++i) EXPECT_NE(memory.allocate(1000), block);
  void* scratch = memory.allocate(1000);
  EXPECT_TRUE(memory.release(scratch, true));
  EXPECT_EQ(memory.allocate(1000), scratch);
}

TEST(Memory, CapacityIsKeptAndComesBack) {
  Memory memory(1 << 20);
  EXPECT_EQ(memory.allocate((1 << 20) + 1), nullptr);
  for (int round = 0; round < 5000; ++round) {
    void* block = memory.allocate(1 << 20);
    ASSERT_NE(block, nullptr) << round;
    EXPECT_EQ(memory.allocate(1), nullptr);
    EXPECT_TRUE(memory.release(block));
  }
  EXPECT_EQ(memory.used(), 0u);
  EXPECT_EQ(memory.live_blocks(), 0u);
}

TEST(Memory, ShadowAndPattern) {
  Memory memory(uint64_t{1} << 26);
  for (size_t bytes : {size_t{1000}, size_t{5} << 20}) {
    for (int round = 0; round < 2; ++round) {
      auto* block = static_cast<uint8_t*>(memory.allocate(bytes));
      EXPECT_EQ(block[0], 0xff);
      EXPECT_EQ(block[bytes - 1], 0xff);
      EXPECT_EQ(*memory.initialized(at(block)), 0);
      EXPECT_EQ(*memory.initialized(at(block) + bytes - 1), 0);
      memory.mark_initialized(at(block), bytes);
      EXPECT_EQ(*memory.initialized(at(block) + bytes - 1), 1);
      EXPECT_EQ(*memory.initialized(at(block) + bytes), 0);
      EXPECT_TRUE(memory.release(block, true));  // the next round gets the same place
    }
  }
}

TEST(Memory, HostAndPeers) {
  HostSpace host(1 << 24);
  Memory one(1 << 24, &host), other(1 << 24, &host);
  void* pinned = host.pinned().allocate(100);
  EXPECT_TRUE(one.valid(at(pinned), 100));
  EXPECT_FALSE(one.valid(at(pinned), 101));
  EXPECT_EQ(one.initialized(at(pinned)), nullptr);
  EXPECT_EQ(one.describe(at(pinned) + 101),
            "1 byte past the end of an allocation of 100 bytes of pinned host memory");
  std::vector<int> mine(100);
  const auto address = reinterpret_cast<uint64_t>(mine.data());
  EXPECT_FALSE(one.valid(address, 4));
  EXPECT_TRUE(host.add(address, 400));
  EXPECT_FALSE(host.add(address + 396, 4));
  EXPECT_TRUE(one.valid(address + 396, 4));
  EXPECT_FALSE(one.valid(address + 398, 4));
  EXPECT_TRUE(host.remove(address));
  EXPECT_FALSE(one.valid(address, 4));
  void* block = other.allocate(64);
  EXPECT_FALSE(one.valid(at(block), 64));
  one.set_peer(&other, true);
  EXPECT_TRUE(one.valid(at(block), 64));
  EXPECT_EQ(one.initialized(at(block)), other.initialized(at(block)));
  one.set_peer(&other, false);
  EXPECT_FALSE(one.valid(at(block), 64));
}

// Against a plain model: the live ranges.
TEST(Memory, RandomUse) {
  Memory memory(1 << 22);
  std::mt19937 random(7);
  std::map<uint64_t, size_t> live;
  for (int step = 0; step < 20000; ++step) {
    if (live.size() < 40 && random() % 2 == 0) {
      const size_t bytes = 1 + random() % 60000;
      void* block = memory.allocate(bytes);
      uint64_t total = 0;
      for (const auto& [start, size] : live) total += size;
      ASSERT_EQ(block == nullptr, total + bytes > memory.capacity());
      if (block == nullptr) continue;
      for (const auto& [start, size] : live)
        ASSERT_TRUE(at(block) + bytes <= start || start + size <= at(block));
      live[at(block)] = bytes;
    } else if (!live.empty()) {
      auto victim = std::next(live.begin(), static_cast<ptrdiff_t>(random() % live.size()));
      ASSERT_TRUE(memory.release(reinterpret_cast<void*>(victim->first), random() % 2 == 0));
      ASSERT_FALSE(memory.valid(victim->first, 1));
      live.erase(victim);
    }
  }
  EXPECT_EQ(memory.live_blocks(), live.size());
}

TEST(Memory, Threads) {
  Memory memory(1 << 26);
  std::vector<std::thread> threads;
  for (unsigned seed = 0; seed < 4; ++seed)
    threads.emplace_back([&memory, seed] {
      std::mt19937 random(seed);
      for (int i = 0; i < 2000; ++i) {
        const size_t bytes = 1 + random() % 5000;
        void* block = memory.allocate(bytes);
        ASSERT_TRUE(memory.valid(at(block), bytes));
        ASSERT_TRUE(memory.release(block, i % 2 == 0));
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(memory.live_blocks(), 0u);
}

}  // namespace
