// SPDX-License-Identifier: Apache-2.0
// What is noted of ranges of LDS and memory, against a list of every access: two of them race when they touch
// one byte, come from two waves between the same barriers, and one of them writes.
#include "emu/exec/race.h"

#include <gtest/gtest.h>

#include <random>

namespace emu::exec {
namespace {

struct Access {
  uint32_t offset, bytes, wave, epoch;
  bool writes;
  uint32_t group = 0;
};
bool race(const Access& a, const Access& b) {
  return (a.group != b.group || (a.wave != b.wave && a.epoch == b.epoch)) && (a.writes || b.writes) &&
         a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
}

/// Notes accesses of `table` until one is refused; its number, or the count of all.
template <class Table>
size_t noted(Table& table, uint64_t base, const std::vector<Access>& all) {
  Group group{};
  Wave wave{};
  wave.group = &group;
  for (size_t i = 0; i < all.size(); ++i) {
    group.epoch = all[i].epoch;
    group.linear = all[i].group;
    wave.id = all[i].wave;
    const uint64_t at = base + all[i].offset;
    if (!table.range(wave, static_cast<uint32_t>(at), all[i].bytes, all[i].writes)) return i;
  }
  return all.size();
}

std::vector<Access> random_accesses(std::mt19937& random, size_t count) {
  std::vector<Access> all;
  uint32_t epoch = 0;
  for (size_t i = 0; i < count; ++i) {
    epoch += random() % 8 == 0;
    // Whole lines of 64 bytes, words, and bytes.
    const uint32_t unit = random() % 2 == 0   ? 64
                          : random() % 2 == 0 ? 4
                                              : 1,
                   offset = uint32_t(random() % (512 / unit)) * unit,
                   bytes = uint32_t(1 + random() % (unit == 64 ? 4 : 40)) * unit;
    all.push_back({offset, std::min(bytes, 512 - offset), uint32_t(random() % 3), epoch, random() % 3 == 0});
  }
  return all;
}

TEST(Race, TwoRangesRaceExactlyWhenTheyOverlapUnordered) {
  std::mt19937 random(1);
  int races = 0;
  for (int round = 0; round < 20000; ++round) {
    const std::vector<Access> all = random_accesses(random, 2);
    LdsRaces lds;
    lds.reset(512);
    const size_t want = race(all[0], all[1]) ? 1 : 2;
    ASSERT_EQ(noted(lds, 0, all), want) << all[0].offset << " " << all[0].bytes << " " << all[1].offset;
    if (round % 100 == 0) {
      RaceTable memory(1);
      ASSERT_EQ(noted(memory, 4096, all), want);
    }
    races += want == 1;
  }
  EXPECT_GT(races, 1000);
}

TEST(Race, TheFirstOneIsFoundAndNoneIsInvented) {
  std::mt19937 random(2);
  size_t whole = 0, third = 0;
  for (int round = 0; round < 20000; ++round) {
    const std::vector<Access> all = random_accesses(random, 12);
    LdsRaces lds;
    lds.reset(512);
    size_t first = 0;
    const auto races = [&](size_t i) {
      for (size_t before = 0; before < i; ++before)
        if (race(all[before], all[i])) return true;
      return false;
    };
    while (first < all.size() && !races(first)) ++first;
    ASSERT_EQ(noted(lds, 0, all), first) << round;
    whole += first == all.size();
    third += first > 3 && first < all.size();
  }
  EXPECT_GT(whole, 10u);
  EXPECT_GT(third, 100u);
}

// Two waves read, the second one then writes: it races with the first one's read alone.
TEST(Race, EveryReaderIsKnown) {
  LdsRaces lds;
  lds.reset(64);
  EXPECT_EQ(noted(lds, 0, {{8, 4, 0, 0, false}, {8, 4, 1, 0, false}, {8, 4, 1, 0, true}}), 2u);
  RaceTable memory(1);
  EXPECT_EQ(noted(memory, 4096, {{8, 4, 0, 0, false}, {8, 4, 1, 0, false}, {8, 4, 1, 0, true}}), 2u);
  // After a barrier it may.
  lds.reset(64);
  EXPECT_EQ(noted(lds, 0, {{8, 4, 0, 0, false}, {8, 4, 1, 0, false}, {8, 4, 1, 1, true}}), 3u);
}

// The same of two groups; no barrier orders them.
TEST(Race, ReadersOfOtherGroups) {
  RaceTable memory(3);
  EXPECT_EQ(noted(memory, 4096, {{8, 4, 0, 0, false, 0}, {8, 4, 0, 0, false, 1}, {8, 4, 0, 1, true, 1}}), 2u);
  // Of many groups the last ones are known.
  RaceTable many(100);
  std::vector<Access> all;
  for (uint32_t group = 0; group < 99; ++group) all.push_back({0, 64, 0, 0, false, group});
  all.push_back({8, 4, 0, 0, true, 98});
  EXPECT_EQ(noted(many, 4096, all), 99u);
  std::mt19937 random(3);
  size_t whole = 0;
  for (int round = 0; round < 300; ++round) {
    std::vector<Access> some;
    for (int i = 0; i < 8; ++i)
      some.push_back({uint32_t(random() % 64), uint32_t(1 + random() % 70), uint32_t(random() % 2),
                      uint32_t(i / 3), random() % 6 == 0, uint32_t(random() % 2)});
    size_t first = 0;
    const auto races = [&](size_t i) {
      for (size_t before = 0; before < i; ++before)
        if (race(some[before], some[i])) return true;
      return false;
    };
    while (first < some.size() && !races(first)) ++first;
    RaceTable table(2);
    ASSERT_EQ(noted(table, 4096, some), first) << round;
    whole += first == some.size();
  }
  EXPECT_GT(whole, 20u);
  EXPECT_LT(whole, 280u);
}

// More waves than there is room for: who is forgotten is not accused, the others still are.
TEST(Race, ManyReaders) {
  LdsRaces lds;
  lds.reset(64);
  std::vector<Access> all;
  for (uint32_t wave = 0; wave < 40; ++wave) all.push_back({4, 4, wave, 0, false});
  all.push_back({4, 4, 39, 0, true});
  EXPECT_EQ(noted(lds, 0, all), 40u);
}

// Neighbours in a word belong to whoever touched them.
TEST(Race, BytesOfAWord) {
  LdsRaces lds;
  lds.reset(64);
  EXPECT_EQ(noted(lds, 0, {{0, 1, 0, 0, true}, {1, 1, 1, 0, true}, {2, 2, 2, 0, true}, {1, 1, 1, 0, false}}),
            4u);
  EXPECT_EQ(noted(lds, 0, {{1, 1, 0, 0, false}}), 0u);
}

// The host's own memory has no races, and a block that is handed out anew has no past.
TEST(Race, OwnMemoryAndNewBlocks) {
  HostSide host;
  host.own.push_back({4096 + 128, 64});
  RaceTable table(2, &host);
  EXPECT_EQ(noted(table, 4096, {{128, 64, 0, 0, true}, {128, 64, 1, 0, true}, {188, 4, 0, 0, true, 1}}), 3u);
  EXPECT_EQ(noted(table, 4096, {{124, 4, 0, 0, true}, {192, 4, 0, 0, true}, {192, 4, 1, 0, false}}), 2u);
  EXPECT_EQ(noted(table, 4096, {{124, 4, 1, 0, true}}), 0u);
  table.forget(4096 + 120, 8);
  EXPECT_EQ(noted(table, 4096, {{124, 4, 1, 0, true}, {192, 4, 1, 0, false}}), 1u);
}

// What a group did before it came to a barrier of the grid is over for groups that come from that barrier.
TEST(Race, BarriersOfTheGrid) {
  RaceTable table(2);
  const Access write{0, 64, 0, 0, true, 0}, read{32, 4, 0, 0, false, 1}, overwrite{0, 64, 0, 0, true, 1};
  EXPECT_EQ(noted(table, 4096, {write}), 1u);
  table.come_to_grid_barrier(0);
  EXPECT_EQ(noted(table, 4096, {read}), 0u);
  table.come_to_grid_barrier(1);
  EXPECT_EQ(noted(table, 4096, {read, overwrite}), 2u);
  EXPECT_EQ(noted(table, 4096, {write}), 0u);
  // Counting ends some time; nobody is accused then.
  for (int i = 0; i < 70000; ++i) table.come_to_grid_barrier(0);
  EXPECT_EQ(noted(table, 4096, {write}), 1u);
  for (int i = 0; i < 70000; ++i) table.come_to_grid_barrier(1);
  EXPECT_EQ(noted(table, 4096, {overwrite}), 1u);
}

}  // namespace
}  // namespace emu::exec
