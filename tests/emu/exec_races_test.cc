// SPDX-License-Identifier: Apache-2.0
// Scattered accesses of several waves, in LDS and in memory, against a list of who touched what: a kernel
// stops with a race exactly when two waves touch one byte and one of them writes, and names two that do.
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "emu/support/compile.h"
#include "emu/support/launcher.h"

namespace emu::test {
namespace {

// Thread i touches element at[i] of s or c; bit n of `stores` makes wave n write, bit 8 + n makes its
// accesses atomic, with bit 16 + n they come after a barrier of all.
const char* const kSource = R"kernels(
#define KERNEL extern "C" __global__ void
template <class T, bool Lds>
static __device__ inline int access(T* c, T* s, int place, bool stores, bool atomic) {
  if (!stores) return Lds ? ((volatile T*)s)[place] : ((volatile T*)c)[place];
  if (!atomic) {
    if (Lds) ((volatile T*)s)[place] = 1; else ((volatile T*)c)[place] = 1;
  } else if constexpr (sizeof(T) == 4) {
    __hip_atomic_fetch_add(Lds ? s + place : c + place, 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
  }
  return 0;
}
template <class T, bool Lds>
static __device__ inline void touch(T* c, T* s, const int* at, int* out, int stores) {
  const int wave = __builtin_amdgcn_readfirstlane(thread_x() / __builtin_amdgcn_wavefrontsize());
  if (Lds) for (int i = thread_x(); i < 4096 / sizeof(T); i += block_size_x()) s[i] = 0;
  const int place = at[thread_x()];
  barrier();
  const bool late = stores >> (16 + wave) & 1, writes = stores >> wave & 1, atomic = stores >> (8 + wave) & 1;
  int x = 0;
  if (!late) x = access<T, Lds>(c, s, place, writes, atomic);
  barrier();
  if (late) x = access<T, Lds>(c, s, place, writes, atomic);
  out[thread_x()] = x;
}
KERNEL lds_words(int* c, const int* at, int* out, int stores) {
  __shared__ int s[1024];
  touch<int, true>(c, s, at, out, stores);
}
KERNEL lds_bytes(char* c, const int* at, int* out, int stores) {
  __shared__ char s[4096];
  touch<char, true>(c, s, at, out, stores);
}
KERNEL words(int* c, const int* at, int* out, int stores) { touch<int, false>(c, nullptr, at, out, stores); }
KERNEL bytes(char* c, const int* at, int* out, int stores) { touch<char, false>(c, nullptr, at, out, stores); }
)kernels";

class ExecRaces : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    EMU_NEEDS_CLANG();
    device = std::make_unique<Device>(GetParam(), compile(kSource, GetParam()));
    device->options.check = Check::Race;
  }
  void scattered(const std::string& kernel, bool can_be_atomic, bool barriers) {
    const int lanes = std::string(GetParam()).starts_with("gfx9") ? 64 : 32, waves = 4, count = lanes * waves;
    std::mt19937 random(7);
    char* c = reinterpret_cast<char*>(device->upload(std::vector<int>(1024, 0)));
    int* out = device->allocate<int>(size_t(count));
    int* places = device->upload(std::vector<int>(size_t(count)));
    int races = 0, rounds = 120;
    for (int round = 0; round < rounds; ++round) {
      // Mostly places of one's own wave, a few anywhere.
      std::vector<int> at;
      for (int i = 0; i < count; ++i)
        at.push_back(random() % 24 == 0 ? int(random() % 1024) : i / lanes * 256 + int(random() % 256));
      std::copy(at.begin(), at.end(), places);
      const int stores = int(random() & 15) | (can_be_atomic ? int(random() & 15) << 8 : 0) |
                         (barriers ? int(random() & 15) << 16 : 0);
      const auto is = [stores](int bit, int wave) { return (stores >> (bit + wave) & 1) != 0; };
      std::set<std::pair<int, int>> rivals;  // waves with a race, and the place
      for (int i = 0; i < count; ++i)
        for (int k = 0; k < count; ++k) {
          const int a = i / lanes, b = k / lanes;
          if (a == b || at[size_t(i)] != at[size_t(k)] || is(16, a) != is(16, b)) continue;
          if (!is(0, a) && !is(0, b)) continue;
          if (is(0, a) && is(0, b) && is(8, a) && is(8, b)) continue;
          rivals.insert({a, at[size_t(i)]});
        }
      races += !rivals.empty();
      device->options.seed = uint64_t(round);
      try {
        device->run(kernel, {.grid = 1, .block = uint32_t(count)}, c, static_cast<const int*>(places), out,
                    stores);
        EXPECT_TRUE(rivals.empty()) << kernel << " round " << round;
      } catch (const Fault& fault) {
        ASSERT_EQ(fault.kind, Fault::Kind::DataRace) << fault.what();
        ASSERT_GE(fault.wave, 0);
        ASSERT_GE(fault.lane, 0);
        EXPECT_TRUE(rivals.contains({fault.wave, at[size_t(fault.wave * lanes + fault.lane)]}))
            << kernel << " round " << round << ": " << fault.what();
      }
    }
    EXPECT_GT(races, rounds / 8);
    EXPECT_LT(races, rounds - rounds / 20);
  }
  std::unique_ptr<Device> device;
};

TEST_P(ExecRaces, WordsOfLds) { scattered("lds_words", true, false); }
TEST_P(ExecRaces, BytesOfLds) { scattered("lds_bytes", false, false); }
TEST_P(ExecRaces, WordsOfMemory) { scattered("words", true, false); }
TEST_P(ExecRaces, BytesOfMemory) { scattered("bytes", false, false); }
// Some waves come before a barrier, the others after it.
TEST_P(ExecRaces, BarriersOrder) {
  scattered("lds_words", true, true);
  scattered("bytes", false, true);
}

INSTANTIATE_TEST_SUITE_P(Chips, ExecRaces, testing::Values("gfx90a", "gfx1030", "gfx1100", "gfx1201"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace emu::test
