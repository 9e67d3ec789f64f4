// SPDX-License-Identifier: Apache-2.0
// Rotary position embedding: one launch; threads take packs where sizes and addresses allow it.
#include "kernels/rope_args.h"

#include "backends/gpu/launch.h"

namespace beeswax::gpu {
namespace {

// Rows share a thread's angles only where this many threads are left.
constexpr int64_t kEnoughThreads = 1 << 14;

KernelTable rope_kernels(kDTypes, [](size_t dtype) -> KernelTable::Name {
  if (!dtype_is_float(static_cast<DType>(dtype))) return {"", ""};
  return {join_text("rope_", name_of(dtype)), "rope"};
});

using RowNest = Nest<3>;  // of x, angles and y

bool on_packs(const void* data, int64_t bytes) { return begins_at(data, std::min<int64_t>(16, bytes)); }

// Whether operand k's rows begin where packs do.
bool rows_on_packs(const RowNest& nest, size_t k, int64_t elements) {
  for (size_t axis = 0; axis <= nest.last(); ++axis)
    if (nest.dims[axis] > 1 && nest.strides[k][axis] % elements != 0) return false;
  return true;
}

// Of an axis along which angles are broadcast, up to kRopeRepeats rows become one; returns how many.
int64_t join_repeats(RowNest* nest, int64_t most, RopeArgs* args) {
  size_t best = 0;
  int64_t repeats = 1;
  for (size_t axis = 0; axis <= nest->last(); ++axis)
    for (int64_t r = most; r >= repeats && r > 1; --r)
      if (nest->strides[1][axis] == 0 && nest->dims[axis] % r == 0) {
        best = axis;
        repeats = r;
        break;
      }
  args->repeats = static_cast<uint32_t>(repeats);
  args->x_step = nest->strides[0][best];
  args->y_step = nest->strides[2][best];
  nest->dims[best] /= repeats;
  nest->count /= repeats;
  for (auto& strides : nest->strides) strides[best] *= repeats;
  return repeats;
}

}  // namespace

void GpuBackend::rope(RopePairs pairs, const Operand& x, const Operand& cos, const Operand& sin,
                      const Target& out) {
  const int last = x.layout->rank() - 1;
  const int64_t d = x.layout->dim(last), half = cos.layout->dim(last);
  const Layout rows = x.layout->narrow(last, 0, 1), angles = cos.layout->narrow(last, 0, 1),
               results = out.layout->narrow(last, 0, 1);
  RowNest nest({&rows, &angles, &results});
  const bool neighbours = pairs == RopePairs::Neighbours;
  const int64_t n = rope_pack(bytes_of(x.dtype)), angle_n = neighbours ? n / 2 : n;
  const int64_t pack_bytes = n * bytes_of(x.dtype), angle_bytes = angle_n * bytes_of(cos.dtype);
  const bool packs = half % angle_n == 0 && d % n == 0 && on_packs(x.data(), pack_bytes) &&
                     on_packs(out.data(), pack_bytes) && on_packs(cos.data(), angle_bytes) &&
                     on_packs(sin.data(), angle_bytes) && rows_on_packs(nest, 0, n) &&
                     rows_on_packs(nest, 1, angle_n);
  RopeArgs args{};
  args.flags = (neighbours ? kRopeNeighbours : 0) | (packs ? kRopePacks : 0);
  args.half = half;
  args.turned = packs ? half / angle_n : half;
  const int64_t places = args.turned + (d - 2 * half) / (packs ? n : 1);
  join_repeats(&nest, std::clamp<int64_t>(nest.count * places / kEnoughThreads, 1, kRopeRepeats), &args);
  const Kernel& kernel = rope_kernels.get(gpu_, index_of(x.dtype));
  for (; args.first < places; args.first += most_elements()) {
    const int64_t some = std::min(most_elements(), places - args.first);
    args.places = divisor_of(static_cast<uint32_t>(some));
    for_each_part(
        nest,
        [&](const RowNest& part, const std::array<int64_t, 3>& offset, int64_t) {
          args.x = at(x.data(), offset[0], x.dtype);
          args.cos = at(cos.data(), offset[1], cos.dtype);
          args.sin = at(sin.data(), offset[1], sin.dtype);
          args.y = at(out.data(), offset[2], out.dtype);
          args.count = static_cast<uint32_t>(part.count * some);
          args.walk = walk_of(part);
          gpu_.launch(kernel, {{blocks_for(args.count, kMapThreads), 1, 1}, kMapThreads, 0}, args);
        },
        {}, 0, std::max<int64_t>(1, most_elements() / some));
  }
}

}  // namespace beeswax::gpu
