// SPDX-License-Identifier: Apache-2.0
// Matrix products on Hopper: f16 or bf16, summed in f32, through the ring of wgmma_ring.h.
//   floors: 2 m n k over the rate of the matrix units; the bytes of a, b and c over the bandwidth
#include "kernels/sm_90/parts.h"
#include "kernels/sm_90/wgmma_ring.h"

namespace beeswax::gpu {

template <class T, WgmmaTile tile, bool turned_a, bool turned_b>
struct GemmWgmma : WgmmaRing<T, tile> {
  using Ring = WgmmaRing<T, tile>;
  using Ring::each, Ring::first_row, Ring::first_column, Ring::kBox, Ring::kColumns, Ring::kLine,
      Ring::kStage, Ring::kStages, Ring::stages;
  using Ring::Ring;

  BW_DEVICE_MEMBER static void bring(const HopperArgs& args, const HopperArgs* maps, const WgmmaPlace& at,
                                     uint32_t step, uint32_t a, uint32_t b, uint32_t ready) {
    const uint32_t batch_a = at.batch * args.a_batch, batch_b = at.batch * args.b_batch;
    const uint32_t k = step * kWgmmaStep;
    if constexpr (turned_a) {
#pragma unroll
      for (uint32_t i = 0; i < kWgmmaRows / 64; ++i)
        load_box(a + i * kLine, &maps->a, ready, at.row + i * 64, k, batch_a);
    } else {
      load_box(a, &maps->a, ready, k, at.row, batch_a);
    }
    if constexpr (turned_b) {
#pragma unroll
      for (uint32_t i = 0; i < kColumns / 64; ++i)
        load_box(b + i * kLine, &maps->b, ready, at.column + i * 64, k, batch_b);
    } else {
      load_box(b, &maps->b, ready, k, at.column, batch_b);
    }
  }

  BW_DEVICE_MEMBER void finish(const HopperArgs& args, const HopperArgs* maps, const WgmmaPlace& at,
                               uint32_t group, const float (&sums)[kColumns / 2]) const {
    if (args.parts > 1) {
      args.parts_down != 0 ? join<true>(args, at, group, sums) : join<false>(args, at, group, sums);
    } else if (kColumns >= 64 && args.through_map != 0) {
      send(args, at, &maps->c, group, sums);
    } else {
      store(args, at, group, sums);
    }
  }

 private:
  /// Results by the copy engine, 64 columns at a time, through two buffers.
  BW_DEVICE_MEMBER void send(const HopperArgs& args, const WgmmaPlace& at, const TensorMap* map,
                             uint32_t group, const float (&sums)[kColumns / 2]) const {
    const bool leads = thread() % 128 == 0;
#pragma unroll
    for (uint32_t chunk = 0; chunk < kColumns / 64; ++chunk) {
      const uint32_t box = this->box_of(group, chunk);
      if (leads) wait_for_stores<1>();
      warpgroup_barrier(1 + group);
      this->fill_box(box, chunk, sums);
      fence_shared();
      warpgroup_barrier(1 + group);
      if (leads && at.row + group * 64 < args.m && at.column + chunk * 64 < args.n)
        store_box(map, box, at.column + chunk * 64, at.row + group * 64, at.batch);
    }
  }

  /// Parts of k, by way of the stages, which no product reads any more.
  template <bool down>
  BW_DEVICE_MEMBER void join(const HopperArgs& args, const WgmmaPlace& at, uint32_t group,
                             const float (&sums)[kColumns / 2]) const {
    using Parts = TileParts<kWgmmaRows, kColumns, down>;
    static_assert(Parts::kBytes <= kStages * kStage);
    const Parts parts{stages};
    products_barrier();
    uint32_t first = Parts::place(group * 64 + first_row(), first_column());
    BW_HIDE_WORD(first);  // or compilers keep all places in registers over the loop around this
    each([&](uint32_t rows, uint32_t columns, uint32_t i)
             __attribute__((always_inline)) { parts.put(first + Parts::place(rows, columns), sums[i]); });
    parts.template join<kWgmmaThreads - 128>(
        at.part, args.parts,
        [&](uint32_t row, uint32_t column, const Pack<float, 4>& joined) __attribute__((always_inline)) {
          if (args.c_wide != 0) {
            Parts::template store<float>(args, at.batch, at.row + row, at.column + column, joined);
          } else {
            Parts::template store<T>(args, at.batch, at.row + row, at.column + column, joined);
          }
        });
  }

  /// Results straight from registers, where c's strides do not suit the copy engine.
  BW_DEVICE_MEMBER void store(const HopperArgs& args, const WgmmaPlace& at, uint32_t group,
                              const float (&sums)[kColumns / 2]) const {
    const uint32_t first_r = at.row + group * 64 + first_row(), first_c = at.column + first_column();
    each([&](uint32_t rows, uint32_t columns, uint32_t i) __attribute__((always_inline)) {
      const uint32_t row = first_r + rows, column = first_c + columns;
      if (row >= args.m || column >= args.n) return;
      const int64_t to = at.batch * args.c_batch + row * args.c_row + column * args.c_column;
      if (args.c_wide != 0) {
        static_cast<float*>(args.c_data)[to] = sums[i];
      } else {
        static_cast<T*>(args.c_data)[to] = T(sums[i]);
      }
    });
  }
};

template <class T, WgmmaTile tile, bool turned_a, bool turned_b>
BW_DEVICE void gemm_wgmma(const HopperArgs& args, const HopperArgs* maps) {
  using Gemm = GemmWgmma<T, tile, turned_a, turned_b>;
  const Gemm gemm(shared_address(wgmma_memory));
  gemm.template run<turned_a, turned_b>(
      args,
      [&](const WgmmaPlace& at, uint32_t step, uint32_t a, uint32_t b, uint32_t ready)
          __attribute__((always_inline)) { Gemm::bring(args, maps, at, step, a, b, ready); },
      [&](const WgmmaPlace& at, uint32_t group, const auto& sums)
          __attribute__((always_inline)) { gemm.finish(args, maps, at, group, sums); });
  if (thread() % 128 == 0 && thread() < 256) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

#define BW_GEMM_WGMMA_AS(name, T, tile, turned_a, turned_b)                                     \
  BW_KERNEL_OF_REGISTERS(kWgmmaThreads) name(HopperArgs args) {                                 \
    gemm_wgmma<T, kWgmmaTiles[tile], turned_a, turned_b>(args, BW_ARGUMENT(#name, HopperArgs)); \
  }
#define BW_GEMM_WGMMA(T, columns, tile)                                    \
  BW_GEMM_WGMMA_AS(gemm_wgmma_##T##_##columns##_nt, T, tile, false, false) \
  BW_GEMM_WGMMA_AS(gemm_wgmma_##T##_##columns##_tt, T, tile, true, false)
#define BW_GEMM_WGMMA_TURNED(T, columns, tile)                            \
  BW_GEMM_WGMMA_AS(gemm_wgmma_##T##_##columns##_nn, T, tile, false, true) \
  BW_GEMM_WGMMA_AS(gemm_wgmma_##T##_##columns##_tn, T, tile, true, true)
#define BW_GEMM_WGMMA_OF(T)       \
  BW_GEMM_WGMMA(T, 256, 0)        \
  BW_GEMM_WGMMA_TURNED(T, 256, 0) \
  BW_GEMM_WGMMA(T, 128, 1)        \
  BW_GEMM_WGMMA_TURNED(T, 128, 1) \
  BW_GEMM_WGMMA(T, 64, 2)         \
  BW_GEMM_WGMMA_TURNED(T, 64, 2)  \
  BW_GEMM_WGMMA(T, 16, 3)
BW_GEMM_WGMMA_OF(f16)
BW_GEMM_WGMMA_OF(bf16)

}  // namespace beeswax::gpu
