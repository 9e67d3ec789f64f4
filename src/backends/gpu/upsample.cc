// SPDX-License-Identifier: Apache-2.0
// Upsampling: the places of both axes, then all outputs.
#include "backends/gpu/planes.h"

namespace beeswax::gpu {
namespace {

KernelTable axes_kernel(1, [](size_t) -> KernelTable::Name { return {"upsample_axes", "upsample"}; });
KernelTable nearest_kernels(4, [](size_t i) -> KernelTable::Name {
  return {join_text("upsample_nearest_", 1 << i), "upsample"};
});
KernelTable bilinear_kernels(kDTypes, [](size_t i) -> KernelTable::Name {
  if (!dtype_is_float(static_cast<DType>(i))) return {"", ""};
  return {join_text("upsample_bilinear_", name_of(i)), "upsample"};
});

UpsampleAxis axis_of(std::byte* to, const UpsampleShape& s, int64_t in, int64_t out, double factor) {
  const auto size_in = static_cast<double>(in), size_out = static_cast<double>(out);
  UpsampleAxis axis{to, static_cast<uint32_t>(in), static_cast<uint32_t>(out),
                    factor > 0 ? 1 / factor : size_in / size_out};
  if (s.align_corners) axis.scale = out > 1 ? (size_in - 1) / (size_out - 1) : 0;
  return axis;
}

}  // namespace

void GpuBackend::upsample(const UpsampleShape& s, const Operand& x, const Target& out) {
  if (std::max({s.h_in, s.w_in, s.h_out, s.w_out}) > kMostElements)
    fail(ErrorKind::TooLarge, "upsample", s.h_in, " by ", s.w_in, " to ", s.h_out, " by ", s.w_out,
         ": a side has no GPU kernel beyond ", kMostElements);
  const auto small = [](int64_t in, int64_t out) { return in * out <= kMostElements; };
  const bool found = s.bilinear || !small(s.h_in, s.h_out) || !small(s.w_in, s.w_out);
  const size_t size = s.bilinear ? sizeof(UpsamplePlace) : sizeof(uint32_t);
  detail::Ref<Storage> places;
  std::byte* rows = nullptr;
  UpsampleArgs arguments{};
  if (found) {
    places = scratch(static_cast<size_t>(s.h_out + s.w_out) * size);
    std::byte* const columns = places->data();
    rows = columns + static_cast<size_t>(s.w_out) * size;
    const UpsampleAxesArgs axes{axis_of(rows, s, s.h_in, s.h_out, s.scale_h),
                                axis_of(columns, s, s.w_in, s.w_out, s.scale_w), s.bilinear ? 1u : 0u,
                                s.align_corners ? 1u : 0u};
    gpu_.launch(axes_kernel.get(gpu_, 0),
                {{blocks_for(std::max(s.h_out, s.w_out), kMapThreads), 1, 1}, kMapThreads, 0}, axes);
    arguments.columns = columns;
  }
  arguments.in_rows = static_cast<uint32_t>(s.h_in);
  arguments.in_columns = static_cast<uint32_t>(s.w_in);
  arguments.out_rows = divisor_of(static_cast<uint32_t>(s.h_out));
  arguments.out_columns = divisor_of(static_cast<uint32_t>(s.w_out));
  arguments.from = planes_of(*x.layout);
  const Kernel& kernel = s.bilinear ? bilinear_kernels.get(gpu_, index_of(x.dtype))
                                    : nearest_kernels.get(gpu_, size_index(x.dtype));
  const auto launch = [&](const PlanePart& part, int64_t count, int64_t first) {
    arguments.x =
        at(x.data(), part.image * x.layout->stride(0) + part.channel * x.layout->stride(1), x.dtype);
    arguments.y = at(out.data(), first, out.dtype);
    if (found) arguments.rows = rows + static_cast<size_t>(part.row) * size;
    arguments.first_row = static_cast<uint32_t>(part.row);
    arguments.count = static_cast<uint32_t>(count);
    arguments.outputs = plane_outputs(part.channels, part.rows, s.w_out);
    const int bytes = bytes_of(x.dtype), pack = packed_elements(bytes);
    arguments.packed = !s.bilinear && s.w_out % pack == 0 && begins_at(arguments.y, pack * bytes);
    const int64_t planes = part.images * part.channels, plane = count / planes;
    arguments.planes = static_cast<uint32_t>(planes);
    const int64_t threads =
        arguments.packed != 0 ? ceil_div(planes, int64_t{kUpsamplePlanes}) * (plane / pack) : count;
    gpu_.launch(kernel, {{blocks_for(threads, kMapThreads), 1, 1}, kMapThreads, 0}, arguments);
  };
  for_planes("upsample", s.batch, s.channels, s.h_out, s.w_out, launch);
}

}  // namespace beeswax::gpu
