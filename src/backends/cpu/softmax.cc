// SPDX-License-Identifier: Apache-2.0
// Softmax, norms and running sums: rows of a dtype's own elements, gathered where they are not dense; results
// past the caches where they are large.
#include "backends/cpu/backend.h"
#include "backends/cpu/chunks.h"
#include "backends/cpu/kernels/rows.h"
#include "backends/cpu/kernels/running_sum.h"
#include "backends/cpu/kernels/softmax_columns.h"
#include "backends/cpu/kernels/softmax_shared.h"
#include "backends/cpu/scratch.h"

namespace beeswax::cpu {
namespace {

// Elements in one task, or one row: the more, where that leaves several tasks to each thread.
constexpr int64_t kLeastRowTask = 1 << 14;
constexpr int64_t kRowTask = 1 << 20;
// Rows whose results fill fewer bytes than this, and no whole lines, are left to the caches, which join them.
constexpr int64_t kLeastPast = 1024;

// Elements and terms of a row, or of a part of one, for which the second cache has room.
constexpr int64_t kRowBytes = 3 << 18;
// Elements of a row's part that are worth meeting the other threads once a row.
constexpr int64_t kLeastPart = 1 << 14;

bool results_past_caches(size_t all_bytes, int64_t row_bytes) {
  return beyond_caches(all_bytes) && (row_bytes >= kLeastPast || row_bytes % 64 == 0);
}

// loop(args) over all rows of n elements of x; x and out have one shape and dtype.
void for_rows(const Operand& x, int64_t n, const Target& out, void (*loop)(const RowArgs&), RowArgs args) {
  const Nest<1> nest({x.layout});
  const auto bytes = static_cast<int64_t>(dtype_bytes(x.dtype, 1));
  const auto size = static_cast<int64_t>(dtype_bytes(compute_dtype(x.dtype), 1));
  args.n = n;
  args.past_caches = results_past_caches(static_cast<size_t>(nest.count * bytes), n * bytes);
  const bool dense = nest.dense(0);
  const int64_t share = nest.count / (8 * ThreadPool::global().threads());
  const int64_t task_rows = std::max<int64_t>(1, std::clamp<int64_t>(share, kLeastRowTask, kRowTask) / n);
  parallel_ranges(nest.count / n, task_rows, [&](int64_t first, int64_t last) {
    RowArgs part = args;
    const Scratch<std::byte> scratch(row_scratch(n) * size);
    part.scratch = scratch.data();
    const int64_t at_once = dense ? last - first : std::max<int64_t>(1, kRowBlock / n);
    const Scratch<std::byte> gathered(dense ? 0 : at_once * n * bytes);
    NestPosition<1> position(nest, first * n);
    for (int64_t row = first; row < last; row += part.rows) {
      part.rows = std::min(at_once, last - row);
      part.y = out.data() + row * n * bytes;
      part.x = x.data() + row * n * bytes;
      if (!dense) {
        gather_run(nest, position, 0, x.data(), static_cast<size_t>(bytes), gathered.data(), part.rows * n);
        position.skip(part.rows * n);
        part.x = gathered.data();
      }
      loop(part);
    }
    if (args.past_caches) copy_kernels().fence();
  });
}

const RowLoops& loops_of(DType dtype) { return row_kernels().loops[static_cast<size_t>(dtype)]; }

// How many threads share a row of n elements, one of `rows`, and so how many rows are made at a time.
struct Sharing {
  int64_t parts;
  int64_t length;  // elements of each part; the last may have fewer
  int64_t teams;

  Sharing(int64_t rows, int64_t n, int64_t element_bytes) {
    const int64_t threads = ThreadPool::global().threads();
    const int64_t wanted = std::max((n * element_bytes + kRowBytes - 1) / kRowBytes, threads / rows);
    const int64_t most = threads == 1 ? 1 : std::clamp<int64_t>(n / kLeastPart, 1, wanted);
    length = (n + most * kPartStep - 1) / (most * kPartStep) * kPartStep;
    parts = (n + length - 1) / length;
    teams = std::clamp<int64_t>(threads / parts, 1, rows);
  }
};

// Softmax of dense rows that are too long for one thread's caches, or fewer than threads; false where each
// row is one thread's.
bool softmax_shared(const Operand& x, int64_t n, bool log, const Target& out) {
  const auto& loops = softmax_shared_kernels().loops[static_cast<size_t>(x.dtype)][log ? 1 : 0];
  const Nest<1> nest({x.layout});
  const auto bytes = static_cast<int64_t>(dtype_bytes(x.dtype, 1));
  const auto size = static_cast<int64_t>(dtype_bytes(compute_dtype(x.dtype), 1));
  if (nest.count == 0 || loops.step == nullptr || !nest.dense(0)) return false;
  const int64_t rows = nest.count / n;
  const Sharing sharing(rows, n, bytes + size);
  if (sharing.parts == 1) return false;
  const int64_t tasks = sharing.teams * sharing.parts;
  const int64_t part_scratch = padded_row(row_scratch(sharing.length));
  const int64_t row_chunks = padded_row(chunks_of(n));
  const Scratch<std::byte> scratch(tasks * part_scratch * size);
  const Scratch<std::byte> partials(sharing.teams * row_chunks * size);
  struct Row {
    double top, scale;
  };
  std::vector<Row> last(static_cast<size_t>(sharing.teams));
  std::vector<double> tops(static_cast<size_t>(tasks)), next_tops(static_cast<size_t>(tasks));
  const bool past = results_past_caches(static_cast<size_t>(nest.count * bytes), n * bytes);

  const int64_t steps = (rows + sharing.teams - 1) / sharing.teams;
  for (int64_t step = -1; step <= steps; ++step) {
    ThreadPool::global().parallel_for(tasks, [&](int64_t task) {
      const int64_t team = task / sharing.parts, begin = task % sharing.parts * sharing.length;
      const auto part = [&](auto* base, int64_t at) -> decltype(base) {
        const int64_t row = at * sharing.teams + team;
        return at < 0 || row >= rows ? nullptr : base + (row * n + begin) * bytes;
      };
      loops.step({part(x.data(), step), part(x.data(), step - 1), part(out.data(), step - 1),
                  part(x.data(), step + 1), std::min(sharing.length, n - begin), past,
                  scratch.data() + task * part_scratch * size,
                  partials.data() + (team * row_chunks + begin / kChunk) * size,
                  tops.data() + team * sharing.parts, sharing.parts, last[static_cast<size_t>(team)].top,
                  last[static_cast<size_t>(team)].scale, &next_tops[static_cast<size_t>(task)]});
      if (past) copy_kernels().fence();
    });
    for (int64_t team = 0; step >= 0 && team < std::min(sharing.teams, rows - step * sharing.teams); ++team) {
      Row& row = last[static_cast<size_t>(team)];
      loops.join(tops.data() + team * sharing.parts, sharing.parts,
                 partials.data() + team * row_chunks * size, chunks_of(n), &row.top, &row.scale);
    }
    tops.swap(next_tops);
  }
  return true;
}

// A dense operand's elements in its compute dtype: itself, or a widened copy in `buffer`.
const void* widened(const Operand& x, const Scratch<std::byte>& buffer, int64_t n) {
  if (x.storage == nullptr) return nullptr;
  const CastLoop widen = conversion(x.dtype, compute_dtype(x.dtype));
  if (widen == nullptr) return x.data();
  widen(x.data(), buffer.data(), n);
  return buffer.data();
}

}  // namespace

void CpuBackend::softmax(const Operand& x, int trailing, bool log, const Target& out) {
  int64_t n = 1;
  for (int axis = x.layout->rank() - trailing; axis < x.layout->rank(); ++axis) n *= x.layout->dim(axis);
  if (softmax_shared(x, n, log, out)) return;
  const RowLoops& loops = loops_of(x.dtype);
  for_rows(x, n, out, log ? loops.log_softmax : loops.softmax, {});
}

bool CpuBackend::softmax_across(const Operand& x, bool log, const Target& out) {
  constexpr int64_t kFewColumns = 16;
  const Shape& shape = x.layout->shape();
  const int64_t outer = shape[0], n = shape[1], inner = shape[2];
  const auto loop = softmax_columns_kernels().loops[static_cast<size_t>(x.dtype)][log ? 1 : 0];
  const auto bytes = static_cast<int64_t>(dtype_bytes(x.dtype, 1));
  const auto compute_bytes = static_cast<int64_t>(dtype_bytes(compute_dtype(x.dtype), 1));
  const int64_t threads = ThreadPool::global().threads();
  const int64_t width =
      softmax_columns_width(n, outer < threads ? (inner + threads - 1) / threads : inner, compute_bytes);
  if (loop == nullptr || inner < kFewColumns || width == 0) return false;
  const bool past = beyond_caches(static_cast<size_t>(shape.elem_count() * bytes)) &&
                    inner * bytes % 64 == 0 && reinterpret_cast<uintptr_t>(out.data()) % 64 == 0;
  const int64_t strips = (inner + width - 1) / width;
  const auto begin_of = [&](int64_t strip) {
    return (strip / strips * n * inner + strip % strips * width) * bytes;
  };
  const int64_t share = std::max<int64_t>(1, outer * strips / (8 * threads));
  parallel_ranges(outer * strips, share, [&](int64_t first, int64_t last) {
    const Scratch<std::byte> scratch(softmax_columns_scratch(n, width) * compute_bytes);
    for (int64_t strip = first; strip < last; ++strip)
      loop({x.data() + begin_of(strip), n, std::min(width, inner - strip % strips * width), inner,
            out.data() + begin_of(strip), past, x.data() + begin_of(std::min(strip + 1, last - 1)),
            scratch.data(), width});
    if (past) copy_kernels().fence();
  });
  return true;
}

void CpuBackend::norm(NormKind kind, const Operand& x, const Operand& weight, const Operand& bias, double eps,
                      const Target& out) {
  const int64_t n = weight.layout->shape().elem_count();
  const RowLoops& loops = loops_of(x.dtype);
  const auto bytes = n * static_cast<int64_t>(dtype_bytes(compute_dtype(x.dtype), 1));
  const Scratch<std::byte> weights(bytes);
  const Scratch<std::byte> biases(bias.storage == nullptr ? 0 : bytes);
  RowArgs args{};
  args.weight = widened(weight, weights, n);
  args.bias = widened(bias, biases, n);
  args.eps = eps;
  for_rows(x, n, out, kind == NormKind::Rms ? loops.rms_norm : loops.layer_norm, args);
}

// In place over a copy of x: lines of the inner axes are added to running sums in the compute type.
void CpuBackend::cumsum(const Operand& x, int axis, const Target& out) {
  copy(x, out);
  const Shape& shape = out.layout->shape();
  const int64_t n = shape[axis];
  int64_t inner = 1;
  for (int a = axis + 1; a < shape.rank(); ++a) inner *= shape[a];
  const DType compute = compute_dtype(out.dtype);
  const size_t type = compute_index(compute);
  const CastLoop widen = conversion(out.dtype, compute);
  const CastLoop narrow = conversion(compute, out.dtype);
  const auto bytes = static_cast<int64_t>(dtype_bytes(out.dtype, 1));
  constexpr int64_t kRun = 512;
  // A line is `width` neighbours at one place of the axis; where the axis is innermost, a stretch of it.
  const int64_t width = inner == 1 ? kRun : std::min(inner, kRun);
  const int64_t lines = inner == 1 ? 1 : (inner + width - 1) / width;
  const int64_t outer = shape.elem_count() / n / inner;
  ThreadPool::global().parallel_for(outer * lines, [&](int64_t task) {
    alignas(64) std::byte sums[kRun * 8] = {};
    alignas(64) std::byte run[kRun * 8];
    const auto add = [&](std::byte* at, int64_t count) {
      std::byte* values = widen != nullptr ? run : at;
      if (widen != nullptr) widen(at, values, count);
      if (inner == 1) {
        running_sum_kernels().along[type](values, count, sums);
      } else {
        running_sum_kernels().across[type](values, count, sums);
      }
      if (narrow != nullptr) narrow(values, at, count);
    };
    const int64_t column = task % lines * width;
    std::byte* base = out.data() + (task / lines * n * inner + column) * bytes;
    if (inner == 1) {
      for (int64_t i = 0; i < n; i += width) add(base + i * bytes, std::min(width, n - i));
    } else {
      for (int64_t i = 0; i < n; ++i) add(base + i * inner * bytes, std::min(width, inner - column));
    }
  });
}

}  // namespace beeswax::cpu
