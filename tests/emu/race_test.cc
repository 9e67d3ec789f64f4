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
};
bool race(const Access& a, const Access& b) {
  return a.wave != b.wave && a.epoch == b.epoch && (a.writes || b.writes) && a.offset < b.offset + b.bytes &&
         b.offset < a.offset + a.bytes;
}

/// Notes accesses of `table` until one is refused; its number, or the count of all.
template <class Table>
size_t noted(Table& table, uint64_t base, const std::vector<Access>& all) {
  Group group{};
  Wave wave{};
  wave.group = &group;
  for (size_t i = 0; i < all.size(); ++i) {
    group.epoch = all[i].epoch;
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
    // Whole lines of 64 bytes, and parts of them.
    const bool lines = random() % 2 == 0;
    const uint32_t unit = lines ? 64 : 4, offset = uint32_t(random() % (512 / unit)) * unit,
                   bytes = uint32_t(1 + random() % (lines ? 4 : 40)) * unit;
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

TEST(Race, NoneIsInvented) {
  std::mt19937 random(2);
  size_t whole = 0;
  for (int round = 0; round < 20000; ++round) {
    const std::vector<Access> all = random_accesses(random, 12);
    LdsRaces lds;
    lds.reset(512);
    const size_t refused = noted(lds, 0, all);
    whole += refused == all.size();
    if (refused == all.size()) continue;
    bool real = false;
    for (size_t i = 0; i < refused; ++i) real |= race(all[i], all[refused]);
    ASSERT_TRUE(real) << round;
  }
  EXPECT_GT(whole, 10u);
}

TEST(Race, OddRangesAreLeftToTheSlowWay) {
  LdsRaces lds;
  lds.reset(512);
  Group group{};
  Wave wave{};
  wave.group = &group;
  EXPECT_FALSE(lds.range(wave, 2, 64, false));
  EXPECT_FALSE(lds.range(wave, 0, 62, false));
  EXPECT_TRUE(lds.range(wave, 4, 64, false));
}

}  // namespace
}  // namespace emu::exec
