// SPDX-License-Identifier: Apache-2.0
#include "models/requantize.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>

#include "beeswax/qtensor.h"
#include "core/fail.h"
#include "io/byte_reader.h"
#include "io/gguf_split.h"
#include "io/gguf_writer.h"
#include "models/row_order.h"
#include "models/weights.h"
#include "models/wider_blocks.h"

namespace beeswax::models {
namespace {

constexpr uint32_t kF32 = 0;
constexpr uint32_t kFormatVersion = 2;  // of the blocks, in general.quantization_version
// Elements at a time, so that a large matrix never exists whole in f32.
constexpr int64_t kPiece = int64_t{1} << 24;

uint64_t bytes_of(const io::GgmlType& type, int64_t elements) {
  return static_cast<uint64_t>(elements) / type.block_elements * type.block_bytes;
}

int64_t columns_of(const Shape& shape) { return shape.rank() == 0 ? 1 : shape[shape.rank() - 1]; }

bool is_outer(std::string_view name) { return name == "token_embd.weight" || name == "output.weight"; }

// The importance of a tensor's columns, one row of it for each matrix of a stack; null where it does not
// count.
const std::vector<float>* importance_of(const RequantizeOptions& options, std::string_view name,
                                        const Shape& shape, const io::GgmlType& type) {
  if (options.importance == nullptr || !type.quant || !quant_traits(*type.quant).imatrix) return nullptr;
  const std::vector<float>* found = options.importance->find(name);
  if (found == nullptr) return nullptr;
  const int64_t columns = columns_of(shape);
  const int64_t stack = shape.rank() > 2 ? shape.elem_count() / (columns * shape[shape.rank() - 2]) : 1;
  if (static_cast<int64_t>(found->size()) != columns * stack)
    fail(ErrorKind::Format, "quantize", options.importance->name(), " has ", found->size(), " numbers for '",
         name, "', which has ", columns * stack, " columns; it was made for another model");
  return found;
}

// Rows of a tensor as a dense tensor [rows, columns].
Tensor read_rows(const io::GgufTensor& tensor, int64_t first, int64_t rows) {
  const int64_t columns = columns_of(tensor.shape);
  const uint64_t row_bytes = bytes_of(*tensor.type, columns);
  const auto bytes =
      tensor.bytes.subspan(static_cast<size_t>(first) * row_bytes, static_cast<size_t>(rows) * row_bytes);
  if (tensor.type->wider)
    return QTensor::from_bytes(wider_blocks(*tensor.type, bytes), {rows, columns}, *tensor.type->wider,
                               Device::cpu())
        .dequantize();
  if (tensor.type->quant)
    return QTensor::from_bytes(bytes, {rows, columns}, *tensor.type->quant, Device::cpu()).dequantize();
  return Tensor::from_bytes(bytes, {rows, columns}, *tensor.type->dtype, Device::cpu());
}

void check_finite(const Tensor& values, const io::GgufTensor& tensor, const io::GgmlType& type) {
  if (!std::isfinite(values.abs().max_all().to_dtype(DType::F32).to_scalar<float>()))
    fail(ErrorKind::Format, "quantize", "tensor '", tensor.name,
         "' holds a NaN, an infinity, or numbers too large for ", type.name);
}

std::vector<std::byte> converted(const Tensor& values, const io::GgufTensor& tensor, const io::GgmlType& type,
                                 std::span<const float> importance) {
  if (!type.quant) {
    const Tensor out = values.to_dtype(*type.dtype);
    check_finite(out, tensor, type);
    return out.to_bytes();
  }
  const QTensor out = importance.empty() ? QTensor::quantize(values, *type.quant)
                                         : QTensor::quantize_imatrix(values, *type.quant, importance);
  check_finite(out.dequantize(), tensor, type);
  return out.bytes();
}

// The tensor's new bytes, piece by piece; a piece lies within one matrix of a stack.
std::vector<std::byte> convert(const io::GgufTensor& tensor, const RequantizedTensor& step,
                               const std::vector<float>* importance,
                               const std::function<void(int64_t)>& on_done) {
  const int64_t columns = columns_of(tensor.shape);
  const int64_t rows = tensor.shape.rank() > 1 ? tensor.shape[tensor.shape.rank() - 2] : 1;
  std::vector<std::byte> out;
  out.reserve(step.bytes_after);
  const int64_t all_rows = columns == 0 ? 0 : tensor.shape.elem_count() / columns;
  const int64_t most = std::max<int64_t>(1, kPiece / std::max<int64_t>(1, columns));
  for (int64_t first = 0; first < all_rows;) {
    const int64_t matrix = first / rows;
    const int64_t count = std::min(most, (matrix + 1) * rows - first);
    std::span<const float> weights;
    if (importance != nullptr)
      weights =
          std::span(*importance).subspan(static_cast<size_t>(matrix * columns), static_cast<size_t>(columns));
    const std::vector<std::byte> bytes =
        converted(read_rows(tensor, first, count), tensor, *step.after, weights);
    out.insert(out.end(), bytes.begin(), bytes.end());
    first += count;
    on_done(first * columns);
  }
  return out;
}

void copy_metadata(const io::GgufFile& in, const RequantizeOptions& options, io::GgufWriter* out) {
  constexpr std::string_view kReplaced[] = {"general.file_type", "general.quantization_version",
                                            // The parts of a split file become one.
                                            "split.no", "split.count", "split.tensors.count"};
  const RowOrder order(in);
  for (const auto& [key, value] : in.metadata())
    if (std::ranges::find(kReplaced, key) == std::end(kReplaced) && !key.starts_with("quantize.imatrix.") &&
        key != order.key())
      out->set(key, value);
  if (options.tokenizer != nullptr) write_tokenizer(*options.tokenizer, out);
  out->set_u32("general.file_type", options.mixture->file_type);
  out->set_u32("general.quantization_version", kFormatVersion);
  if (options.importance == nullptr) return;
  out->set_string("quantize.imatrix.file",
                  std::filesystem::path(options.importance->name()).filename().string());
  out->set_u32("quantize.imatrix.entries_count", static_cast<uint32_t>(options.importance->size()));
}

// Whether `path` is a file that `in` or the importance matrix is read from, under whatever name.
bool is_read_from(const io::GgufFile& in, const io::Imatrix* importance, const std::string& path) {
  const auto same = [&](const std::string& name) {
    std::error_code error;
    return name == path || std::filesystem::equivalent(name, path, error);
  };
  if (importance != nullptr && same(importance->name())) return true;
  if (in.assembled()) {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(in.name(), error)) {
      const auto kind = entry.path().extension();
      if ((kind == ".safetensors" || kind == ".json") && same(entry.path().string())) return true;
    }
    return false;
  }
  auto part = io::split_name(in.name());
  if (!part || in.parts() == 1) return same(in.name());
  for (part->number = 1; part->number <= part->count; ++part->number)
    if (same(part->to_string())) return true;
  return false;
}

// Dense tensors in the other byte order are turned round; blocks are not.
void check_source(const io::GgufFile& in, const io::GgufTensor& tensor) {
  if (!in.reversed() || !tensor.type->dtype) check_tensor(in, tensor);
}

}  // namespace

std::vector<RequantizedTensor> plan_requantize(const io::GgufFile& in, const RequantizeOptions& options) {
  MixtureModel model = mixture_model(in);
  model.importance = options.importance != nullptr;
  std::vector<RequantizedTensor> plan;
  size_t blocks = 0;
  for (const io::GgufTensor& tensor : in.tensors()) {
    check_source(in, tensor);
    RequantizedTensor step{.name = tensor.name, .shape = tensor.shape, .before = tensor.type};
    step.after = step.wanted = tensor.type;
    const bool numbers =
        tensor.type->in_blocks() || (tensor.type->dtype && dtype_is_float(*tensor.type->dtype));
    if (numbers && is_quantizable(tensor.name, tensor.shape) && tensor.shape.elem_count() > 0) {
      step.wanted = options.embedding != nullptr && is_outer(tensor.name)
                        ? options.embedding
                        : &choose_type(*options.mixture, model, tensor.name, options.pure);
      step.after = &rows_fit(*step.wanted, columns_of(tensor.shape));
      if (tensor.type->in_blocks() && step.after != tensor.type) ++blocks;
      if (step.after != tensor.type)
        step.weighted = importance_of(options, tensor.name, tensor.shape, *step.after) != nullptr;
    } else if (in.assembled() && tensor.shape.rank() < 2) {
      step.wanted = step.after = io::ggml_type(kF32);
    }
    step.bytes_before = tensor.bytes.size();
    step.bytes_after = bytes_of(*step.after, tensor.shape.elem_count());
    plan.push_back(step);
  }
  if (blocks > 0 && !options.from_blocks)
    fail(
        ErrorKind::Unsupported, "quantize", in.name(), " is quantized already (", blocks,
        " matrices of other types than wanted); each quantization loses something, so start from an f32, f16 "
        "or bf16 file, or allow it with --allow-requantize");
  if (options.importance != nullptr && !plan.empty() &&
      std::ranges::none_of(in.tensors(), [&](const auto& t) { return options.importance->find(t.name); }))
    fail(ErrorKind::Format, "quantize", options.importance->name(), " names no tensor of ", in.name(),
         "; it was made for another model");
  return plan;
}

void requantize(const io::GgufFile& in, const std::string& path, const RequantizeOptions& options,
                const std::vector<RequantizedTensor>& plan, const OnRequantized& on_done) {
  if (is_read_from(in, options.importance, path))
    fail(ErrorKind::InvalidArgument, "quantize", path, " is the file that is read; write to another one");
  io::GgufWriter writer(in.alignment());
  copy_metadata(in, options, &writer);
  for (const RequantizedTensor& step : plan) writer.add_tensor(step.name, step.after->id, step.shape);
  const RowOrder order(in);
  std::vector<std::byte> bytes, turned;
  writer.write(path, [&](size_t index) -> std::span<const std::byte> {
    io::GgufTensor tensor = in.tensors()[index];
    if (in.reversed()) {
      turned = io::with_reversed_elements(tensor.bytes, tensor.type->block_bytes);
      tensor.bytes = turned;
    }
    const RequantizedTensor& step = plan[index];
    const auto report = [&](int64_t elements) {
      if (on_done) on_done(index, elements);
    };
    if (step.after == step.before) {
      report(step.shape.elem_count());
      if (!order.changes(tensor)) return tensor.bytes;
      bytes = order.apply(tensor, tensor.bytes);
      return bytes;
    }
    const std::vector<float>* importance =
        step.weighted ? importance_of(options, tensor.name, tensor.shape, *step.after) : nullptr;
    bytes = convert(tensor, step, importance, report);
    if (order.changes(tensor)) bytes = order.apply(tensor, bytes);
    return bytes;
  });
}

}  // namespace beeswax::models
