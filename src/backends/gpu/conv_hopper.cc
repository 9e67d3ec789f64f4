// SPDX-License-Identifier: Apache-2.0
// Convolutions on Hopper whose operands the copy engine brings: f16, bf16, f8e4m3 and tf32 on matrix units,
// f32 without.
#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "backends/gpu/conv_sum.h"
#include "backends/gpu/gemm.h"
#include "core/divide.h"
#include "kernels/conv_hopper_args.h"

namespace beeswax::gpu {
namespace {

constexpr size_t kTiles = std::size(kConvWgmmaTiles), kLines = std::size(kLinesTiles);
uint32_t shared_of(const ConvWgmmaTile& tile) {
  return static_cast<uint32_t>(wgmma_shared(tile.ring, tile.rows));
}
// Ways to make a sum: what the operands become on their way into their places.
struct Way {
  const char *name, *spread;
  int64_t element;  // bytes of an operand there
  bool on_units;
};
enum WayIndex : size_t { kF16, kBF16, kTf32, kF8, kF32, kWays };
constexpr Way kWayTable[] = {{"f16", "conv_spread_16", 2, true},
                             {"bf16", "conv_spread_16", 2, true},
                             {"tf32", "conv_spread_tf32", 4, true},
                             {"f8e4m3", "conv_spread_f8e4m3", 2, true},
                             {"f32", "conv_spread_32", 4, false}};
static_assert(std::size(kWayTable) == kWays);
std::optional<WayIndex> way_of(const Sum& s) {
  switch (s.dtype) {
    case DType::F16:
      return kF16;
    case DType::BF16:
      return kBF16;
    case DType::F8E4M3:
      return kF8;
    case DType::F32:
      return s.reduced ? kTf32 : kF32;
    default:
      return std::nullopt;
  }
}
KernelTable spread_kernels(kWays, [](size_t i) -> KernelTable::Name {
  return {kWayTable[i].spread, "conv", kHopper};
});
// By way and tile, but of f32.
KernelTable wgmma_kernels(size_t{kF32} * kTiles, [](size_t i) -> KernelTable::Name {
  const ConvWgmmaTile& tile = kConvWgmmaTiles[i % kTiles];
  return {join_text("conv_wgmma_", kWayTable[i / kTiles].name, "_", tile.rows, "x", tile.ring.columns),
          "conv", kHopper, shared_of(tile)};
});
// By tile: what multiplies, then what adds the parts of tiles.
KernelTable lines_kernels(2 * kLines, [](size_t i) -> KernelTable::Name {
  const LinesTile& tile = kLinesTiles[i % kLines];
  if (i >= kLines) return {join_text("conv_lines_join_", tile.rows), "conv", kHopper};
  return {join_text("conv_lines_", tile.rows), "conv", kHopper, static_cast<uint32_t>(lines_shared(tile))};
});

// An axis as its places lie: those of phase p stand for positions p, p + phases, ..., so that outputs which
// are `phases` apart are neighbours. Zeros behind each row (or image) stand before the next one too.
struct Places {
  // Where output 0 and a tap meet: so many places of that phase further than the output's own.
  struct Meeting {
    int64_t phase, distance;
  };
  int64_t phases, pitch;
  std::vector<Meeting> meetings;  // [class][tap]

  Places(const Axis& axis, const ConvClassAxis& classes) : phases(axis.out > 1 ? axis.step : 1) {
    int64_t least = 0, most = 0;
    for (int64_t i = 0; i < classes.count; ++i) {
      const int64_t origin = axis.origin + class_place(classes, i).origin;
      for (int64_t tap = 0; tap < axis.taps; ++tap) {
        const int64_t at = origin + tap * axis.tap_step, distance = floor_div(at, phases);
        meetings.push_back({at - distance * phases, distance});
        least = std::min(least, distance);
        most = std::max(most, distance);
      }
    }
    const int64_t size = ceil_div(axis.in, phases);  // of a phase
    pitch = std::max(size + std::max({int64_t{0}, -least, most + axis.out - size}), axis.out);
  }

  // Whether all phases have so few places that products of two such axes are numbers.
  bool is_small() const { return phases <= most_elements() && pitch <= most_elements() / phases; }

  struct ClassPlace {
    int64_t origin, first;  // the position that the class's first tap and output meet at, and that output
  };
  static ClassPlace class_place(const ConvClassAxis& classes, int64_t i) {
    const int64_t ahead = i * classes.dilation - classes.padding, down = floor_div(ahead, classes.stride);
    return {-down, ahead - down * classes.stride};
  }
};

// How a sum is made. Nothing of this depends on the batch.
struct Plan {
  WayIndex index;
  const Way& way = kWayTable[index];
  Places down, across;
  int64_t taps;
  int64_t step, tap_steps, steps;  // of k: elements; of a tap, and in all
  int64_t line;                    // elements of a place: its channels of all groups

  Plan(const Sum& s, WayIndex i)
      : index(i),
        down(s.down, s.class_down),
        across(s.across, s.class_across),
        taps(s.down.taps * s.across.taps),
        step(kHopperLine / way.element),
        tap_steps(ceil_div(s.c_in, step)),
        steps(taps * tap_steps),
        line(s.groups * round_up(s.c_in * way.element, kHopperAlign) / way.element) {}
  // Once both axes are small: places of an image, and how often it has them.
  int64_t plane() const { return down.pitch * across.pitch; }
  int64_t phases() const { return down.phases * across.phases; }
  detail::Ref<Storage> allocate(Backend& backend, int64_t elements) const {
    return backend.allocate(static_cast<size_t>(elements * way.element));
  }
};

// Products with kernels of their own: the classes of a transposed convolution or the groups of any other.
int64_t batch_of(const Sum& s) { return s.groups * s.classes(); }
// Whether a sum has not both, and the channels of its groups lie one behind another in a place, as they do in
// the image.
bool groups_fit(const Sum& s, const Plan& plan) {
  return s.groups == 1 || (s.classes() == 1 && plan.line == s.groups * s.c_in);
}

// The part of the multiplications that the result needs, at least, and how many channels of the result and of
// the image. Fitted to nothing: the other kernels take about a fifth of the matrix units' rate on an H200,
// and about two thirds of this one's in f32.
constexpr double kLeastUse = 0.3, kLeastUseOfF32 = 0.7;
constexpr int64_t kLeastOut = 32, kLeastTerms = 128;
constexpr int64_t kMostCopied = int64_t{1} << 30;  // bytes

// Multiplications of a matrix in a product that is taken as a convolution, for the sake of its copies.
constexpr double kLeastProduct = 0x1p30;

bool is_worth_it(const Sum& s, const Plan& plan) {
  const auto use = [](int64_t part, int64_t whole) {
    return static_cast<double>(part) / static_cast<double>(whole);
  };
  return s.c_out >= kLeastOut && s.c_in * plan.taps >= kLeastTerms && plan.down.is_small() &&
         plan.across.is_small() && plan.phases() <= plan.taps &&  // or copies have more than taps read
         use(s.c_in, plan.tap_steps * plan.step) * use(s.c_out, round_up(s.c_out, 64)) *
                 use(s.down.out * s.across.out, plan.plane()) >=
             (plan.way.on_units ? kLeastUse : kLeastUseOfF32);
}

// Places, of which tiles take no more steps in all than are counted.
int64_t most_in_steps(const Sum& s, const Plan& plan) {
  constexpr int64_t kRows = 64, kColumns = 64;  // of the smallest tiles
  return kMostPosition / (plan.steps * ceil_div(s.c_out, kRows) * batch_of(s)) * kColumns;
}

// How Hopper makes a sum, where it does.
std::optional<Plan> plan_of(const Gpu& gpu, const Sum& s) {
  const std::optional<WayIndex> way = way_of(s);
  if (!way || !Bundle::is_for(gpu.target(), kHopper) || s.classes() > kConvMostClasses ||
      s.classes() * s.down.taps * s.across.taps > kConvMostTaps)
    return std::nullopt;
  Plan plan(s, *way);
  if (!is_worth_it(s, plan) || !groups_fit(s, plan) ||
      plan.phases() * plan.plane() > std::min(most_elements(), most_in_steps(s, plan)) ||
      batch_of(s) * s.c_out * plan.taps > most_elements())
    return std::nullopt;
  return plan;
}

// What lays elements out as places, and where they are then.
struct Spread {
  ConvSpread args{};
  detail::Ref<Storage> laid;
  uint32_t blocks() const {
    return blocks_for(args.places, kConvSpreadTile) * args.phases.divisor * args.channel_tiles.divisor;
  }
};
void launch(Gpu& gpu, const Plan& plan, const Spread& one, const Spread* other) {
  ConvSpreadArgs both{};
  both.of[0] = one.args;
  both.second = one.blocks();
  if (other != nullptr) both.of[1] = other->args;
  gpu.launch(spread_kernels.get(gpu, plan.index),
             {{both.second + (other != nullptr ? other->blocks() : 0), 1, 1}, kConvSpreadThreads, 0}, both);
}
Spread spread_of(Backend& backend, const Plan& plan, ConvSpread args) {
  args.by_channels = args.x_channel == 1 ? 1 : 0;
  args.channel_tiles = divisor_of(blocks_for(args.line, kConvSpreadTile));
  Spread spread{args, plan.allocate(backend, int64_t{args.phases.divisor} * args.places * args.line)};
  spread.args.y = spread.laid->data();
  return spread;
}

// The kernel as the copy engine takes it: [class or group, outputs, taps, whole steps of channels]. To what
// lays it out, classes and groups are phases, outputs images, and taps their pixels.
Spread kernel_out(Backend& backend, const Sum& s, const Plan& plan) {
  const int64_t of_class = s.c_out * plan.taps;
  ConvSpread lay{};
  lay.x = s.w_data();
  lay.x_image = s.w_out;
  lay.x_channel = s.w_in;
  lay.x_row = s.w_row;
  lay.x_column = s.w_column;
  lay.x_phase_row = s.class_down.w;
  lay.x_phase_column = s.groups > 1 ? s.w_group : s.class_across.w;
  lay.channels = static_cast<uint32_t>(s.c_in);
  lay.line = static_cast<uint32_t>(plan.tap_steps * plan.step);
  const int64_t across = s.groups * s.class_across.count;
  lay.rows = static_cast<uint32_t>(s.class_down.count * s.down.taps);
  lay.columns = static_cast<uint32_t>(across * s.across.taps);
  lay.places = static_cast<uint32_t>(of_class);
  lay.phase_rows = static_cast<uint32_t>(s.class_down.count);
  lay.phase_columns = divisor_of(static_cast<uint32_t>(across));
  lay.phases = divisor_of(static_cast<uint32_t>(batch_of(s)));
  lay.plane = divisor_of(static_cast<uint32_t>(plan.taps));
  lay.pitch = divisor_of(static_cast<uint32_t>(s.across.taps));
  return spread_of(backend, plan, lay);
}

// The places of `places / plane` images from one on: [phase, place, channel].
Spread images_out(Backend& backend, const Sum& s, const Plan& plan, int64_t image, int64_t places) {
  ConvSpread lay{};
  lay.x = at(s.x, image * s.x_image, s.dtype);
  lay.x_image = s.x_image;
  lay.x_channel = s.x_channel;
  lay.x_row = plan.down.phases * s.x_row;
  lay.x_column = plan.across.phases * s.x_column;
  lay.x_phase_row = s.x_row;
  lay.x_phase_column = s.x_column;
  lay.channels = static_cast<uint32_t>(s.groups * s.c_in);
  lay.line = static_cast<uint32_t>(plan.line);
  lay.rows = static_cast<uint32_t>(s.down.in);
  lay.columns = static_cast<uint32_t>(s.across.in);
  lay.places = static_cast<uint32_t>(places);
  lay.phase_rows = static_cast<uint32_t>(plan.down.phases);
  lay.phase_columns = divisor_of(static_cast<uint32_t>(plan.across.phases));
  lay.phases = divisor_of(static_cast<uint32_t>(plan.phases()));
  lay.plane = divisor_of(static_cast<uint32_t>(plan.plane()));
  lay.pitch = divisor_of(static_cast<uint32_t>(plan.across.pitch));
  return spread_of(backend, plan, lay);
}

// Lines of so many elements, each `pitch` after the one before, in matrices that begin `apart` after each
// other.
TensorMap map_of(Gpu& gpu, const Plan& plan, const Storage& storage, int64_t line, int64_t pitch,
                 int64_t lines, int64_t apart, int64_t matrices, int box_lines) {
  TensorView view{};
  view.data = storage.data();
  view.element = static_cast<int>(plan.way.element);
  view.dims[0] = static_cast<uint64_t>(line);
  view.dims[1] = static_cast<uint64_t>(lines);
  view.dims[2] = static_cast<uint64_t>(matrices);
  view.strides[0] = static_cast<uint64_t>(plan.way.element * pitch);
  view.strides[1] = static_cast<uint64_t>(plan.way.element * apart);
  view.box[0] = static_cast<uint32_t>(plan.step);
  view.box[1] = static_cast<uint32_t>(box_lines);
  TensorMap map;
  gpu.make_tensor_map(view, &map);
  return map;
}

// What the kernels are told of images from one on, but for maps and tiles.
ConvHopperArgs arguments_of(const Sum& s, const Plan& plan, int64_t image, int64_t places) {
  ConvHopperArgs arguments{};
  HopperArgs& product = arguments.product;
  product.c_data = at(s.y, image * s.y_image, s.dtype);
  product.m = static_cast<uint32_t>(s.c_out);
  product.n = static_cast<uint32_t>(places);
  product.steps = product.part_steps = static_cast<uint32_t>(plan.steps);
  product.parts = 1;
  product.part = divisor_of(1);
  product.b_batch = s.groups > 1 ? 1 : 0;
  product.c_batch = s.y_group;
  arguments.tap_steps = divisor_of(static_cast<uint32_t>(plan.tap_steps));
  arguments.taps = static_cast<uint32_t>(plan.taps);
  size_t next = 0;
  for (int64_t i = 0; i < s.classes(); ++i) {
    const int64_t row_class = i / s.class_across.count, column_class = i % s.class_across.count;
    arguments.class_y[i] = Places::class_place(s.class_down, row_class).first * s.class_down.y +
                           Places::class_place(s.class_across, column_class).first * s.class_across.y;
    for (int64_t tap = 0; tap < plan.taps; ++tap) {
      const int64_t row = row_class * s.down.taps + tap / s.across.taps;
      const int64_t column = column_class * s.across.taps + tap % s.across.taps;
      const auto& [row_phase, down] = plan.down.meetings[static_cast<size_t>(row)];
      const auto& [column_phase, across] = plan.across.meetings[static_cast<size_t>(column)];
      arguments.distances[next++] = static_cast<int32_t>(
          (row_phase * plan.across.phases + column_phase) * places + down * plan.across.pitch + across);
    }
  }
  arguments.plane = divisor_of(static_cast<uint32_t>(plan.plane()));
  arguments.pitch = divisor_of(static_cast<uint32_t>(plan.across.pitch));
  arguments.out_rows = static_cast<uint32_t>(s.down.out);
  arguments.out_columns = static_cast<uint32_t>(s.across.out);
  arguments.y_image = s.y_image;
  arguments.y_channel = s.y_channel;
  arguments.y_row = s.y_row;
  arguments.y_column = s.y_column;
  return arguments;
}

int64_t tiles_for(const Sum& s, int64_t places, int64_t rows, int64_t columns) {
  return ceil_div(s.c_out, rows) * ceil_div(places, columns) * batch_of(s);
}
// The index of the tile that takes the least time.
template <class Time>
size_t quickest(size_t count, Time time_of) {
  size_t best = 0;
  double least = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < count; ++i) {
    const double time = time_of(i);
    if (time >= least) continue;
    best = i;
    least = time;
  }
  return best;
}

void map_operands(Gpu& gpu, const Sum& s, const Plan& plan, const Storage& kernel, const Storage& spread,
                  int rows, int columns, ConvHopperArgs& arguments) {
  HopperArgs& product = arguments.product;
  const int64_t row = plan.steps * plan.step, of_group = plan.line / s.groups;
  product.a = map_of(gpu, plan, kernel, row, row, s.c_out, s.c_out * row, batch_of(s), rows);
  product.b =
      map_of(gpu, plan, spread, of_group, plan.line, plan.phases() * product.n, of_group, s.groups, columns);
}

// What a tile takes on an H200, in microseconds: its start, each element of its results, and of a step, and a
// step however small. Fitted to five tiles of 20 shapes, in f16 and tf32.
constexpr double kTileTime = 0.4, kResultTime = 3.4e-4, kStepTime = 2.27e-5, kLeastStepTime = 0.22;
double time_of(const Gpu& gpu, const ConvWgmmaTile& tile, int64_t tiles, int64_t steps) {
  const int64_t rounds = ceil_div(tiles, int64_t{gpu.properties().units});
  const double elements = tile.rows * tile.ring.columns;
  const double step = std::max(kLeastStepTime, elements * kStepTime);
  return static_cast<double>(rounds) *
         (kTileTime + elements * kResultTime + static_cast<double>(steps) * step);
}

void on_matrix_units(Gpu& gpu, const Sum& s, const Plan& plan, const Storage& kernel, const Storage& spread,
                     ConvHopperArgs& arguments) {
  HopperArgs& product = arguments.product;
  const size_t index = quickest(kTiles, [&](size_t i) {
    const ConvWgmmaTile& one = kConvWgmmaTiles[i];
    return time_of(gpu, one, tiles_for(s, product.n, one.rows, one.ring.columns), plan.steps);
  });
  const ConvWgmmaTile& tile = kConvWgmmaTiles[index];
  map_operands(gpu, s, plan, kernel, spread, tile.rows, tile.ring.columns, arguments);
  product.grid = gemm_grid(s.c_out, product.n, {tile.rows, tile.ring.columns, 0, 0, 0}, kWgmmaBand);
  product.work = static_cast<uint32_t>(tiles_of(product.grid) * batch_of(s));
  product.blocks = std::min(product.work, static_cast<uint32_t>(gpu.properties().units));
  const void* const mapped[] = {kernel.data(), spread.data()};  // maps do not show their addresses
  gpu.launch(wgmma_kernels.get(gpu, plan.index * kTiles + index),
             {{product.blocks, 1, 1}, kWgmmaThreads, shared_of(tile)}, arguments, mapped);
}

// Steps of all tiles in a row, and the share of each block: whole tiles, or an even one.
struct Shares {
  int64_t all, share, blocks;
  double time;  // in steps
};
// What it takes to store and to join parts of tiles, in steps of one: about ten microseconds on an H200.
constexpr double kJoinSteps = 4;
constexpr int64_t kLeastShare = 8;
Shares shares_of(const Gpu& gpu, int64_t tiles, int64_t steps) {
  const int64_t units = gpu.properties().units, all = tiles * steps;
  const int64_t whole = ceil_div(tiles, units) * steps;
  const int64_t even = std::max(ceil_div(all, units), kLeastShare);
  const double cut = static_cast<double>(even) + kJoinSteps;
  if (cut >= static_cast<double>(whole))
    return {all, whole, ceil_div(all, whole), static_cast<double>(whole)};
  return {all, even, ceil_div(all, even), cut};
}

void by_lines(Gpu& gpu, Backend& backend, const Sum& s, const Plan& plan, const Storage& kernel,
              const Storage& spread, ConvHopperArgs& arguments) {
  HopperArgs& product = arguments.product;
  const auto shares = [&](size_t i) {
    return shares_of(gpu, tiles_for(s, product.n, kLinesTiles[i].rows, kLinesTiles[i].columns), plan.steps);
  };
  const size_t index = quickest(kLines, [&](size_t i) { return shares(i).time; });
  static_assert(kLinesTiles[0].rows * kLinesTiles[0].columns == kLinesTiles[1].rows * kLinesTiles[1].columns);
  const LinesTile& tile = kLinesTiles[index];
  const Shares shared = shares(index);
  map_operands(gpu, s, plan, kernel, spread, tile.rows, tile.columns, arguments);
  product.grid = gemm_grid(s.c_out, product.n, {tile.rows, tile.columns, 0, 0, 0}, kGemmBand);
  arguments.steps = divisor_of(product.steps);
  arguments.all_steps = static_cast<uint32_t>(shared.all);
  arguments.share = static_cast<uint32_t>(shared.share);
  const bool cuts = shared.share % plan.steps != 0;
  detail::Ref<Storage> parts;
  if (cuts) {
    const int64_t sums = int64_t{2} * tile.rows * tile.columns;
    parts = backend.allocate(dtype_bytes(DType::F32, static_cast<size_t>(shared.blocks * sums)));
    arguments.parts = reinterpret_cast<float*>(parts->data());
  }
  const auto blocks = static_cast<uint32_t>(shared.blocks);
  const void* const mapped[] = {kernel.data(), spread.data()};
  gpu.launch(lines_kernels.get(gpu, index),
             {{blocks, 1, 1}, kLinesThreads + 128, static_cast<uint32_t>(lines_shared(tile))}, arguments,
             mapped);
  if (cuts && blocks > 1)
    gpu.launch(lines_kernels.get(gpu, kLines + index), {{blocks - 1, 1, 1}, kLinesThreads, 0}, arguments);
}

}  // namespace

bool conv_hopper_takes(const Gpu& gpu, const Sum& s) { return plan_of(gpu, s).has_value(); }

bool conv_hopper(Gpu& gpu, Backend& backend, const Sum& s) {
  const std::optional<Plan> found = plan_of(gpu, s);
  if (!found) return false;
  const Plan& plan = *found;
  // Images at a time: no more places than a launch may count, or than a copy is allowed, but one image.
  const int64_t copied = kMostCopied / (plan.way.element * plan.line);
  const int64_t most = std::max<int64_t>(
      std::min({most_elements(), copied, most_in_steps(s, plan)}) / (plan.phases() * plan.plane()), 1);
  const Spread kernel = kernel_out(backend, s, plan);
  for (int64_t image = 0; image < s.batch; image += most) {
    const int64_t places = std::min(most, s.batch - image) * plan.plane();
    const Spread images = images_out(backend, s, plan, image, places);
    launch(gpu, plan, images, image == 0 ? &kernel : nullptr);
    ConvHopperArgs arguments = arguments_of(s, plan, image, places);
    if (plan.way.on_units)
      on_matrix_units(gpu, s, plan, *kernel.laid, *images.laid, arguments);
    else
      by_lines(gpu, backend, s, plan, *kernel.laid, *images.laid, arguments);
  }
  return true;
}

bool gemm_as_conv(Gpu& gpu, Backend& backend, const Product& original, bool reduced) {
  const Product p = original.c_column == 1 ? original : exchanged(original);
  if (p.a_type != p.c_type || p.b_type != p.c_type ||
      static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k) < kLeastProduct ||
      (p.c_type != DType::F8E4M3 && !(p.c_type == DType::F32 && reduced)))
    return false;
  Sum sum{};
  sum.dtype = p.c_type;
  sum.reduced = reduced;
  sum.batch = sum.groups = 1;
  sum.c_in = p.k;
  sum.w_out = p.a_row;
  sum.w_in = p.a_step;
  sum.x_channel = p.b_step;
  sum.x_column = p.b_column;
  sum.y_channel = p.c_row;
  sum.y_column = p.c_column;
  // Rows and columns at a time: each copy half of what is allowed, of tf32 or of widened bytes.
  const int64_t most = kMostCopied / 2 / (p.k * (p.c_type == DType::F32 ? 4 : 2));
  if (most < kWgmmaRows) return false;
  const int64_t rows = ceil_div(p.m, ceil_div(p.m, most)), columns = ceil_div(p.n, ceil_div(p.n, most));
  const auto each_part = [&](const auto& take) {
    for (int64_t row = 0; row < p.m; row += rows) {
      for (int64_t column = 0; column < p.n; column += columns) {
        sum.c_out = std::min(rows, p.m - row);
        sum.down = {1, 1, 1, 1, 1, 0};
        sum.across = {std::min(columns, p.n - column), std::min(columns, p.n - column), 1, 1, 1, 0};
        take(row, column);
      }
    }
  };
  bool all = true;
  each_part([&](int64_t, int64_t) { all = all && conv_hopper_takes(gpu, sum); });
  for (int64_t i = 0; all && i < p.batch.count; ++i) {
    const NestPosition<3> matrix(p.batch, i);
    each_part([&](int64_t row, int64_t column) {
      sum.w_base = at(p.a, matrix.offset(0) + row * p.a_row, p.a_type);
      sum.x = at(p.b, matrix.offset(1) + column * p.b_column, p.b_type);
      sum.y = at(p.c, matrix.offset(2) + row * p.c_row + column * p.c_column, p.c_type);
      conv_hopper(gpu, backend, sum);
    });
  }
  return all;
}

}  // namespace beeswax::gpu
