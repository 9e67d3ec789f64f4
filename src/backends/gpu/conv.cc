// SPDX-License-Identifier: Apache-2.0
// Convolutions as products over channels and taps. A transposed convolution is one such product for each set
// of outputs that the same taps reach.
#include <span>
#include <vector>

#include "backends/conv_taps.h"
#include "backends/gpu/conv_sum.h"
#include "backends/gpu/dnn/conv.h"
#include "backends/gpu/gemm.h"

namespace beeswax::gpu {
namespace {

enum ConvKernel : size_t { kF32, kF64, kBits32, kBits64, kConvKernels };
constexpr const char* kConvNames[] = {"f32", "f64", "bits32", "bits64"};
ConvKernel kernel_of(DType dtype) {
  if (dtype == DType::F64) return kF64;
  if (bytes_of(dtype) == 8) return kBits64;
  return dtype_is_float(dtype) ? kF32 : kBits32;
}
// Tiles, then those where a thread sums one output by itself.
KernelTable conv_kernels(kConvKernels * 2, [](size_t i) -> KernelTable::Name {
  return {join_text(i / kConvKernels == 0 ? "conv_" : "conv_direct_", kConvNames[i % kConvKernels]), "conv"};
});
// Floats gathered by tables of terms: plain, and f16 and bf16 on matrix units.
struct TileChoice {
  GemmTile tile;
  double speed;  // of its products, as an H200 has it
};
constexpr TileChoice kFloatTiles[] = {{kConvFew, 0.9}, {kConvSome, 1}, {kConvMany, 1.05}, {kGemmSmall, 0.85}};
constexpr size_t kNarrow = 4;  // narrower floats in tiles of kConvSome
KernelTable float_kernels(5, [](size_t i) -> KernelTable::Name {
  constexpr const char* kNames[] = {"f32_few", "f32_some", "f32_many", "f32_small", "narrow"};
  return {join_text("conv_", kNames[i]), "conv"};
});
constexpr TileChoice kMmaTiles[] = {{kConvMma, 1}, {kConvMmaSmall, 0.5}};
KernelTable mma_kernels(4, [](size_t i) -> KernelTable::Name {
  return {join_text("conv_mma_", i < 2 ? "f16" : "bf16", i % 2 == 0 ? "" : "_small"), "conv", "", 0,
          kHalfUnit};
});
KernelTable plane_kernels(kConvKernels, [](size_t i) -> KernelTable::Name {
  return {join_text("conv_planes_", kConvNames[i]), "conv"};
});

// 1 x 1 windows: a product of the kernel and every image as it lies.
bool as_product(Gpu& gpu, Backend& backend, const Sum& s) {
  if (!s.down.is_pointwise() || !s.across.is_pointwise() || s.c_out <= kConvDirect) return false;
  const int64_t x_down = s.x_row * s.down.step, x_across = s.x_column * s.across.step;
  if (s.down.out > 1 && (x_down != x_across * s.across.out || s.y_row != s.y_column * s.across.out))
    return false;
  const Shape images({s.batch, s.groups});
  const int64_t none[] = {0, s.w_group}, x[] = {s.x_image, s.x_group}, y[] = {s.y_image, s.y_group};
  const Layout w_layout(images, none, 0), x_layout(images, x, 0), y_layout(images, y, 0);
  gemm(gpu, backend,
       {s.c_out, s.down.out * s.across.out, s.c_in, s.dtype, s.dtype, s.dtype, s.w_data(), s.x, s.y, s.w_out,
        s.w_in, s.x_channel, x_across, s.y_channel, s.y_column, Nest<3>({&w_layout, &x_layout, &y_layout})},
       "conv", s.reduced);
  return true;
}

bool on_matrix_units(const Gpu& gpu, DType dtype) {
  return (dtype == DType::F16 || dtype == DType::BF16) && gpu.has(kHalfUnit);
}

// How the kernels that gather windows by tables of terms tell which lie in the image; nothing where they do
// not take the sum. Its strides do not matter but for their size.
std::optional<ConvInside> gathers(const Sum& s) {
  if (kernel_of(s.dtype) != kF32 || s.c_out <= kConvDirect) return std::nullopt;
  const auto span = [](const Axis& axis, int64_t stride) {
    return (axis.taps - 1) * std::abs(axis.tap_step) * std::abs(stride);
  };
  if ((s.c_in - 1) * std::abs(s.x_channel) + span(s.down, s.x_row) + span(s.across, s.x_column) >
      kMostPosition)
    return std::nullopt;
  if (s.down.is_inside() && s.across.is_inside()) return ConvInside::All;
  if (s.down.taps <= kConvBitRows && s.across.taps <= kConvBitColumns) return ConvInside::Bits;
  if (std::max(s.down.reach(), s.across.reach()) <= kConvDistance) return ConvInside::Distances;
  return std::nullopt;
}

// Whether results lie in aligned packs of 8 outputs of a channel.
bool stores_packs(const Sum& s) {
  return s.y_column == 1 && (s.down.out == 1 || s.y_row == s.across.out) &&
         (s.down.out * s.across.out) % 8 == 0 && s.y_channel % 8 == 0 && s.y_group % 8 == 0 &&
         s.y_image % 8 == 0 && reinterpret_cast<uintptr_t>(s.y) % 16 == 0;
}

// Whether the kernel lies as those kernels read it: dense along k, and for matrix units rows aligned.
bool has_dense_rows(const Sum& s, bool aligned) {
  const int64_t columns = s.across.taps, taps = s.down.taps * columns;
  const auto is = [](int64_t size, bool as_wanted) { return size == 1 || as_wanted; };
  return is(columns, s.w_column == 1) && is(s.down.taps, s.w_row == columns) && is(s.c_in, s.w_in == taps) &&
         (!aligned ||
          ((s.w_filled || s.c_in * taps % 8 == 0) && is(s.c_out, s.w_out % 8 == 0) &&
           is(s.groups, s.w_group % 8 == 0) && reinterpret_cast<uintptr_t>(s.w_data()) % 16 == 0));
}

// Lays a kernel out so, rows filled up with zeros to packs of 8, each `parts` of whose tap rows and columns
// are apart: [row part, column part, group, output, input, row, column]. Its strides become those of one
// part.
detail::Ref<Storage> make_dense_rows(Backend& backend, Sum& s, int64_t row_parts, int64_t row_part,
                                     int64_t column_parts, int64_t column_part) {
  const int64_t columns = s.across.taps, taps = s.down.taps * columns;
  const int64_t row = ceil_div(s.c_in * taps, 8) * 8, part = s.groups * s.c_out * row;
  const Shape shape({row_parts, column_parts, s.groups, s.c_out, s.c_in, s.down.taps, columns});
  const int64_t from[] = {row_part, column_part, s.w_group, s.w_out, s.w_in, s.w_row, s.w_column};
  const int64_t to[] = {column_parts * part, part, s.c_out * row, row, taps, columns, 1};
  detail::Ref<Storage> storage =
      backend.allocate(dtype_bytes(s.dtype, static_cast<size_t>(row_parts * column_parts * part)));
  const Layout from_layout(shape, from, s.w), to_layout(shape, to, 0);
  const Layout whole(Shape({row_parts * column_parts * part}));
  if (row != s.c_in * taps) backend.fill({storage.get(), &whole, s.dtype}, Scalar(0).to(s.dtype, "conv"));
  backend.copy({s.kernel, &from_layout, s.dtype}, {storage.get(), &to_layout, s.dtype});
  s.kernel = storage.get();
  s.w_base = storage->data();
  s.w = 0;
  s.w_filled = true;
  s.w_group = to[2];
  s.w_out = to[3];
  s.w_in = to[4];
  s.w_row = to[5];
  s.w_column = to[6];
  return storage;
}

ConvArgs arguments_of(const Sum& s) {
  ConvArgs arguments{};
  arguments.m = static_cast<uint32_t>(s.c_out);
  arguments.k = static_cast<uint32_t>(s.c_in * s.down.taps * s.across.taps);
  arguments.groups = static_cast<uint32_t>(s.groups);
  arguments.type = element_of(s.dtype);
  arguments.w = s.w_data();
  arguments.w_group = s.w_group;
  arguments.w_out = s.w_out;
  arguments.w_in = s.w_in;
  arguments.w_row = s.w_row;
  arguments.w_column = s.w_column;
  arguments.x_image = s.x_image;
  arguments.x_group = s.x_group;
  arguments.x_channel = s.x_channel;
  arguments.x_row = s.x_row;
  arguments.x_column = s.x_column;
  arguments.y_image = s.y_image;
  arguments.y_group = s.y_group;
  arguments.y_channel = s.y_channel;
  arguments.y_row = s.y_row;
  arguments.y_column = s.y_column;
  arguments.down = s.down.kernel();
  arguments.across = s.across.kernel();
  arguments.taps = divisor_of(static_cast<uint32_t>(s.down.taps * s.across.taps));
  arguments.tap_columns = divisor_of(static_cast<uint32_t>(s.across.taps));
  arguments.outputs = divisor_of(static_cast<uint32_t>(s.down.out * s.across.out));
  arguments.output_columns = divisor_of(static_cast<uint32_t>(s.across.out));
  arguments.class_down = s.class_down;
  arguments.class_across = s.class_across;
  return arguments;
}

// Positions of an axis that `outputs` neighbours see.
int64_t window_of(const Axis& axis, int64_t outputs) {
  return (outputs - 1) * axis.kernel().step + (axis.taps - 1) * std::abs(axis.kernel().tap_step) + 1;
}
// The most outputs, a multiple of `multiple` and no more than cover the axis, that see at most `most`
// positions.
int64_t most_outputs(const Axis& axis, int64_t most, int64_t multiple) {
  const int64_t all = ceil_div(axis.out, multiple) * multiple;
  if (window_of(axis, all) <= most) return all;
  const int64_t spread = std::max<int64_t>(axis.kernel().step, 1);
  const int64_t fit = (most - window_of(axis, 1)) / spread + 1;
  if (fit < multiple) return 0;
  // Tiles of one size, rather than a small last one.
  const int64_t tiles = ceil_div(all, fit / multiple * multiple);
  return ceil_div(ceil_div(all, tiles), multiple) * multiple;
}

// Groups of one input channel and few outputs, where what a tile of outputs sees fits in shared memory.
bool by_planes(Gpu& gpu, const Sum& s) {
  const int64_t taps = s.down.taps * s.across.taps;
  const int64_t bytes = bytes_of(s.dtype) == 8 ? 8 : 4;
  const int64_t window_room = kConvWindow / bytes, weight_room = kConvPlaneWeights / bytes;
  if (s.c_in != 1 || s.c_out > kConvDirect || s.c_out * taps > weight_room ||
      std::min({s.x_image, s.x_group, s.x_row, s.x_column}) < 0 ||
      (s.down.in - 1) * s.x_row + (s.across.in - 1) * s.x_column > kMostPosition ||
      s.down.out * s.y_row + s.across.out * s.y_column > kMostPosition)
    return false;
  const bool line = s.down.out == 1;  // outputs of a thread lie apart across
  const int64_t down_each = line ? 1 : kConvPlaneOutputs, across_each = line ? kConvPlaneOutputs : 1;
  const int64_t least_rows = window_of(s.down, down_each);
  if (least_rows > window_room) return false;
  const int64_t columns = most_outputs(s.across, window_room / least_rows, across_each);
  if (columns == 0) return false;
  const int64_t pitch = window_of(s.across, columns);
  const int64_t rows = most_outputs(s.down, window_room / pitch, down_each);
  const int64_t window = window_of(s.down, rows) * pitch;
  const int64_t tiles_across = ceil_div(s.across.out, columns);
  const int64_t tiles = tiles_across * ceil_div(s.down.out, rows);
  const int64_t items = rows * columns / kConvPlaneOutputs;

  ConvPlanesArgs arguments{};
  arguments.conv = arguments_of(s);
  arguments.groups = divisor_of(static_cast<uint32_t>(s.groups));
  arguments.channels = divisor_of(static_cast<uint32_t>(s.c_out));
  arguments.tiles = divisor_of(static_cast<uint32_t>(tiles));
  arguments.tiles_across = divisor_of(static_cast<uint32_t>(tiles_across));
  arguments.rows = static_cast<uint32_t>(rows);
  arguments.columns = static_cast<uint32_t>(columns);
  arguments.out_rows = static_cast<uint32_t>(s.down.out);
  arguments.window_rows = divisor_of(static_cast<uint32_t>(window / pitch));
  arguments.pitch = divisor_of(static_cast<uint32_t>(pitch));
  const int32_t down_back = std::min((arguments.conv.down.taps - 1) * arguments.conv.down.tap_step, 0);
  const int32_t across_back = std::min((arguments.conv.across.taps - 1) * arguments.conv.across.tap_step, 0);
  arguments.down_first = arguments.conv.down.origin + down_back;
  arguments.across_first = arguments.conv.across.origin + across_back;
  arguments.first_tap = -down_back * static_cast<int32_t>(pitch) - across_back;
  arguments.items = divisor_of(static_cast<uint32_t>(items));
  arguments.item_columns = divisor_of(static_cast<uint32_t>(columns / across_each));
  arguments.item_rows = static_cast<uint32_t>(down_each);
  arguments.next_row = line ? 0 : 1;
  arguments.next_column = line ? static_cast<uint32_t>(columns / across_each) : 0;
  arguments.slides = !line && s.down.taps == 3 && s.across.taps == 3 && arguments.conv.across.tap_step == 1 &&
                             arguments.conv.down.tap_step == arguments.conv.down.step
                         ? 1
                         : 0;
  // Small planes share a block.
  const bool near = (s.batch - 1) * s.x_image + (s.groups - 1) * s.x_group + (s.down.in - 1) * s.x_row +
                        (s.across.in - 1) * s.x_column <=
                    kMostPosition;
  arguments.each = tiles > 1 || !near
                       ? 1
                       : static_cast<uint32_t>(std::max<int64_t>(
                             std::min({kGemmThreads / items, window_room / window,
                                       weight_room / (s.c_out * taps), int64_t{kConvMostPlanes}}),
                             1));
  const int64_t outputs = s.down.out * s.across.out;
  const int64_t most = std::clamp<int64_t>(most_blocks(kGemmThreads) / (s.groups * tiles), 1,
                                           most_elements() / (outputs * s.groups * s.c_out));  // images
  for (int64_t image = 0; image < s.batch; image += most) {
    arguments.count = static_cast<uint32_t>(std::min(most, s.batch - image) * s.groups);
    arguments.conv.x = at(s.x, image * s.x_image, s.dtype);
    arguments.conv.y = at(s.y, image * s.y_image, s.dtype);
    const auto blocks = static_cast<uint32_t>(ceil_div(arguments.count, arguments.each) * tiles);
    gpu.launch(plane_kernels.get(gpu, kernel_of(s.dtype)), {{blocks, 1, 1}, kGemmThreads, 0}, arguments);
  }
  return true;
}

// The tile that would take the least time if a multiprocessor made one product after the other. Bits do not
// depend on it.
size_t tile_of(const Gpu& gpu, const Sum& s, std::span<const TileChoice> tiles) {
  const int64_t columns = s.batch * s.down.out * s.across.out;
  size_t best = 0;
  double least = 0;
  for (size_t i = 0; i < tiles.size(); ++i) {
    const GemmTile& tile = tiles[i].tile;
    const int64_t blocks =
        ceil_div(s.c_out, tile.rows) * ceil_div(columns, tile.columns) * s.groups * s.classes();
    const int64_t rounds = ceil_div(blocks, int64_t{gpu.properties().units});
    const double time = static_cast<double>(rounds * tile.rows * tile.columns) / tiles[i].speed;
    if (i > 0 && time >= least) continue;
    best = i;
    least = time;
  }
  return best;
}

// Images whose outputs one launch can take.
void launch_images(Gpu& gpu, Backend& backend, Sum s) {
  const int64_t outputs = s.down.out * s.across.out;
  const int64_t terms = s.c_in * s.down.taps * s.across.taps;
  if (!s.classes_inside && by_planes(gpu, s)) return;
  if (conv_hopper(gpu, backend, s)) return;
  const std::optional<ConvInside> inside = s.classes_inside ? s.classes_inside : gathers(s);
  const bool units = on_matrix_units(gpu, s.dtype);
  detail::Ref<Storage> copy;
  if (inside && terms > 0 && !has_dense_rows(s, units)) copy = make_dense_rows(backend, s, 1, 0, 1, 0);
  ConvArgs arguments = arguments_of(s);
  const bool direct = !inside && s.c_out <= kConvDirect;
  const ConvKernel kind = kernel_of(s.dtype);
  GemmTile tile = bytes_of(s.dtype) == 8 ? kGemmWide : kGemmSmall;
  const Kernel* kernel = nullptr;
  if (inside && units) {
    const size_t size = tile_of(gpu, s, kMmaTiles);
    tile = kMmaTiles[size].tile;
    arguments.inside = *inside;
    arguments.packs = stores_packs(s) ? 1 : 0;
    kernel = &mma_kernels.get(gpu, (s.dtype == DType::F16 ? 0 : 2) + size);
  } else if (inside) {
    const size_t size = s.dtype == DType::F32 ? tile_of(gpu, s, kFloatTiles) : kNarrow;
    tile = size == kNarrow ? kConvSome : kFloatTiles[size].tile;
    arguments.inside = *inside;
    kernel = &float_kernels.get(gpu, size);
  } else {
    kernel = &conv_kernels.get(gpu, direct ? kConvKernels + kind : kind);
  }
  const int64_t most = most_elements() / (outputs * s.groups * s.c_out * s.classes());  // of a launch
  for (int64_t image = 0; image < s.batch; image += most) {
    const int64_t images = std::min(most, s.batch - image);
    arguments.n = static_cast<uint32_t>(images * outputs);
    arguments.x = at(s.x, image * s.x_image, s.dtype);
    arguments.y = at(s.y, image * s.y_image, s.dtype);
    uint32_t blocks = 0;
    if (direct) {
      arguments.grid.tiles = divisor_of(arguments.n);
      blocks = blocks_for(s.groups * s.c_out * arguments.n, kGemmThreads);
    } else {
      arguments.grid = gemm_grid(s.c_out, arguments.n, tile);
      blocks = static_cast<uint32_t>(tiles_of(arguments.grid) * s.groups * s.classes());
    }
    gpu.launch(*kernel, {{blocks, 1, 1}, kGemmThreads, 0}, arguments);
  }
}

// Groups of an image with more outputs than one launch can take, then its channels, then its rows.
void launch_sum(Gpu& gpu, Backend& backend, const Sum& s) {
  if (s.reduced && conv_hopper(gpu, backend, s)) return;  // quicker than plain products
  if (s.classes() == 1 && as_product(gpu, backend, s)) return;
  const auto refuse = [&](std::string_view why) {
    fail(ErrorKind::TooLarge, "conv", "an image of ", s.c_in, " by ", s.down.in, " by ", s.across.in, " for ",
         s.groups * s.c_out, " channels of ", s.down.out, " by ", s.across.out, ": ", why, kMostElements);
  };
  if (s.c_in * s.down.taps * s.across.taps > kMostElements)
    refuse("a GPU's kernels take at most so many terms of an output: ");
  if (std::max(s.down.reach(), s.across.reach()) > kMostPosition)
    refuse("a GPU's kernels take no side that is longer, padding and window included, than twice ");
  const int64_t plane = s.down.out * s.across.out * s.classes();
  if (plane * s.c_out * s.groups <= most_elements()) return launch_images(gpu, backend, s);
  // Calls part_of(part, first, count) for `count` things of `each` outputs.
  const auto parts = [&](int64_t count, int64_t each, const auto& part_of) {
    const int64_t several = std::max<int64_t>(most_elements() / each, 1);
    for (int64_t first = 0; first < count; first += several) {
      Sum part = s;
      part_of(part, first, std::min(several, count - first));
      launch_sum(gpu, backend, part);
    }
  };
  if (s.groups > 1) {
    parts(s.groups, plane * s.c_out, [&](Sum& part, int64_t first, int64_t count) {
      part.groups = count;
      part.w += first * s.w_group;
      part.x = at(s.x, first * s.x_group, s.dtype);
      part.y = at(s.y, first * s.y_group, s.dtype);
    });
  } else if (s.c_out > 1) {
    parts(s.c_out, plane, [&](Sum& part, int64_t first, int64_t count) {
      part.c_out = count;
      part.w += first * s.w_out;
      part.y = at(s.y, first * s.y_channel, s.dtype);
    });
  } else if (s.down.out > 1) {
    parts(s.down.out, s.across.out, [&](Sum& part, int64_t first, int64_t count) {
      part.down.out = count;
      part.down.origin += first * s.down.step;
      part.y = at(s.y, first * s.y_row, s.dtype);
    });
  } else {
    refuse("a GPU's kernels make at most so many outputs at once: ");
  }
}

// No place of a tap in the padded result is further.
int64_t furthest(const ConvShape& s) {
  return std::max(s.h_k * s.h_dilation + s.h_padding + s.h_stride,
                  s.w_k * s.w_dilation + s.w_padding + s.w_stride);
}

Sum sum_of(const ConvShape& s, const Operand& x, const Operand& kernel, const Target& out) {
  const Layout& in = *x.layout;  // [batch, groups * c_in, h, w]
  Sum sum{};
  sum.dtype = x.dtype;
  sum.reduced = x.dtype == DType::F32 && reduced_precision_f32();
  sum.batch = s.batch;
  sum.groups = s.groups;
  sum.c_in = s.c_in;
  sum.c_out = s.c_out;
  sum.x = x.data();
  sum.kernel = kernel.storage;
  sum.w_base = kernel.storage->data();
  sum.w = kernel.layout->offset();
  sum.y = out.data();
  sum.x_image = in.stride(0);
  sum.x_channel = in.stride(1);
  sum.x_group = s.c_in * sum.x_channel;
  sum.x_row = in.stride(2);
  sum.x_column = in.stride(3);
  sum.y_column = 1;
  sum.y_row = s.w_out;
  sum.y_channel = s.h_out * s.w_out;
  sum.y_group = s.c_out * sum.y_channel;
  sum.y_image = s.groups * sum.y_group;
  return sum;
}

}  // namespace

void GpuBackend::conv(const ConvShape& s, const Operand& x, const Operand& kernel, const Target& out) {
  const Layout& w = *kernel.layout;  // [groups * c_out, c_in, h, w]
  Sum sum = sum_of(s, x, kernel, out);
  sum.w_out = w.stride(0);
  sum.w_group = s.c_out * w.stride(0);
  sum.w_in = w.stride(1);
  sum.w_row = w.stride(2);
  sum.w_column = w.stride(3);
  sum.down = {s.h_in, s.h_out, s.h_k, s.h_stride, s.h_dilation, -s.h_padding};
  sum.across = {s.w_in, s.w_out, s.w_k, s.w_stride, s.w_dilation, -s.w_padding};
  const dnn::Choice choice = dnn::choice();
  // What libraries are measured in is f32 throughout.
  const bool rounds = sum.reduced && conv_hopper_takes(gpu_, sum);
  if (!(rounds && choice.mode == VendorMode::Auto) &&
      dnn::conv(choice, gpu_, *this, s, x, kernel, out, false))
    return;
  launch_sum(gpu_, *this, sum);
}

void GpuBackend::conv_transpose(const ConvShape& s, const Operand& x, const Operand& kernel,
                                const Target& out) {
  if (dnn::conv(dnn::choice(), gpu_, *this, s, x, kernel, out, true)) return;
  const Layout& w = *kernel.layout;  // [groups * c_in, c_out, h, w]
  Sum sum = sum_of(s, x, kernel, out);
  sum.w_in = w.stride(0);
  sum.w_group = s.c_in * w.stride(0);
  sum.w_out = w.stride(1);
  const auto rows = tap_classes<Axis>(s.h_in, s.h_out, s.h_k, s.h_stride, s.h_padding, s.h_dilation);
  const auto columns = tap_classes<Axis>(s.w_in, s.w_out, s.w_k, s.w_stride, s.w_padding, s.w_dilation);
  int64_t outputs = 0;
  for (const TapClass<Axis>& y : rows)
    for (const TapClass<Axis>& x_class : columns) outputs += y.axis.out * x_class.axis.out;
  if (outputs < s.h_out * s.w_out)
    fill(out, Scalar(0).to(out.dtype, "conv_transpose"));  // no tap reaches some
  // Taps of a class lie apart; all classes are laid out densely at once where they are alike.
  const int64_t rows_apart = rows.empty() ? 1 : rows[0].tap_stride;
  const int64_t columns_apart = columns.empty() ? 1 : columns[0].tap_stride;
  sum.w_row = rows_apart * w.stride(2);
  sum.w_column = columns_apart * w.stride(3);
  int64_t next_row = w.stride(2), next_column = w.stride(3);  // of the next class
  detail::Ref<Storage> copy;
  if (outputs > 0 && rows_apart * columns_apart > 1 && s.h_k % rows_apart == 0 &&
      s.w_k % columns_apart == 0 && sum.c_in > 0) {
    sum.down = rows[0].axis;
    sum.across = columns[0].axis;
    if (gathers(sum)) {
      copy = make_dense_rows(*this, sum, rows_apart, next_row, columns_apart, next_column);
      next_column = sum.groups * sum.w_group;
      next_row = columns_apart * next_column;
    }
  }
  if (copy) {
    std::optional<ConvInside> inside = ConvInside::All;
    for (const TapClass<Axis>& y : rows) {
      for (const TapClass<Axis>& c : columns) {
        Sum part = sum;
        part.down = y.axis;
        part.across = c.axis;
        const std::optional<ConvInside> of_part = gathers(part);
        const bool alike = y.axis.out == rows[0].axis.out && c.axis.out == columns[0].axis.out;
        inside = inside && of_part && alike ? std::optional(std::max(*inside, *of_part)) : std::nullopt;
      }
    }
    const bool all = std::ssize(rows) == rows_apart && std::ssize(columns) == columns_apart;
    const bool pointwise = sum.down.taps == 1 && sum.across.taps == 1;  // may be plain products
    if (inside && all && !pointwise && furthest(s) <= kMostPosition && s.h_out * s.w_out <= most_elements()) {
      const auto axis = [](int64_t count, int64_t stride, int64_t padding, int64_t dilation, int64_t next,
                           int64_t y) {
        return ConvClassAxis{static_cast<int32_t>(count),
                             static_cast<int32_t>(stride),
                             static_cast<int32_t>(padding),
                             static_cast<int32_t>(dilation),
                             next,
                             y};
      };
      sum.classes_inside = inside;
      sum.class_down = axis(rows_apart, s.h_stride, s.h_padding, s.h_dilation, next_row, s.w_out);
      sum.class_across = axis(columns_apart, s.w_stride, s.w_padding, s.w_dilation, next_column, 1);
      sum.down.origin = sum.across.origin = 0;
      sum.y_row = s.h_stride * s.w_out;
      sum.y_column = s.w_stride;
      return launch_sum(gpu_, *this, sum);
    }
  }
  for (const TapClass<Axis>& y : rows) {
    for (const TapClass<Axis>& c : columns) {
      Sum part = sum;
      part.down = y.axis;
      part.across = c.axis;
      part.w = sum.w + y.first_tap * next_row + c.first_tap * next_column;
      part.y = at(sum.y, y.first_output * s.w_out + c.first_output, x.dtype);
      part.y_row = s.h_stride * s.w_out;
      part.y_column = s.w_stride;
      launch_sum(gpu_, *this, part);
    }
  }
}

}  // namespace beeswax::gpu
