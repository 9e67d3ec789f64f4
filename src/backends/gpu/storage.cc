// SPDX-License-Identifier: Apache-2.0
// Casts of the dtypes that are only stored (f8e8m0, f6e2m3, f6e3m2, f4): to dense f32, and from dense f32,
// f64 and i64.
#include "backends/gpu/launch.h"
#include "kernels/storage_args.h"

namespace beeswax::gpu {
namespace {

KernelTable storage_kernels(4, [](size_t i) -> KernelTable::Name {
  constexpr const char* kNames[] = {"storage_decode", "storage_encode", "storage_encode_f64",
                                    "storage_encode_i64"};
  return {kNames[i], "to_dtype"};
});

StorageArgs codes_of(DType dtype) {
  StorageArgs arguments{};
  arguments.bits = static_cast<uint32_t>(dtype_bits(dtype));
  switch (dtype) {
    case DType::F6E2M3:
      arguments.fraction = 3, arguments.bias = 1;
      break;
    case DType::F6E3M2:
      arguments.fraction = 2, arguments.bias = 3;
      break;
    case DType::F4:
      arguments.fraction = 1, arguments.bias = 1;
      break;
    default:
      break;
  }
  return arguments;
}

// Kernels of the table: decoding to f32, and encoding from each of these.
size_t entry_of(bool encode, DType number) {
  return !encode ? 0 : number == DType::F64 ? 2 : number == DType::I64 ? 3 : 1;
}

// `codes` and `numbers` (f32; encoding takes f64 and i64 too) are dense.
void convert(Gpu& gpu, bool encode, DType dtype, std::byte* codes, std::byte* numbers, DType number,
             int64_t count) {
  StorageArgs arguments = codes_of(dtype);
  for (int64_t first = 0; first < count; first += most_elements()) {
    const int64_t part = std::min(most_elements(), count - first);
    std::byte* from = codes + first * arguments.bits / 8;
    std::byte* to = at(numbers, first, number);
    if (encode) std::swap(from, to);
    arguments.x = from;
    arguments.y = to;
    arguments.count = static_cast<uint32_t>(part);
    gpu.launch(storage_kernels.get(gpu, entry_of(encode, number)),
               {{blocks_for(part, int64_t{kStorageThreads} * kStorageElements), 1, 1}, kStorageThreads, 0},
               arguments);
  }
}

// What a dtype is encoded from: itself, or the least of f32, f64 and i64 that holds all its values.
DType encoded_from(DType dtype) {
  switch (dtype) {
    case DType::F64:
    case DType::I64:
      return dtype;
    case DType::U32:
    case DType::I32:
      return DType::I64;
    default:
      return DType::F32;
  }
}

}  // namespace

void GpuBackend::cast_storage(const Operand& x, const Target& out) {
  const Shape& shape = x.layout->shape();
  const int64_t count = shape.elem_count();
  const Layout dense(shape);
  const auto numbers = [&](DType dtype) { return scratch(dtype_bytes(dtype, static_cast<size_t>(count))); };
  if (dtype_is_storage(x.dtype)) {
    auto* codes = const_cast<std::byte*>(x.data());
    if (out.dtype == DType::F32) return convert(gpu_, false, x.dtype, codes, out.data(), DType::F32, count);
    const detail::Ref<Storage> values = numbers(DType::F32);
    convert(gpu_, false, x.dtype, codes, values->data(), DType::F32, count);
    return cast({values.get(), &dense, DType::F32}, out);
  }
  const DType from = encoded_from(x.dtype);
  if (x.dtype == from && x.layout->is_contiguous())
    return convert(gpu_, true, out.dtype, out.data(), const_cast<std::byte*>(x.data()), from, count);
  const detail::Ref<Storage> values = numbers(from);
  const Target wide{values.get(), &dense, from};
  if (x.dtype == from) {
    copy(x, wide);
  } else {
    cast(x, wide);
  }
  convert(gpu_, true, out.dtype, out.data(), values->data(), from, count);
}

}  // namespace beeswax::gpu
