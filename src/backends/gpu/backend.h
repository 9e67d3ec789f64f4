// SPDX-License-Identifier: Apache-2.0
// GpuBackend: the seam on one GPU, AMD's, NVIDIA's or the software one. A method turns layouts into a
// kernel's arguments and launches it; the kernels are in src/kernels.
#pragma once

#include "backends/backend.h"
#include "backends/gpu/gpu.h"

namespace beeswax::gpu {

class GpuBackend final : public Backend {
 public:
  explicit GpuBackend(Gpu& gpu) : gpu_(gpu) {}
  /// The backend of a device; opens the device at the first call.
  static GpuBackend& of(const Device& device);

  detail::Ref<Storage> allocate(size_t bytes) override;
  void upload(Storage& to, size_t offset, std::span<const std::byte> from) override;
  void download(const Storage& from, size_t offset, std::span<std::byte> to) override;
  void copy_from(const Storage& from, size_t offset, Storage& to, size_t bytes) override;
  void synchronize() override;
  void begin_write(Storage& storage) override;
  void end_write(Storage& storage) override;

  void fill(const Target& out, const Scalar& value) override;
  void range(const Target& out, const Scalar& start, const Scalar& step) override;
  void random(const Target& out, Distribution distribution, double a, double b, uint64_t seed,
              uint64_t counter) override;

  void copy(const Operand& x, const Target& out) override;
  bool join(std::span<const Operand> parts, int axis, int64_t start, const Target& out) override;
  void cast(const Operand& x, const Target& out) override;
  void affine(const Operand& x, const Scalar& mul, const Scalar& add, const Target& out) override;
  void unary(UnaryOp op, const Operand& x, double param, const Target& out) override;
  void binary(BinaryOp op, const Argument& a, const Argument& b, const Target& out) override;
  void compare(CompareOp op, const Argument& a, const Argument& b, const Target& out) override;
  void where(const Operand& condition, const Operand& on_true, const Operand& on_false,
             const Target& out) override;

  void reduce(ReduceOp op, const Operand& x, uint32_t axes, const Target& out) override;
  void arg_reduce(ArgReduceOp op, const Operand& x, uint32_t axes, const Target& out) override;
  void softmax(const Operand& x, int trailing, bool log, const Target& out) override;
  bool softmax_across(const Operand&, bool, const Target&) override { return false; }
  void norm(NormKind kind, const Operand& x, const Operand& weight, const Operand& bias, double eps,
            const Target& out) override;
  void cumsum(const Operand& x, int axis, const Target& out) override;
  void rope(RopePairs pairs, const Operand& x, const Operand& cos, const Operand& sin,
            const Target& out) override;
  void sort(const Operand& x, bool ascending, const Target& values, const Target& ids) override;

  void index_select(const Operand& x, const Operand& ids, int axis, const Target& out) override;
  void gather(const Operand& x, const Operand& ids, int axis, const Target& out) override;
  void scatter(ScatterMode mode, const Operand& ids, const Operand& source, int axis,
               const Target& out) override;
  void index_add(const Operand& ids, const Operand& source, int axis, const Target& out) override;

  void matmul(const Operand& a, const Operand& b, const Target& out) override;
  void conv(const ConvShape& shape, const Operand& x, const Operand& kernel, const Target& out) override;
  void conv_transpose(const ConvShape& shape, const Operand& x, const Operand& kernel,
                      const Target& out) override;
  void pool(const PoolShape& shape, const Operand& x, const Target& out) override;
  void upsample(const UpsampleShape& shape, const Operand& x, const Target& out) override;

  void quantize(QuantType type, const Operand& x, std::span<const float> importance,
                Storage& blocks) override;
  void dequantize(QuantType type, const Storage& blocks, const Target& out) override;
  void quantized_matmul(const Operand& x, std::span<const QuantizedProduct> products) override;

 private:
  void scatter_add(const Operand& ids, const Operand& source, int axis, const Target& out);
  /// One side's dtype is only stored.
  void cast_storage(const Operand& x, const Target& out);
  /// A quantized product of many rows through weights in bf16, where that is faster; tells whether.
  /// `narrow` is x in bf16, made when it is first needed.
  bool widened_matmul(const Operand& x, const QuantizedProduct& weight, detail::Ref<Storage>& narrow);
  /// Products through activations as bytes.
  void products_of_bytes(const Operand& x, std::span<const QuantizedProduct> products);
  /// A temporary of the pool for the length of a call.
  detail::Ref<Storage> scratch(size_t bytes) { return allocate(bytes); }
  Gpu& gpu_;
};

}  // namespace beeswax::gpu
