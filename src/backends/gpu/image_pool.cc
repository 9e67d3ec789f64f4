// SPDX-License-Identifier: Apache-2.0
// Pooling: windows one by one; averages of floats over large ones are means over a view of all windows.
#include "backends/gpu/planes.h"

namespace beeswax::gpu {
namespace {

KernelTable pool_kernels(kDTypes, [](size_t i) -> KernelTable::Name {
  return {join_text("pool_", name_of(i)), "pool2d"};
});

}  // namespace

void GpuBackend::pool(const PoolShape& s, const Operand& x, const Target& out) {
  const Layout& from = *x.layout;
  const bool large = s.h_k > kPoolWindow || s.w_k > kPoolWindow || s.h_k * s.w_k > kPoolWindow;
  if (large && (s.kind == PoolKind::Max || dtype_is_float(x.dtype))) {
    const int64_t strides[] = {
        from.stride(0), from.stride(1), s.h_stride * from.stride(2), s.w_stride * from.stride(3),
        from.stride(2), from.stride(3)};
    const Layout windows(Shape({s.batch, s.channels, s.h_out, s.w_out, s.h_k, s.w_k}), strides,
                         from.offset());
    return reduce(s.kind == PoolKind::Max ? ReduceOp::Max : ReduceOp::Mean, {x.storage, &windows, x.dtype},
                  1u << 4 | 1u << 5, out);
  }
  PoolArgs arguments{};
  arguments.average = s.kind == PoolKind::Average ? 1 : 0;
  arguments.rows = static_cast<uint32_t>(s.h_k);
  arguments.columns = static_cast<uint32_t>(s.w_k);
  arguments.row_step = s.h_out > 1 ? s.h_stride * from.stride(2) : 0;
  arguments.column_step = s.w_out > 1 ? s.w_stride * from.stride(3) : 0;
  arguments.window_columns = divisor_of(arguments.columns);
  arguments.from = planes_of(from);
  const Kernel& kernel = pool_kernels.get(gpu_, index_of(x.dtype));
  // Windows of two by two side by side, each row of which begins where packs do.
  const int bytes = bytes_of(x.dtype), pack = packed_elements(bytes), made = pack / 2;
  const bool in_packs = s.h_k == 2 && s.w_k == 2 && s.h_stride == 2 && s.w_stride == 2 &&
                        from.stride(3) == 1 && s.w_out % made == 0 && from.stride(0) % pack == 0 &&
                        from.stride(1) % pack == 0 && from.stride(2) % pack == 0;
  const auto launch = [&](const PlanePart& part, int64_t count, int64_t first) {
    arguments.x = at(
        x.data(),
        part.image * from.stride(0) + part.channel * from.stride(1) + part.row * s.h_stride * from.stride(2),
        x.dtype);
    arguments.y = at(out.data(), first, out.dtype);
    arguments.count = static_cast<uint32_t>(count);
    arguments.outputs = plane_outputs(part.channels, part.rows, s.w_out);
    arguments.packed =
        in_packs && begins_at(arguments.x, pack * bytes) && begins_at(arguments.y, made * bytes) ? 1 : 0;
    const int64_t in_block = int64_t{kMapThreads} * (arguments.packed != 0 ? made : 1);
    gpu_.launch(kernel, {{blocks_for(count, in_block), 1, 1}, kMapThreads, 0}, arguments);
  };
  for_planes("pool2d", s.batch, s.channels, s.h_out, s.w_out, launch);
}

}  // namespace beeswax::gpu
