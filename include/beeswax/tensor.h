// SPDX-License-Identifier: Apache-2.0
// Tensor: a cheap value that refers to storage on a device through a layout. Copies share storage; views
// share it too. Operations return new dense tensors; only methods ending in _set write in place. A tensor may
// be read from many threads at once.
//
// Axes count from 0, or from the end with negative numbers. Every method throws Error, whose message names
// the operation, the shapes and dtypes given, and what would have been accepted. Both sides of an operation
// have one dtype: there is no implicit promotion. Shapes broadcast as in NumPy.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <iterator>
#include <new>
#include <optional>
#include <ranges>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "beeswax/detail/ref.h"
#include "beeswax/device.h"
#include "beeswax/dtype.h"
#include "beeswax/error.h"
#include "beeswax/layout.h"
#include "beeswax/options.h"
#include "beeswax/scalar.h"

namespace beeswax {

class Index;
class Storage;
struct TensorImpl;

class BW_API Tensor {
 public:
  Tensor() = default;  ///< refers to nothing; defined() is false
  bool defined() const { return static_cast<bool>(impl_); }

  // --- Creation (on the thread's default device where none is given) ---------------------------------------
  static Tensor zeros(const Shape& shape, DType dtype, const Device& device = Device::default_device());
  static Tensor ones(const Shape& shape, DType dtype, const Device& device = Device::default_device());
  static Tensor full(const Shape& shape, const Scalar& value, DType dtype,
                     const Device& device = Device::default_device());
  /// Uninitialized.
  static Tensor empty(const Shape& shape, DType dtype, const Device& device = Device::default_device());
  /// New tensors of this one's shape, dtype and device.
  Tensor zeros_like() const;
  Tensor ones_like() const;
  Tensor full_like(const Scalar& value) const;
  Tensor empty_like() const;
  /// A rank-0 tensor.
  static Tensor scalar(const Scalar& value, DType dtype, const Device& device = Device::default_device());
  /// Copies `count` elements of `shape`; InvalidArgument if the counts differ.
  template <class T>
  static Tensor from_span(std::span<const T> data, const Shape& shape,
                          const Device& device = Device::default_device()) {
    return from_host("from_span", std::as_bytes(data), shape, kDTypeOf<T>, device);
  }
  template <class T>
  static Tensor from_vec(const std::vector<T>& data, const Shape& shape,
                         const Device& device = Device::default_device()) {
    return from_host("from_vec", std::as_bytes(std::span(data)), shape, kDTypeOf<T>, device);
  }
  /// [n], the n values of a range (a container, an array, a view, also one that can be read only once), in
  /// its order; the dtype is that of the range's value type: Tensor::from_iter(std::views::iota(0, 5)) is a
  /// [5] of i32. Ranges of other types than the elements of dtypes do not compile; bool is such a type, so
  /// the values of a std::vector<bool> need a transform to uint8_t.
  template <std::ranges::input_range Values>
    requires requires { DTypeOf<std::ranges::range_value_t<Values>>::value; }
  static Tensor from_iter(Values&& values, const Device& device = Device::default_device()) {
    using T = std::ranges::range_value_t<Values>;
    std::vector<T> out;
    for (auto&& value : values) out.push_back(value);
    return from_host("from_iter", std::as_bytes(std::span(out)), {static_cast<int64_t>(out.size())},
                     kDTypeOf<T>, device);
  }
  /// From nested lists of one to four axes: Tensor::of({{1.0f, 2.0f}, {3.0f, 4.0f}}) is a [2, 2] of f32.
  /// InvalidArgument where the lists of one level differ in length.
  template <class T>
  static Tensor of(std::initializer_list<T> list, const Device& device = Device::default_device()) {
    return of_lists<T>(list, device);
  }
  template <class T>
  static Tensor of(std::initializer_list<std::initializer_list<T>> list,
                   const Device& device = Device::default_device()) {
    return of_lists<T>(list, device);
  }
  template <class T>
  static Tensor of(std::initializer_list<std::initializer_list<std::initializer_list<T>>> list,
                   const Device& device = Device::default_device()) {
    return of_lists<T>(list, device);
  }
  template <class T>
  static Tensor of(
      std::initializer_list<std::initializer_list<std::initializer_list<std::initializer_list<T>>>> list,
      const Device& device = Device::default_device()) {
    return of_lists<T>(list, device);
  }
  /// From elements as they lie in memory (dense, row-major, little-endian); the way in for storage dtypes.
  static Tensor from_bytes(std::span<const std::byte> bytes, const Shape& shape, DType dtype,
                           const Device& device = Device::default_device());
  /// [n], the values from start to end, exclusive, in steps of 1 or `step`: start + i*step computed in f64
  /// (i64 for integer dtypes), rounded once. Empty where the step leads away from the end. InvalidArgument
  /// for a step of 0, numbers that are not finite, and values that an integer dtype does not have.
  static Tensor arange(const Scalar& start, const Scalar& end, DType dtype,
                       const Device& device = Device::default_device());
  static Tensor arange_step(const Scalar& start, const Scalar& end, const Scalar& step, DType dtype,
                            const Device& device = Device::default_device());
  /// Uniform in [lo, hi), and normal with the given mean and standard deviation; float dtypes. The numbers
  /// depend on the device's seed and how many were drawn before, and are the same on every device.
  static Tensor rand(const Shape& shape, DType dtype, const Device& device = Device::default_device(),
                     double lo = 0, double hi = 1);
  static Tensor randn(const Shape& shape, DType dtype, const Device& device = Device::default_device(),
                      double mean = 0, double stddev = 1);
  Tensor rand_like(double lo = 0, double hi = 1) const;
  Tensor randn_like(double mean = 0, double stddev = 1) const;
  /// Identity matrix, and n x n masks of ones on and below (tril2), on and above (triu2) the diagonal.
  static Tensor eye(int64_t n, DType dtype, const Device& device = Device::default_device());
  static Tensor tril2(int64_t n, DType dtype, const Device& device = Device::default_device());
  static Tensor triu2(int64_t n, DType dtype, const Device& device = Device::default_device());
  /// Coordinate matrices from two or more 1-D tensors; `xy_indexing` swaps the first two axes.
  static std::vector<Tensor> meshgrid(std::span<const Tensor> args, bool xy_indexing);
  static std::vector<Tensor> meshgrid(std::initializer_list<Tensor> args, bool xy_indexing);

  // --- What it is -----------------------------------------------------------------------------------------
  const Layout& layout() const;
  const Shape& shape() const { return layout().shape(); }
  int rank() const { return layout().rank(); }
  int64_t dim(int axis) const;
  /// `axis` counted from 0; DimOutOfRange unless it is in [-rank, rank).
  int normalize_axis(int axis) const { return shape().axis(axis, "normalize_axis"); }
  std::span<const int64_t> dims() const { return layout().shape().dims(); }
  /// The sizes of a tensor of rank N, else ShapeMismatch: const auto [rows, columns] = x.dims<2>();
  template <size_t N>
  std::array<int64_t, N> dims() const {
    require_rank("dims", static_cast<int>(N));
    std::array<int64_t, N> out{};
    std::copy_n(dims().begin(), N, out.begin());
    return out;
  }
  /// In elements; 0 along broadcast axes.
  std::span<const int64_t> strides() const { return layout().strides(); }
  int64_t elem_count() const;
  DType dtype() const;
  Device device() const;
  bool is_contiguous() const { return layout().is_contiguous(); }
  bool is_fortran_contiguous() const { return layout().is_fortran_contiguous(); }
  /// A number that no other living tensor has.
  uint64_t id() const;
  /// Times the storage was written in place.
  uint64_t version() const;
  /// "[2, 3] f32 cpu"
  std::string describe() const;
  /// NumPy's rendering of the values: what str() of an array of them prints.
  std::string to_string() const;

  // --- To the host ----------------------------------------------------------------------------------------
  /// The elements in row-major order. DTypeMismatch unless T is the dtype's type; OutOfMemory where they do
  /// not fit the host.
  template <class T>
  std::vector<T> to_vec() const {
    return host_vec<T>("to_vec");
  }
  /// The same into memory of the caller's; ShapeMismatch unless it holds as many elements.
  template <class T>
  void copy_to(std::span<T> out) const {
    require_room("copy_to", out.size(), check_host_copy("copy_to", kDTypeOf<T>));
    on_host("copy_to", [&] { copy_to_host(out.data()); });
  }
  /// What to_vec gives, nested by axis, of a tensor of rank 1, 2 or 3; ShapeMismatch for another rank.
  template <class T>
  std::vector<T> to_vec1() const {
    require_rank("to_vec1", 1);
    return host_vec<T>("to_vec1");
  }
  template <class T>
  std::vector<std::vector<T>> to_vec2() const {
    require_rank("to_vec2", 2);
    check_host_copy("to_vec2", kDTypeOf<T>);
    return on_host("to_vec2", [&] {
      std::vector<std::vector<T>> out;
      out.reserve(static_cast<size_t>(dims()[0]));
      for (int64_t i = 0; i < dims()[0]; ++i) out.push_back(get(i).to_vec1<T>());
      return out;
    });
  }
  template <class T>
  std::vector<std::vector<std::vector<T>>> to_vec3() const {
    require_rank("to_vec3", 3);
    check_host_copy("to_vec3", kDTypeOf<T>);
    return on_host("to_vec3", [&] {
      std::vector<std::vector<std::vector<T>>> out;
      out.reserve(static_cast<size_t>(dims()[0]));
      for (int64_t i = 0; i < dims()[0]; ++i) out.push_back(get(i).to_vec2<T>());
      return out;
    });
  }
  /// The one element of a tensor of rank 0 (or of one element).
  template <class T>
  T to_scalar() const {
    check_host_copy("to_scalar", kDTypeOf<T>);
    require_one_element();
    T out;
    on_host("to_scalar", [&] { copy_to_host(&out); });
    return out;
  }
  /// Any dtype, converted to double.
  std::vector<double> to_doubles() const;
  /// The elements as they lie in memory, dense and row-major.
  std::vector<std::byte> to_bytes() const;

  // --- Shape: views without copies unless said ------------------------------------------------------------
  /// At most one size may be -1 (found from the rest). Copies if the strides do not allow a view.
  Tensor reshape(const std::initializer_list<int64_t>& sizes) const;
  Tensor reshape(std::span<const int64_t> sizes) const;
  Tensor reshape(const Shape& shape) const { return reshape(shape.dims()); }
  /// Joins axes first..last into one; a scalar becomes [1].
  Tensor flatten(int first, int last) const;
  Tensor flatten_all() const;
  Tensor flatten_to(int last) const { return flatten(0, last); }
  Tensor flatten_from(int first) const { return flatten(first, -1); }
  Tensor squeeze(int axis) const;    ///< drops an axis of size 1; any other size is kept as it is
  Tensor unsqueeze(int axis) const;  ///< inserts an axis of size 1; axis in [-rank-1, rank]
  Tensor transpose(int a, int b) const;
  Tensor t() const;  ///< transpose of the last two axes
  Tensor permute(std::initializer_list<int> axes) const;
  Tensor permute(std::span<const int> axes) const;
  Tensor broadcast_as(const Shape& shape) const;
  Tensor expand(const Shape& shape) const { return broadcast_as(shape); }
  Tensor broadcast_left(const Shape& left) const;  ///< adds axes of these sizes in front
  Tensor unfold(int axis, int64_t size, int64_t step) const;
  Tensor narrow(int axis, int64_t start, int64_t length) const;
  /// One position of an axis, which is dropped; negative ones count from the end.
  Tensor get(int64_t index) const;
  Tensor get_on_dim(int axis, int64_t index) const;
  /// Up to `chunks` parts along an axis; the first ones are larger by one where it does not divide.
  std::vector<Tensor> chunk(int chunks, int axis) const;
  /// Slices by numbers, ranges, id lists and 1-D id tensors, one for each of the first axes:
  /// t.i(0, range(1, 3), all, ids). Numbers drop their axis; ids copy, all else are views.
  template <class... Args>
  Tensor i(const Args&... args) const;
  Tensor index(std::span<const Index> indices) const;
  Tensor index(std::initializer_list<Index> indices) const;
  /// Dense row-major: itself where it already is, else a copy.
  Tensor contiguous() const;
  Tensor force_contiguous() const { return copy(); }
  Tensor copy() const;  ///< always new storage
  Tensor detach() const { return *this; }
  Tensor repeat(std::span<const int64_t> times) const;
  Tensor repeat(std::initializer_list<int64_t> times) const;
  Tensor flip(const Axes& axes) const;           ///< copies
  Tensor roll(int64_t shift, int axis) const;    ///< copies
  Tensor to_dtype(DType dtype) const;            ///< saturates; float to integer truncates, NaN becomes 0
  Tensor to_device(const Device& device) const;  ///< itself where it already is there

  // --- Elementwise: one method per table row --------------------------------------------------------------
#define BW_UNARY(Name, method, ...) Tensor method() const;
#define BW_UNARY_PARAM(Name, method, param, ...) Tensor method(double param) const;
#include "tables/unary.def"
#define BW_BINARY(Name, method, ...)        \
  Tensor method(const Tensor& other) const; \
  Tensor method(const Scalar& other) const; \
  Tensor broadcast_##method(const Tensor& other) const { return method(other); }
#define BW_COMPARE(Name, method, ...) BW_BINARY(Name, method)
#include "tables/binary.def"
  /// The comparison that `op` names: cmp(y, CompareOp::Le) is le(y).
  Tensor cmp(const Tensor& other, CompareOp op) const;
  Tensor cmp(const Scalar& other, CompareOp op) const;
  /// x*mul + add, two roundings; on integers mul and add must be whole numbers.
  Tensor affine(const Scalar& mul, const Scalar& add) const;
  /// minimum(maximum(x, lo), hi); the bounds are numbers or tensors that broadcast.
  template <class Lo, class Hi>
  Tensor clamp(const Lo& lo, const Hi& hi) const {
    try {
      return maximum(lo).minimum(hi);
    } catch (...) {
      rethrow_as("clamp");
    }
  }
  /// Rounds to a number of decimals, halves away from zero: round(x * 10^d) / 10^d, in f32 for narrower
  /// floats; a negative number rounds to tens, hundreds, ... Numbers without a digit as far to the right stay
  /// as they are. A multiple that is beyond the dtype's largest number is infinite (f8e4m3 saturates, as it
  /// always does), integers saturate.
  Tensor round_to(int decimals) const;
  /// silu(this) * factor and gelu(this) * factor, the gates of feed-forward blocks, in the bits of the two
  /// operations; floats, which broadcast.
  Tensor swiglu(const Tensor& factor) const;
  Tensor geglu(const Tensor& factor) const;
  /// this != 0 ? on_true : on_false, elementwise; the condition has an integer dtype.
  Tensor where_cond(const Tensor& on_true, const Tensor& on_false) const;

  // --- Reductions: over one axis, several, or with no argument all of them --------------------------------
#define BW_REDUCE(Name, method, ...)                                             \
  Tensor method(const Axes& axes, bool keepdim = false) const;                   \
  Tensor method() const { return method##_all(); }                               \
  Tensor method##_keepdim(const Axes& axes) const { return method(axes, true); } \
  Tensor method##_all() const;
  // Over several axes the index counts the elements that they hold together, the last axis fastest, as
  // NumPy's does where they are reshaped into one.
#define BW_ARG_REDUCE(Name, method, ...)                                         \
  Tensor method(const Axes& axes, bool keepdim = false) const;                   \
  Tensor method() const { return method##_all(); }                               \
  Tensor method##_keepdim(const Axes& axes) const { return method(axes, true); } \
  Tensor method##_all() const;  ///< index into the flattened tensor
#include "tables/reduce.def"
  Tensor softmax(const Axes& axes) const;
  Tensor log_softmax(const Axes& axes) const;
  /// x / sqrt(mean(x^2) + eps) * weight over the last axes, as many as weight has. An undefined weight stands
  /// for ones, over the last axis.
  Tensor rms_norm(const Tensor& weight = {}, double eps = 1e-5) const;
  /// (x - mean) / sqrt(var + eps) * weight + bias over the last axes; weight and bias may be undefined: ones,
  /// and zeros. With neither, the last axis is normalized.
  Tensor layer_norm(const Tensor& weight = {}, const Tensor& bias = {}, double eps = 1e-5) const;
  Tensor cumsum(int axis) const;
  /// Rotary position embedding of this [.., d]: the first 2h elements of the last axis as pairs (a, b) become
  /// (a cos - b sin, a sin + b cos), the others stay. cos and sin are [.., h] with 2h <= d and broadcast to
  /// the other axes: [t, h] for [b, heads, t, d], [t, 1, h] for [b, t, heads, d]. They have this tensor's
  /// dtype or the one it is computed in (f32 for the narrow ones).
  Tensor rope(const Tensor& cos, const Tensor& sin, RopePairs pairs) const;

  // --- Products -------------------------------------------------------------------------------------------
  /// [..., m, k] x [..., k, n] -> [..., m, n]; leading axes broadcast. No elements in k gives zeros.
  Tensor matmul(const Tensor& other) const;
  Tensor broadcast_matmul(const Tensor& other) const { return matmul(other); }
  /// The same where the two dtypes may be different ones of f32, f16 and bf16: products and sums are made in
  /// f32, of both as they are, and rounded once to this tensor's dtype. For weights stored narrower than
  /// activations. Other dtypes must be alike (DTypeMismatch).
  Tensor matmul_mixed(const Tensor& other) const;
  Tensor mv(const Tensor& vector) const;  ///< [m, k] x [k] -> [m]
  Tensor dot(const Tensor& other) const;  ///< [k] . [k] -> scalar

  // --- Convolution, pooling, resizing ---------------------------------------------------------------------
  /// [b, c_in, l] * [c_out, c_in/groups, k] -> [b, c_out, l_out], cross-correlation as in PyTorch.
  Tensor conv1d(const Tensor& kernel, const ConvOptions& options = {}) const;
  /// [b, c_in, h, w] * [c_out, c_in/groups, kh, kw] -> [b, c_out, h_out, w_out].
  Tensor conv2d(const Tensor& kernel, const ConvOptions& options = {}) const;
  /// [b, c_in, l] * [c_in, c_out/groups, k] -> [b, c_out, (l-1)stride - 2 padding + dilation(k-1) +
  /// output_padding + 1].
  Tensor conv_transpose1d(const Tensor& kernel, const ConvOptions& options = {}) const;
  Tensor conv_transpose2d(const Tensor& kernel, const ConvOptions& options = {}) const;
  /// [b, c, h, w], windows of kernel[0] x kernel[1]; stride defaults to the kernel. No padding.
  Tensor avg_pool2d(std::pair<int64_t, int64_t> kernel,
                    std::optional<std::pair<int64_t, int64_t>> stride = std::nullopt) const;
  Tensor max_pool2d(std::pair<int64_t, int64_t> kernel,
                    std::optional<std::pair<int64_t, int64_t>> stride = std::nullopt) const;
  /// Square windows.
  Tensor avg_pool2d(int64_t kernel, std::optional<int64_t> stride = std::nullopt) const;
  Tensor max_pool2d(int64_t kernel, std::optional<int64_t> stride = std::nullopt) const;
  Tensor upsample_nearest1d(int64_t size) const;                   ///< [b, c, l] -> [b, c, size]
  Tensor upsample_nearest2d(int64_t height, int64_t width) const;  ///< [b, c, h, w]
  Tensor interpolate1d(int64_t size) const { return upsample_nearest1d(size); }
  Tensor interpolate2d(int64_t height, int64_t width) const { return upsample_nearest2d(height, width); }
  /// PyTorch's rule, corners aligned or not. Of integers (within 2^53) to the nearest, halves away from zero.
  Tensor upsample_bilinear2d(int64_t height, int64_t width, bool align_corners) const;
  Tensor upsample_bilinear2d_with_scale(double scale_h, double scale_w, bool align_corners) const;

  // --- Joining --------------------------------------------------------------------------------------------
  static Tensor cat(std::span<const Tensor> parts, int axis);
  static Tensor cat(std::initializer_list<Tensor> parts, int axis);
  static Tensor stack(std::span<const Tensor> parts, int axis);
  static Tensor stack(std::initializer_list<Tensor> parts, int axis);
  Tensor pad_with_zeros(int axis, int64_t left, int64_t right) const;
  Tensor pad_with_same(int axis, int64_t left, int64_t right) const;  ///< repeats the edge elements

  // --- Indexing. Ids: u8, u32, i16, i32 or i64. The largest id of a dtype that is not a legal index means
  //     "skip": gathers read 0 there, scatters leave the destination. Others out of range are errors.
  //     ---------
  /// out[.., i, ..] = this[.., ids[i], ..]; ids is 1-D.
  Tensor index_select(const Tensor& ids, int axis) const;
  /// Rows of a 2-D tensor for ids of any rank: ids.shape + [columns].
  Tensor embedding(const Tensor& ids) const;
  /// out[p, i, q] = this[p, ids[p, i, q], q]; ids has this tensor's rank, other axes at most as long.
  Tensor gather(const Tensor& ids, int axis) const;
  /// A copy with out[p, ids[p, i, q], q] = source[p, i, q] (the last i wins), or += (contributions in the
  /// order of i, through the documented tree).
  Tensor scatter(const Tensor& ids, const Tensor& source, int axis) const;
  Tensor scatter_add(const Tensor& ids, const Tensor& source, int axis) const;
  void scatter_set(const Tensor& ids, const Tensor& source, int axis);
  void scatter_add_set(const Tensor& ids, const Tensor& source, int axis);
  /// A copy with out[.., ids[i], ..] += source[.., i, ..].
  Tensor index_add(const Tensor& ids, const Tensor& source, int axis) const;
  /// A copy with the slice starting at `start` along `axis` (or the slice that the ranges name) replaced.
  Tensor slice_scatter(const Tensor& source, int axis, int64_t start) const;
  Tensor slice_scatter0(const Tensor& source, int64_t start) const { return slice_scatter(source, 0, start); }
  Tensor slice_assign(std::span<const Index> ranges, const Tensor& source) const;
  Tensor slice_assign(std::initializer_list<Index> ranges, const Tensor& source) const;

  // --- In place -------------------------------------------------------------------------------------------
  /// Writes `source` at `offset` along `axis`. Both must not share storage.
  void slice_set(const Tensor& source, int axis, int64_t offset);
  void const_set(const Scalar& value);  ///< through a view too; a broadcast view is an error
  void zero_set() { const_set(0); }
  void one_set() { const_set(1); }

  // --- Sorting: stable, NaN last in both directions, -0 equal to +0 ---------------------------------------
  Tensor arg_sort(int axis, bool ascending = true) const;  ///< u32
  Tensor arg_sort_last_dim(bool ascending = true) const;
  std::pair<Tensor, Tensor> sort(int axis, bool ascending = true) const;  ///< values and u32 ids
  std::pair<Tensor, Tensor> sort_last_dim(bool ascending = true) const;
  /// The k largest (or smallest) of the last axis in order, and their ids.
  std::pair<Tensor, Tensor> topk(int64_t k, bool largest = true) const;

  // For the library itself.
  Tensor(detail::Ref<Storage> storage, const Layout& layout, DType dtype);
  const TensorImpl& impl() const;
  Storage& storage() const;
  Tensor with_layout(const Layout& layout) const;

 private:
  static Tensor from_host(std::string_view operation, std::span<const std::byte> bytes, const Shape& shape,
                          DType dtype, const Device& device);
  [[noreturn]] void rethrow_as(std::string_view operation) const;  // what was caught, named so
  // Elements to make room for on the host, once it is known that they can be copied there as `expected`.
  size_t check_host_copy(std::string_view operation, DType expected) const;
  void copy_to_host(void* out) const;
  // Passes on what was caught; OutOfMemory where the host had none.
  [[noreturn]] void refuse_host_copy(std::string_view operation) const;
  // What `make` returns; OutOfMemory where the host's memory does not hold it.
  template <class Make>
  auto on_host(std::string_view operation, const Make& make) const {
    try {
      return make();
    } catch (...) {
      refuse_host_copy(operation);
    }
  }
  template <class T>
  std::vector<T> host_vec(std::string_view operation) const {
    const size_t count = check_host_copy(operation, kDTypeOf<T>);
    return on_host(operation, [&] {
      std::vector<T> out(count);
      copy_to_host(out.data());
      return out;
    });
  }
  void require_one_element() const;
  void require_room(std::string_view operation, size_t room, size_t wanted) const;
  void require_rank(std::string_view operation, int rank) const;
  [[noreturn]] static void fail_ragged(size_t expected, size_t got);
  // Appends the elements of nested lists; `shape` gets a size at the first list of each level.
  template <class T>
  static void flatten_list(const T& element, int /*level*/, Shape* /*shape*/, std::vector<T>* out) {
    out->push_back(element);
  }
  template <class L, class T>
  static void flatten_list(std::initializer_list<L> list, int level, Shape* shape, std::vector<T>* out) {
    if (level == shape->rank()) shape->push_back(static_cast<int64_t>(list.size()));
    const auto expected = static_cast<size_t>((*shape)[level]);
    if (list.size() != expected) fail_ragged(expected, list.size());
    for (const L& inner : list) flatten_list(inner, level + 1, shape, out);
  }
  template <class T, class L>
  static Tensor of_lists(std::initializer_list<L> list, const Device& device) {
    Shape shape;
    std::vector<T> out;
    flatten_list(list, 0, &shape, &out);
    return from_host("of", std::as_bytes(std::span(out)), shape, kDTypeOf<T>, device);
  }
  detail::Ref<detail::RefCounted> impl_;  // a TensorImpl
};

// Numbers may stand on either side: 1 / x divides, 2 - x subtracts.
#define BW_OPERATOR(symbol, method)                                                       \
  inline Tensor operator symbol(const Tensor& a, const Tensor& b) { return a.method(b); } \
  inline Tensor operator symbol(const Tensor& a, const Scalar& b) { return a.method(b); } \
  BW_API Tensor operator symbol(const Scalar& a, const Tensor& b);
BW_OPERATOR(+, add)
BW_OPERATOR(-, sub)
BW_OPERATOR(*, mul)
BW_OPERATOR(/, div)
#undef BW_OPERATOR
inline Tensor operator-(const Tensor& a) { return a.neg(); }
BW_API std::ostream& operator<<(std::ostream& out, const Tensor& tensor);

/// A range of positions for Tensor::i, its end exclusive; the default is everything. Negative numbers count
/// from the end of the axis, so range(-3, -1) are the two before the last. A reversed range is empty; one
/// that reaches beyond the axis is an error.
struct Range {
  int64_t start = 0;
  int64_t end = INT64_MAX;  ///< the default stands for the axis's size
};
inline Range range(int64_t start, int64_t end) { return {start, end}; }
inline Range range_from(int64_t start) { return {start, INT64_MAX}; }
inline Range range_to(int64_t end) { return {0, end}; }
inline constexpr Range all{};

/// One position of Tensor::i: a number (drops the axis), a range, a list of ids or a 1-D id tensor.
class BW_API Index {
 public:
  template <std::integral T>
  Index(T at)  // NOLINT(google-explicit-constructor)
      : kind_(Kind::At), range_{number(at), 0} {}
  Index(Range range) : kind_(Kind::Range), range_(range) {}  // NOLINT(google-explicit-constructor)
  template <std::integral T>
  Index(const std::vector<T>& ids)  // NOLINT(google-explicit-constructor)
      : kind_(Kind::Ids), ids_(Tensor::from_vec(ids, {static_cast<int64_t>(ids.size())}, Device::cpu())) {}
  Index(Tensor ids) : kind_(Kind::Ids), ids_(std::move(ids)) {}  // NOLINT(google-explicit-constructor)

  enum class Kind { At, Range, Ids };
  Kind kind() const { return kind_; }
  int64_t at() const { return range_.start; }
  Range range() const { return range_; }
  const Tensor& ids() const { return ids_; }

 private:
  // Numbers that no axis has stay so, instead of counting from its end.
  template <std::integral T>
  static int64_t number(T at) {
    if constexpr (std::is_unsigned_v<T> && sizeof(T) >= sizeof(int64_t))
      if (at > static_cast<T>(INT64_MAX)) return INT64_MAX;
    return static_cast<int64_t>(at);
  }

  Kind kind_;
  Range range_;
  Tensor ids_;
};

template <class... Args>
Tensor Tensor::i(const Args&... args) const {
  const std::array<Index, sizeof...(Args)> indices = {Index(args)...};
  return index(indices);
}

}  // namespace beeswax
