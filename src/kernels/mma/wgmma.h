// SPDX-License-Identifier: Apache-2.0
// Hopper's own (sm_90a): products by a warpgroup of 128 threads with operands in shared memory (wgmma), the
// copy engine (tensor maps, TMA) and its barriers. PTX ISA 8.0, sections on asynchronous warpgroup products
// and on cp.async.bulk.tensor.
#pragma once

#include "kernels/elements.h"
#include "kernels/hopper_args.h"
#include "kernels/mma/lanes.h"

#if BW_NVIDIA
namespace beeswax::gpu {

/// Where the one argument of a kernel lies, so that the copy engine can read the maps in it. (Kernels read
/// the argument itself by its name: then its members are constants to the hardware.)
#define BW_ARGUMENT(kernel, Type)                                                            \
  [] {                                                                                       \
    const Type* at;                                                                          \
    asm("{ .reg .b64 t; mov.b64 t, " kernel "_param_0; cvta.param.u64 %0, t; }" : "=l"(at)); \
    return at;                                                                               \
  }()

/// An address in shared memory as its instructions take it.
BW_DEVICE uint32_t shared_address(const void* at) {
  uint64_t window;
  asm("cvta.to.shared.u64 %0, %1;" : "=l"(window) : "l"(at));
  return static_cast<uint32_t>(window);
}

/// A barrier of phases: `arrivals` threads and the bytes announced to it end a phase.
BW_DEVICE void phase_init(uint32_t barrier, uint32_t arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}
/// Makes new barriers known to the copy engine.
BW_DEVICE void phase_init_done() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
BW_DEVICE void phase_arrive(uint32_t barrier) {
  asm volatile("{ .reg .b64 s; mbarrier.arrive.shared::cta.b64 s, [%0]; }" ::"r"(barrier) : "memory");
}
BW_DEVICE void phase_arrive_expect(uint32_t barrier, uint32_t bytes) {
  asm volatile("{ .reg .b64 s; mbarrier.arrive.expect_tx.shared::cta.b64 s, [%0], %1; }" ::"r"(barrier),
               "r"(bytes)
               : "memory");
}
/// Waits for the end of the phase of this parity.
BW_DEVICE void phase_wait(uint32_t barrier, uint32_t parity) {
  uint32_t over = 0;
  while (over == 0) {
    asm volatile(
        "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
        : "=r"(over)
        : "r"(barrier), "r"(parity)
        : "memory");
  }
}

/// Copies a box of a tensor to shared memory; its bytes arrive at the barrier. What lies outside is zero.
BW_DEVICE void load_box(uint32_t to, const TensorMap* map, uint32_t barrier, uint32_t x, uint32_t y,
                        uint32_t z) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5}], "
      "[%2];" ::"r"(to),
      "l"(map), "r"(barrier), "r"(x), "r"(y), "r"(z)
      : "memory");
}
/// Copies a box from shared memory; what lies outside of the tensor stays there.
BW_DEVICE void store_box(const TensorMap* map, uint32_t from, uint32_t x, uint32_t y, uint32_t z) {
  asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%2, %3, %4}], [%1];" ::"l"(map),
               "r"(from), "r"(x), "r"(y), "r"(z)
               : "memory");
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
/// Waits until all but the last `pending` stores have read their shared memory.
template <int pending>
BW_DEVICE void wait_for_stores() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(pending) : "memory");
}
/// What this thread wrote to shared memory is seen by the copy engine and the matrix units.
BW_DEVICE void fence_shared() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
/// A barrier of the 128 threads of a warpgroup; `number` from 1 on.
BW_DEVICE void warpgroup_barrier(uint32_t number) {
  asm volatile("bar.sync %0, 128;" ::"r"(number) : "memory");
}
/// A barrier of the two warpgroups that multiply.
BW_DEVICE void products_barrier() { asm volatile("bar.sync 3, 256;" ::: "memory"); }
/// Registers of each thread of the calling warpgroup, from what all had at the start.
template <int count>
BW_DEVICE void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(count));
}
template <int count>
BW_DEVICE void give_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(count));
}
/// Four 8 x 8 matrices of 16-bit elements from registers to rows of 16 bytes in shared memory; thread l says
/// where row l % 8 of matrix l / 8 lies.
BW_DEVICE void store_matrices(uint32_t at, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(at), "r"(a), "r"(b),
               "r"(c), "r"(d)
               : "memory");
}

/// Describes an operand in shared memory with rows of 128 bytes, swizzled, in groups of 8 rows (1024 bytes).
/// Dense along k: rows are the operand's, groups follow each other. Dense along its rows: a line holds 64 of
/// them at one k; `next` bytes lead to the next 64.
BW_DEVICE uint64_t wgmma_operand(uint32_t at, uint32_t next) {
  return static_cast<uint64_t>(at >> 4 & 0x3fff) | static_cast<uint64_t>(next >> 4 & 0x3fff) << 16 |
         uint64_t{1024 >> 4} << 32 | uint64_t{1} << 62;
}
BW_DEVICE void wgmma_begin() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
BW_DEVICE void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int pending>
BW_DEVICE void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory");
}
/// Ties sums to this place in the program, so that nothing reads them before.
template <int n>
BW_DEVICE void hold(float (&sums)[n]) {
#pragma unroll
  for (int i = 0; i < n; ++i) asm volatile("" : "+f"(sums[i])::"memory");
}

#define BW_D0 "%0, %1, %2, %3, %4, %5, %6, %7"
#define BW_D1 "%8, %9, %10, %11, %12, %13, %14, %15"
#define BW_D2 "%16, %17, %18, %19, %20, %21, %22, %23"
#define BW_D3 "%24, %25, %26, %27, %28, %29, %30, %31"
#define BW_D4 "%32, %33, %34, %35, %36, %37, %38, %39"
#define BW_D5 "%40, %41, %42, %43, %44, %45, %46, %47"
#define BW_D6 "%48, %49, %50, %51, %52, %53, %54, %55"
#define BW_D7 "%56, %57, %58, %59, %60, %61, %62, %63"
#define BW_D8 "%64, %65, %66, %67, %68, %69, %70, %71"
#define BW_D9 "%72, %73, %74, %75, %76, %77, %78, %79"
#define BW_D10 "%80, %81, %82, %83, %84, %85, %86, %87"
#define BW_D11 "%88, %89, %90, %91, %92, %93, %94, %95"
#define BW_D12 "%96, %97, %98, %99, %100, %101, %102, %103"
#define BW_D13 "%104, %105, %106, %107, %108, %109, %110, %111"
#define BW_D14 "%112, %113, %114, %115, %116, %117, %118, %119"
#define BW_D15 "%120, %121, %122, %123, %124, %125, %126, %127"
#define BW_O8(i)                                                                              \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), \
      "+f"(d[i + 6]), "+f"(d[i + 7])
#define BW_D32(a, b, c, e) a ", " b ", " c ", " e
#define BW_O32(i) BW_O8(i), BW_O8(i + 8), BW_O8(i + 16), BW_O8(i + 24)

/// d (+)= a b: 64 rows by n columns, 16 steps of k of f16 or bf16, 8 of tf32, into f32. `add`: 0 begins a new
/// sum. A thread's sum i is row 16 warp + lane / 4 + 8 (i / 2 % 2), column 8 (i / 4) + 2 (lane % 4) + i % 2.
/// turned: the operand is dense along its rows (columns), not k, which no unit takes of tf32.
template <class T, int n, bool turned_a, bool turned_b>
struct Wgmma;
#define BW_WGMMA(T, name, n, registers, ...)                                                               \
  template <bool turned_a, bool turned_b>                                                                  \
  struct Wgmma<T, n, turned_a, turned_b> {                                                                 \
    BW_DEVICE_MEMBER static void multiply(float (&d)[n / 2], uint64_t a, uint64_t b, uint32_t add) {       \
      asm volatile(                                                                                        \
          "{ .reg .pred p; setp.ne.b32 p, %[add], 0; wgmma.mma_async.sync.aligned.m64n" #n "k16.f32." name \
          "." name " {" registers "}, %[a], %[b], p, 1, 1, %[ta], %[tb]; }"                                \
          : __VA_ARGS__                                                                                    \
          : [a] "l"(a), [b] "l"(b), [add] "r"(add), [ta] "n"(int{turned_a}), [tb] "n"(int{turned_b}));     \
    }                                                                                                      \
  }
#define BW_WGMMA_WIDE(T, name, n, registers, ...)                                                    \
  template <>                                                                                        \
  struct Wgmma<T, n, false, false> {                                                                 \
    BW_DEVICE_MEMBER static void multiply(float (&d)[n / 2], uint64_t a, uint64_t b, uint32_t add) { \
      asm volatile("{ .reg .pred p; setp.ne.b32 p, %[add], 0; wgmma.mma_async.sync.aligned.m64n" #n  \
                   "k8.f32." name "." name " {" registers "}, %[a], %[b], p, 1, 1; }"                \
                   : __VA_ARGS__                                                                     \
                   : [a] "l"(a), [b] "l"(b), [add] "r"(add));                                        \
    }                                                                                                \
  }
#define BW_WGMMA_SIZES(Size, T, name)                                                                       \
  Size(T, name, 16, BW_D0, BW_O8(0));                                                                       \
  Size(T, name, 64, BW_D32(BW_D0, BW_D1, BW_D2, BW_D3), BW_O32(0));                                         \
  Size(T, name, 128, BW_D32(BW_D0, BW_D1, BW_D2, BW_D3) ", " BW_D32(BW_D4, BW_D5, BW_D6, BW_D7), BW_O32(0), \
       BW_O32(32));                                                                                         \
  Size(T, name, 256,                                                                                        \
       BW_D32(BW_D0, BW_D1, BW_D2, BW_D3) ", " BW_D32(BW_D4, BW_D5, BW_D6, BW_D7) ", " BW_D32(              \
           BW_D8, BW_D9, BW_D10, BW_D11) ", " BW_D32(BW_D12, BW_D13, BW_D14, BW_D15),                       \
       BW_O32(0), BW_O32(32), BW_O32(64), BW_O32(96))
BW_WGMMA_SIZES(BW_WGMMA, f16, "f16");
BW_WGMMA_SIZES(BW_WGMMA, bf16, "bf16");
BW_WGMMA_SIZES(BW_WGMMA_WIDE, Tf32, "tf32");

}  // namespace beeswax::gpu
#endif  // BW_NVIDIA
