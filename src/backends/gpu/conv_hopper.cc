// SPDX-License-Identifier: Apache-2.0
// Convolutions of stride 1 on Hopper's matrix units, whose operands the copy engine brings: f16 and bf16.
#include <array>

#include "backends/gpu/conv_sum.h"
#include "backends/gpu/gemm.h"
#include "kernels/conv_hopper_args.h"

namespace beeswax::gpu {
namespace {

constexpr size_t kTiles = std::size(kConvWgmmaTiles);
uint32_t shared_of(const ConvWgmmaTile& tile) {
  return static_cast<uint32_t>(wgmma_shared(tile.ring, tile.rows));
}
// By dtype (f16, bf16) and tile; then what lays the image out.
KernelTable wgmma_kernels(2 * kTiles + 1, [](size_t i) -> KernelTable::Name {
  if (i == 2 * kTiles) return {"conv_spread", "conv", kHopper};
  const ConvWgmmaTile& tile = kConvWgmmaTiles[i % kTiles];
  return {join_text("conv_wgmma_", i < kTiles ? "f16_" : "bf16_", tile.rows, "x", tile.ring.columns), "conv",
          kHopper, shared_of(tile)};
});

// An axis as its places lie: `extra` zeros behind each row (or image) stand before the next one too.
struct Places {
  int64_t extra, pitch;

  explicit Places(const Axis& axis) {
    const int64_t far = (axis.taps - 1) * axis.tap_step;
    const int64_t first = axis.origin + std::min<int64_t>(far, 0);
    const int64_t last = axis.origin + axis.out - 1 + std::max<int64_t>(far, 0);
    extra = std::max({int64_t{0}, -first, last - (axis.in - 1)});
    pitch = std::max(axis.in + extra, axis.out);
  }
};

// The part of the multiplications that the result needs, at least, and how many channels of the result and of
// the image. Fitted to nothing: the other kernels take about a fifth of the matrix units' rate on an H200.
constexpr double kLeastUse = 0.3;
constexpr int64_t kLeastOut = 32, kLeastTerms = 128;
constexpr int64_t kMostCopied = int64_t{1} << 30;  // bytes

// The kernel as the copy engine takes it: [outputs, taps, whole steps of channels].
detail::Ref<Storage> lay_kernel_out(Backend& backend, const Sum& s, int64_t tap_channels) {
  const int64_t taps = s.down.taps * s.across.taps, row = taps * tap_channels;
  const Shape shape({s.c_out, s.c_in, s.down.taps, s.across.taps});
  const int64_t from[] = {s.w_out, s.w_in, s.w_row, s.w_column};
  const int64_t to[] = {row, 1, s.across.taps * tap_channels, tap_channels};
  detail::Ref<Storage> storage = backend.allocate(dtype_bytes(s.dtype, static_cast<size_t>(s.c_out * row)));
  const Layout from_layout(shape, from, s.w), to_layout(shape, to, 0), whole(Shape({s.c_out * row}));
  if (tap_channels != s.c_in) backend.fill({storage.get(), &whole, s.dtype}, Scalar(0).to(s.dtype, "conv"));
  backend.copy({s.kernel, &from_layout, s.dtype}, {storage.get(), &to_layout, s.dtype});
  return storage;
}

TensorMap map_of(Gpu& gpu, const Storage& storage, int64_t line, int64_t lines, int box_lines) {
  TensorView view{};
  view.data = storage.data();
  view.element = 2;
  view.dims[0] = static_cast<uint64_t>(line);
  view.dims[1] = static_cast<uint64_t>(lines);
  view.dims[2] = 1;
  view.strides[0] = static_cast<uint64_t>(2 * line);
  view.strides[1] = 16;  // never walked
  view.box[0] = kWgmmaStep;
  view.box[1] = static_cast<uint32_t>(box_lines);
  TensorMap map;
  gpu.make_tensor_map(view, &map);
  return map;
}

}  // namespace

bool conv_hopper(Gpu& gpu, Backend& backend, const Sum& s) {
  const bool half = s.dtype == DType::F16 || s.dtype == DType::BF16;
  if (!half || !Bundle::is_for(gpu.target(), kHopper) || s.groups != 1 || s.classes() != 1) return false;
  if ((s.down.out > 1 && s.down.step != 1) || (s.across.out > 1 && s.across.step != 1)) return false;
  const int64_t taps = s.down.taps * s.across.taps, tap_steps = ceil_div(s.c_in, int64_t{kWgmmaStep});
  const Places rows(s.down), columns(s.across);
  const int64_t plane = rows.pitch * columns.pitch, steps = taps * tap_steps;
  const auto use = [](int64_t part, int64_t whole) {
    return static_cast<double>(part) / static_cast<double>(whole);
  };
  if (s.c_out < kLeastOut || s.c_in * taps < kLeastTerms || plane > most_elements() ||
      use(s.c_in, tap_steps * kWgmmaStep) * use(s.c_out, ceil_div(s.c_out, 64) * 64) *
              use(s.down.out * s.across.out, plane) <
          kLeastUse)
    return false;

  // Images at a time: no more places than a launch may count, or than a copy is allowed, but one image.
  const int64_t line = ceil_div(s.c_in, 8) * 8;
  const int64_t most = std::max<int64_t>(std::min(most_elements(), kMostCopied / (2 * line)) / plane, 1);
  const detail::Ref<Storage> kernel = lay_kernel_out(backend, s, tap_steps * kWgmmaStep);
  for (int64_t image = 0; image < s.batch; image += most) {
    const int64_t places = std::min(most, s.batch - image) * plane;
    const detail::Ref<Storage> spread =
        backend.allocate(dtype_bytes(s.dtype, static_cast<size_t>(places * line)));
    ConvSpreadArgs lay{};
    lay.x = at(s.x, image * s.x_image, s.dtype);
    lay.y = spread->data();
    lay.x_image = s.x_image;
    lay.x_channel = s.x_channel;
    lay.x_row = s.x_row;
    lay.x_column = s.x_column;
    lay.channels = static_cast<uint32_t>(s.c_in);
    lay.line = static_cast<uint32_t>(line);
    lay.rows = static_cast<uint32_t>(s.down.in);
    lay.columns = static_cast<uint32_t>(s.across.in);
    lay.places = static_cast<uint32_t>(places);
    lay.plane = divisor_of(static_cast<uint32_t>(plane));
    lay.pitch = divisor_of(static_cast<uint32_t>(columns.pitch));
    lay.channel_tiles = divisor_of(blocks_for(line, kConvSpreadTile));
    gpu.launch(
        wgmma_kernels.get(gpu, 2 * kTiles),
        {{blocks_for(places, kConvSpreadTile) * lay.channel_tiles.divisor, 1, 1}, kConvSpreadThreads, 0},
        lay);

    const ConvWgmmaTile* tile = nullptr;
    double least = 0;
    for (const ConvWgmmaTile& one : kConvWgmmaTiles) {
      const int64_t tiles =
          ceil_div(s.c_out, int64_t{one.rows}) * ceil_div(places, int64_t{one.ring.columns});
      const double time = wgmma_time(gpu, tiles, one.ring.columns * one.rows / kWgmmaRows, steps);
      if (tile != nullptr && time >= least) continue;
      tile = &one;
      least = time;
    }
    ConvHopperArgs arguments{};
    HopperArgs& product = arguments.product;
    product.a = map_of(gpu, *kernel, steps * kWgmmaStep, s.c_out, tile->rows);
    product.b = map_of(gpu, *spread, line, places, tile->ring.columns);
    product.c_data = at(s.y, image * s.y_image, s.dtype);
    product.m = static_cast<uint32_t>(s.c_out);
    product.n = static_cast<uint32_t>(places);
    product.steps = product.part_steps = static_cast<uint32_t>(steps);
    product.parts = 1;
    product.part = divisor_of(1);
    product.grid = gemm_grid(s.c_out, places, {tile->rows, tile->ring.columns, 0, 0, 0}, kWgmmaBand);
    product.work = static_cast<uint32_t>(tiles_of(product.grid));
    product.blocks = std::min(product.work, static_cast<uint32_t>(gpu.properties().units));
    arguments.tap_steps = divisor_of(static_cast<uint32_t>(tap_steps));
    arguments.tap_columns = divisor_of(static_cast<uint32_t>(s.across.taps));
    const int64_t pitch = columns.pitch;
    arguments.first_tap = static_cast<int32_t>(s.down.origin * pitch + s.across.origin);
    arguments.next_tap_row = s.down.taps > 1 ? static_cast<int32_t>(s.down.tap_step * pitch) : 0;
    arguments.next_tap_column = s.across.taps > 1 ? static_cast<int32_t>(s.across.tap_step) : 0;
    arguments.plane = lay.plane;
    arguments.pitch = lay.pitch;
    arguments.out_rows = static_cast<uint32_t>(s.down.out);
    arguments.out_columns = static_cast<uint32_t>(s.across.out);
    arguments.y_image = s.y_image;
    arguments.y_channel = s.y_channel;
    arguments.y_row = s.y_row;
    arguments.y_column = s.y_column;
    const void* const mapped[] = {kernel->data(), spread->data()};  // maps do not show their addresses
    const size_t entry = (s.dtype == DType::F16 ? 0 : kTiles) + static_cast<size_t>(tile - kConvWgmmaTiles);
    gpu.launch(wgmma_kernels.get(gpu, entry), {{product.blocks, 1, 1}, kWgmmaThreads, shared_of(*tile)},
               arguments, mapped);
  }
  return true;
}

}  // namespace beeswax::gpu
