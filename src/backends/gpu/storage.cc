// SPDX-License-Identifier: Apache-2.0
// Casts of the dtypes that are only stored (f8e8m0, f6e2m3, f6e3m2, f4): through dense f32.
#include "backends/gpu/launch.h"
#include "kernels/storage_args.h"

namespace beeswax::gpu {
namespace {

KernelTable storage_kernels(2, [](size_t i) -> KernelTable::Name {
  return {i == 0 ? "storage_decode" : "storage_encode", "to_dtype"};
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

// `codes` and `floats` are dense.
void convert(Gpu& gpu, bool encode, DType dtype, std::byte* codes, std::byte* floats, int64_t count) {
  StorageArgs arguments = codes_of(dtype);
  for (int64_t first = 0; first < count; first += most_elements()) {
    const int64_t part = std::min(most_elements(), count - first);
    std::byte* from = codes + first * arguments.bits / 8;
    std::byte* to = at(floats, first, DType::F32);
    if (encode) std::swap(from, to);
    arguments.x = from;
    arguments.y = to;
    arguments.count = static_cast<uint32_t>(part);
    gpu.launch(storage_kernels.get(gpu, encode ? 1 : 0),
               {{blocks_for(part, int64_t{kStorageThreads} * kStorageElements), 1, 1}, kStorageThreads, 0},
               arguments);
  }
}

}  // namespace

void GpuBackend::cast_storage(const Operand& x, const Target& out) {
  const Shape& shape = x.layout->shape();
  const int64_t count = shape.elem_count();
  const Layout dense(shape);
  const auto floats = [&] { return scratch(dtype_bytes(DType::F32, static_cast<size_t>(count))); };
  if (dtype_is_storage(x.dtype)) {
    if (dtype_is_storage(out.dtype))
      fail(ErrorKind::UnsupportedDType, "to_dtype", dtype_name(x.dtype), " to ", dtype_name(out.dtype),
           ": both are storage types; go through f32");
    auto* codes = const_cast<std::byte*>(x.data());
    if (out.dtype == DType::F32) return convert(gpu_, false, x.dtype, codes, out.data(), count);
    const detail::Ref<Storage> values = floats();
    convert(gpu_, false, x.dtype, codes, values->data(), count);
    return cast({values.get(), &dense, DType::F32}, out);
  }
  if (compute_dtype(x.dtype) != DType::F32)
    fail(ErrorKind::UnsupportedDType, "to_dtype", dtype_name(x.dtype), " to ", dtype_name(out.dtype),
         ": storage types are written from f32, f16, bf16 or f8e4m3; cast to f32 first");
  if (x.dtype == DType::F32 && x.layout->is_contiguous())
    return convert(gpu_, true, out.dtype, out.data(), const_cast<std::byte*>(x.data()), count);
  const detail::Ref<Storage> values = floats();
  const Target wide{values.get(), &dense, DType::F32};
  if (x.dtype == DType::F32) {
    copy(x, wide);
  } else {
    cast(x, wide);
  }
  convert(gpu_, true, out.dtype, out.data(), values->data(), count);
}

}  // namespace beeswax::gpu
