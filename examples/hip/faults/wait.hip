// SPDX-License-Identifier: Apache-2.0
// A fault to be found: assembly by hand that uses a loaded register without waiting for it. A card would
// mostly double whatever the register held before; BEESWAX_EMU_CHECK=strict finds it.
#include <vector>

#include "../check.h"

__global__ void twice(const int* from, int* to) {
  const int i = static_cast<int>(threadIdx.x);
  int value;
  // s_waitcnt vmcnt(0) is missing between the two.
  asm volatile(
      "global_load_dword %0, %1, off\n\t"
      "v_lshlrev_b32 %0, 1, %0"
      : "=&v"(value)
      : "v"(from + i));
  to[i] = value;
}

int main() {
  std::vector<int> values(64);
  for (int i = 0; i < 64; ++i) values[i] = i;
  Buffer<int> from(64), to(64);
  from.put(values.data());
  twice<<<1, 64>>>(from.get(), to.get());
  CHECK(hipDeviceSynchronize());
  to.take(values.data());
  int wrong = 0;
  for (int i = 0; i < 64; ++i) wrong += values[i] != 2 * i;
  std::printf("%d wrong\n", wrong);
  return wrong != 0;
}
