// SPDX-License-Identifier: Apache-2.0
// CpuBackend: the default device. Each group of methods is defined in the file of its name in this folder,
// over loops of kernels/ that are compiled once per instruction-set level.
#pragma once

#include "backends/backend.h"

namespace beeswax::cpu {

class CpuBackend final : public Backend {
 public:
  static CpuBackend& instance();

  // memory.cc
  detail::Ref<Storage> allocate(size_t bytes) override;
  void upload(Storage& to, size_t offset, std::span<const std::byte> from) override;
  void download(const Storage& from, size_t offset, std::span<std::byte> to) override;
  void copy_from(const Storage& from, size_t offset, Storage& to, size_t bytes) override;
  void synchronize() override;

  // fill.cc
  void fill(const Target& out, const Scalar& value) override;
  void range(const Target& out, const Scalar& start, const Scalar& step) override;
  void random(const Target& out, Distribution distribution, double a, double b, uint64_t seed,
              uint64_t counter) override;

  // copy.cc
  void copy(const Operand& x, const Target& out) override;

  // elementwise.cc
  void cast(const Operand& x, const Target& out) override;
  void affine(const Operand& x, const Scalar& mul, const Scalar& add, const Target& out) override;
  void unary(UnaryOp op, const Operand& x, double param, const Target& out) override;
  void binary(BinaryOp op, const Argument& a, const Argument& b, const Target& out) override;
  bool gated(UnaryOp op, const Operand& x, const Operand& factor, const Target& out) override;
  void compare(CompareOp op, const Argument& a, const Argument& b, const Target& out) override;
  void where(const Operand& condition, const Operand& on_true, const Operand& on_false,
             const Target& out) override;

  // reduce.cc
  void reduce(ReduceOp op, const Operand& x, uint32_t axes, const Target& out) override;
  void arg_reduce(ArgReduceOp op, const Operand& x, uint32_t axes, const Target& out) override;

  // softmax.cc
  void softmax(const Operand& x, int trailing, bool log, const Target& out) override;
  bool softmax_across(const Operand& x, bool log, const Target& out) override;
  void norm(NormKind kind, const Operand& x, const Operand& weight, const Operand& bias, double eps,
            const Target& out) override;
  void cumsum(const Operand& x, int axis, const Target& out) override;

  // attention.cc
  bool attends(int64_t size) const override;
  void attention_of_next(const NextToken& next, const Target& keys, const Target& values,
                         const AttentionOptions& options, const Target& out) override;
  void attention(const Operand& queries, const Operand& keys, const Operand& values,
                 const AttentionOptions& options, const Target& out) override;

  // rope.cc
  void rope(RopePairs pairs, const Operand& x, const Operand& cos, const Operand& sin,
            const Target& out) override;

  // sort.cc
  void sort(const Operand& x, bool ascending, const Target& values, const Target& ids) override;

  // indexing.cc
  void index_select(const Operand& x, const Operand& ids, int axis, const Target& out) override;
  void gather(const Operand& x, const Operand& ids, int axis, const Target& out) override;
  void scatter(ScatterMode mode, const Operand& ids, const Operand& source, int axis,
               const Target& out) override;
  void index_add(const Operand& ids, const Operand& source, int axis, const Target& out) override;

  // matmul.cc
  void matmul(const Operand& a, const Operand& b, const Target& out) override;

  // conv.cc
  void conv(const ConvShape& shape, const Operand& x, const Operand& kernel, const Target& out) override;
  void conv_transpose(const ConvShape& shape, const Operand& x, const Operand& kernel,
                      const Target& out) override;

  // pool.cc
  void pool(const PoolShape& shape, const Operand& x, const Target& out) override;
  void upsample(const UpsampleShape& shape, const Operand& x, const Target& out) override;

  // quantized.cc
  void quantize(QuantType type, const Operand& x, std::span<const float> importance,
                Storage& blocks) override;
  void dequantize(QuantType type, const Storage& blocks, const Target& out) override;
  void quantized_matmul(const Operand& x, std::span<const QuantizedProduct> products) override;
  bool gates(QuantType type, DType dtype, int64_t m, int64_t n, int64_t k) const override;
  void quantized_gated(UnaryOp op, const Operand& x, QuantType type, const Storage& gate,
                       const Storage& factor, const Target& out) override;
  bool multiplies_gates(DType dtype, int64_t m) const override;
  void quantized_matmul_of_gate(UnaryOp op, const Operand& gate, const Operand& factor,
                                const QuantizedProduct& product) override;
};

}  // namespace beeswax::cpu
