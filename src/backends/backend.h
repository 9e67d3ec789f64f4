// SPDX-License-Identifier: Apache-2.0
// Backend: the seam between operations and devices. ops/ checks shapes and dtypes, allocates the output and
// calls one of these; a backend only computes. So inside a backend:
//   * shapes agree, dtypes are ones the operation has, axes are in range, nothing is empty unless said;
//   * an Operand may have any strides (0 where broadcast) and offset; shapes already include broadcasting;
//   * a Target is dense row-major at its layout's offset, unless the method says it may be strided;
//   * what only the data shows (an id out of range, an integer divided by zero) is the backend's to report.
// A method whose device lacks it throws Unsupported. Methods may be called from many threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "beeswax/options.h"
#include "beeswax/qtensor_type.h"
#include "core/fail.h"
#include "core/storage.h"

namespace beeswax {

enum class UnaryOp {
#define BW_UNARY(Name, ...) Name,
#define BW_UNARY_PARAM(Name, ...) Name,
#include "tables/unary.def"
};
enum class BinaryOp {
#define BW_BINARY(Name, ...) Name,
#include "tables/binary.def"
};
enum class ReduceOp {
#define BW_REDUCE(Name, ...) Name,
#include "tables/reduce.def"
};
enum class ArgReduceOp {
#define BW_ARG_REDUCE(Name, ...) Name,
#include "tables/reduce.def"
};

/// An input: where its elements are and what they are.
struct Operand {
  const Storage* storage;
  const Layout* layout;
  DType dtype;
  const std::byte* data() const {  // host memory backends only
    return storage->data() + dtype_bytes(dtype, static_cast<size_t>(layout->offset()));
  }
};

/// An output.
struct Target {
  Storage* storage;
  const Layout* layout;
  DType dtype;
  std::byte* data() const {
    return storage->data() + dtype_bytes(dtype, static_cast<size_t>(layout->offset()));
  }
};

/// One of the products of a quantized_matmul.
struct QuantizedProduct {
  QuantType type;
  const Storage* blocks;  ///< of the weight [n, k], dense
  Target out;             ///< [.., n], of x's dtype, dense
  int64_t n() const { return out.layout->shape()[out.layout->shape().rank() - 1]; }
};

/// An input that may be a number instead (already of the other side's dtype): then `operand.storage` is null.
struct Argument {
  Operand operand;
  Scalar scalar = 0;
  bool is_scalar() const { return operand.storage == nullptr; }
};

enum class Distribution { Uniform, Normal };
enum class NormKind { Rms, Layer };
enum class ScatterMode { Set, Add };
enum class PoolKind { Average, Max };

/// One or two spatial axes; a 1-D convolution has height 1. Sizes are per group where said.
struct ConvShape {
  int64_t batch, groups;
  int64_t c_in, c_out;  // per group
  int64_t h_in, w_in, h_out, w_out, h_k, w_k;
  int64_t h_stride, w_stride, h_padding, w_padding, h_dilation, w_dilation;
};

/// [planes, h, w] with planes = batch * channels.
struct PoolShape {
  PoolKind kind;
  int64_t batch, channels, h_in, w_in, h_out, w_out, h_k, w_k, h_stride, w_stride;
};

struct UpsampleShape {
  bool bilinear;
  bool align_corners;
  int64_t batch, channels, h_in, w_in, h_out, w_out;
  double scale_h, scale_w;  // bilinear: the factor the caller gave, or 0
};

/// Of causal attention.
struct AttentionOptions {
  double scale = 1;
  int64_t window = 0;  ///< a query sees this many positions at most, itself included; 0: all before it
  double cap = 0;      ///< scores s become cap tanh(s / cap) before the mask; 0: as they are
};

/// A token that is not in the caches yet.
struct NextToken {
  Operand query;       ///< [1, heads, size], f32, dense, as are
  Operand key, value;  ///< [1, kv_heads, size]
  Operand cos, sin;    ///< [positions, 1, half], f32, dense: they rotate query and key as rope() does
  RopePairs pairs;
};

class Backend {
 public:
  virtual ~Backend() = default;

  // Memory
  virtual detail::Ref<Storage> allocate(size_t bytes) = 0;  ///< throws OutOfMemory; 0 bytes are fine
  virtual void upload(Storage& to, size_t offset, std::span<const std::byte> from) = 0;
  virtual void download(const Storage& from, size_t offset, std::span<std::byte> to) = 0;
  /// To the beginning of a storage of this device from one of another device, which is not the CPU.
  virtual void copy_from(const Storage& from, size_t offset, Storage& to, size_t bytes) = 0;
  virtual void synchronize() = 0;
  /// Around calls of the thread that write to a storage which others may hold, and so read at the same time
  /// on other streams. A storage of the operation's own needs neither.
  virtual void begin_write(Storage&) {}
  virtual void end_write(Storage&) {}

  // fill
  virtual void fill(const Target& out, const Scalar& value) = 0;  ///< out may be strided
  virtual void range(const Target& out, const Scalar& start, const Scalar& step) = 0;
  /// The output begins at block `counter` of the stream of `seed`: docs/numerics.md, "Random numbers".
  virtual void random(const Target& out, Distribution distribution, double a, double b, uint64_t seed,
                      uint64_t counter) = 0;

  // copy, cast, affine, unary, binary, ternary
  /// One dtype; out may be strided, x's strides may be negative (flip).
  virtual void copy(const Operand& x, const Target& out) = 0;
  /// Up to kMostJoined parts, which differ in size along `axis` alone, one after the other into
  /// out, which is dense and not empty, from `start` on along it. False where a copy of each is as good.
  virtual bool join(std::span<const Operand> /*parts*/, int /*axis*/, int64_t /*start*/,
                    const Target& /*out*/) {
    return false;
  }
  static constexpr size_t kMostJoined = 8;
  virtual void cast(const Operand& x, const Target& out) = 0;
  virtual void affine(const Operand& x, const Scalar& mul, const Scalar& add, const Target& out) = 0;
  virtual void unary(UnaryOp op, const Operand& x, double param, const Target& out) = 0;
  virtual void binary(BinaryOp op, const Argument& a, const Argument& b, const Target& out) = 0;
  /// op(x) * factor in the bits of the two operations. False where these are as good.
  virtual bool gated(UnaryOp /*op*/, const Operand& /*x*/, const Operand& /*factor*/, const Target& /*out*/) {
    return false;
  }
  virtual void compare(CompareOp op, const Argument& a, const Argument& b, const Target& out) = 0;
  virtual void where(const Operand& condition, const Operand& on_true, const Operand& on_false,
                     const Target& out) = 0;

  // reduce: bit i of `axes` is set where axis i is reduced; out holds the kept axes in order
  virtual void reduce(ReduceOp op, const Operand& x, uint32_t axes, const Target& out) = 0;
  /// Over the axes of the mask taken together, in row-major order of the reduced axes.
  virtual void arg_reduce(ArgReduceOp op, const Operand& x, uint32_t axes, const Target& out) = 0;
  /// Over the last `trailing` axes taken together.
  virtual void softmax(const Operand& x, int trailing, bool log, const Target& out) = 0;
  /// Over the middle axis of x and out, which are dense and of rank 3. False where the backend does not do
  /// this: then that axis is to be turned to the end.
  virtual bool softmax_across(const Operand& x, bool log, const Target& out) = 0;
  /// Over the last axes that `weight` has; weight and bias are dense, bias.storage may be null.
  virtual void norm(NormKind kind, const Operand& x, const Operand& weight, const Operand& bias, double eps,
                    const Target& out) = 0;
  virtual void cumsum(const Operand& x, int axis, const Target& out) = 0;
  /// Whether attention() and attention_of_next() are better than the operations that they consist of, for
  /// heads of this size.
  virtual bool attends(int64_t /*size*/) const { return false; }
  /// Causal attention as nn/attention.h defines it, where attends(size) says so. Queries [tokens, heads,
  /// size] are f32; keys and values [kv_heads, positions, size] f32, f16 or bf16; the last axis of each is
  /// dense.
  virtual void attention(const Operand& /*queries*/, const Operand& /*keys*/, const Operand& /*values*/,
                         const AttentionOptions& /*options*/, const Target& /*out*/) {
    fail(ErrorKind::Unsupported, "attention", "this backend has no such operation");
  }
  /// The same of one token, which is rotated to the position of the last of keys and values, and becomes it
  /// first, in the bits of these operations. Keys and values have one dtype.
  virtual void attention_of_next(const NextToken& /*next*/, const Target& /*keys*/, const Target& /*values*/,
                                 const AttentionOptions& /*options*/, const Target& /*out*/) {
    fail(ErrorKind::Unsupported, "attention", "this backend has no such operation");
  }
  /// x is [.., d]; cos and sin are [.., h] with 0 < 2h <= d, broadcast to x's other axes, of the compute
  /// dtype and of the same strides. The last axes are dense.
  virtual void rope(RopePairs pairs, const Operand& x, const Operand& cos, const Operand& sin,
                    const Target& out) = 0;

  // sort: along the last axis; values.storage may be null; out holds `k` of each row (all: k = row length)
  virtual void sort(const Operand& x, bool ascending, const Target& values, const Target& ids) = 0;

  // indexing; in index_select and index_add another axis may be empty, then the ids are still checked
  virtual void index_select(const Operand& x, const Operand& ids, int axis, const Target& out) = 0;
  virtual void gather(const Operand& x, const Operand& ids, int axis, const Target& out) = 0;
  /// out already holds the destination's values; ids and source have one shape.
  virtual void scatter(ScatterMode mode, const Operand& ids, const Operand& source, int axis,
                       const Target& out) = 0;
  virtual void index_add(const Operand& ids, const Operand& source, int axis, const Target& out) = 0;

  // products: [batch.., m, k] x [batch.., k, n], batch axes already broadcast; f32, f16 and bf16 may be mixed
  virtual void matmul(const Operand& a, const Operand& b, const Target& out) = 0;

  // conv
  virtual void conv(const ConvShape& shape, const Operand& x, const Operand& kernel, const Target& out) = 0;
  virtual void conv_transpose(const ConvShape& shape, const Operand& x, const Operand& kernel,
                              const Target& out) = 0;
  virtual void pool(const PoolShape& shape, const Operand& x, const Target& out) = 0;
  virtual void upsample(const UpsampleShape& shape, const Operand& x, const Target& out) = 0;

  // quantized: blocks are dense bytes; x is dense f32; importance is empty or has one weight per column
  virtual void quantize(QuantType type, const Operand& x, std::span<const float> importance,
                        Storage& blocks) = 0;
  virtual void dequantize(QuantType type, const Storage& blocks, const Target& out) = 0;
  /// x [m, k], which is f32, f16 or bf16 and dense, times the transposes of one to kMostProducts weights with
  /// blocks of one size; what products make of x they share.
  virtual void quantized_matmul(const Operand& x, std::span<const QuantizedProduct> products) = 0;
  static constexpr size_t kMostProducts = 4;
  /// Whether quantized_gated() is better than the operations that it consists of, for x [m, k] of a dtype and
  /// weights [n, k].
  virtual bool gates(QuantType /*type*/, DType /*dtype*/, int64_t /*m*/, int64_t /*n*/, int64_t /*k*/) const {
    return false;
  }
  /// op(x W^T) * (x V^T), where gates() says so, of weights with blocks of `type`, in the bits of these
  /// operations, without their results in memory. x as above; out has its dtype and is dense.
  virtual void quantized_gated(UnaryOp /*op*/, const Operand& /*x*/, QuantType /*type*/,
                               const Storage& /*gate*/, const Storage& /*factor*/, const Target& /*out*/) {
    fail(ErrorKind::Unsupported, "quantized_gated", "this backend has no such operation");
  }
  /// Whether quantized_matmul_of_gate() is better than the operations that it consists of, for m rows.
  virtual bool multiplies_gates(DType /*dtype*/, int64_t /*m*/) const { return false; }
  /// quantized_matmul of x = op(gate) * factor, where multiplies_gates() says so, two dense operands of one
  /// dtype, in the bits of these operations, without x in memory.
  virtual void quantized_matmul_of_gate(UnaryOp /*op*/, const Operand& /*gate*/, const Operand& /*factor*/,
                                        const QuantizedProduct& /*product*/) {
    fail(ErrorKind::Unsupported, "quantized_matmul_of_gate", "this backend has no such operation");
  }
};

/// The backend of a device. Throws Unsupported for one that this version does not have.
Backend& backend_for(const Device& device);

}  // namespace beeswax
