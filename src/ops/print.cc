// SPDX-License-Identifier: Apache-2.0
// Tensors as text, by NumPy's rules for str(array): at most 8 fractional digits, columns aligned on the
// point, exponents when the values need them, three edge items beyond 1000 elements, lines of at most 75
// characters, closing brackets included. They are those of NumPy 2.3 and later, where f16 and f32 take
// exponents from 10^3 and 10^6 on; before, from 10^8.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <ostream>

#include "ops/common.h"

namespace beeswax {
namespace {

constexpr int64_t kThreshold = 1000;
constexpr int64_t kEdge = 3;
constexpr int kPrecision = 8;
constexpr int kPrecisionOfScalars = 20;  // an f64 of 1e-4 has its 17 digits behind three zeros
constexpr size_t kLineWidth = 75;

double round_to(DType dtype, double value) {
  const auto narrow = static_cast<float>(value);
  switch (dtype) {
    case DType::F64:
      return value;
    case DType::F16:
      return f16_to_float(f16_from_float(narrow));
    case DType::BF16:
      return bf16_to_float(bf16_from_float(narrow));
    case DType::F8E4M3:
      return f8e4m3_to_float(f8e4m3_from_float(narrow));
    default:
      return narrow;
  }
}

// Elements this large are written with exponents: a power of ten whose neighbours the dtype tells apart.
// NumPy has no bf16 and no f8e4m3; they are written like f32.
double exponents_from(DType dtype, double most) {
  return dtype == DType::F64 ? most : dtype == DType::F16 ? 1e3 : 1e6;
}

std::string exact_digits(double value, std::chars_format format, int precision) {
  std::array<char, 400> text;
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value, format, precision).ptr};
}

// The shortest digits that read back as the same element, at most `most` after the point.
std::string number_text(DType dtype, double value, std::chars_format format, int most = kPrecision) {
  std::string out;
  for (int precision = 0; precision <= most; ++precision) {
    out = exact_digits(value, format, precision);
    double back = 0;
    std::from_chars(out.data(), out.data() + out.size(), back, format);
    if (round_to(dtype, back) == value) break;
  }
  size_t end = std::min(out.find('e'), out.size());
  if (out.find('.') == std::string::npos) out.insert(end++, ".");
  size_t zeros = 0;  // where `most` digits were not enough, they may end in zeros
  while (out[end - zeros - 1] == '0') ++zeros;
  return out.erase(end - zeros, zeros);
}

// How the elements of one tensor are written: all to one width.
class Format {
 public:
  Format(DType dtype, const std::vector<double>& shown, const std::vector<int64_t>& whole) : dtype_(dtype) {
    if (dtype_is_int(dtype)) {
      for (int64_t value : whole) left_ = std::max(left_, std::to_string(value).size());
      return;
    }
    double largest = 0;
    double smallest = HUGE_VAL;
    for (double value : shown) {
      if (!std::isfinite(value) || value == 0) continue;
      largest = std::max(largest, std::fabs(value));
      smallest = std::min(smallest, std::fabs(value));
    }
    if (largest > 0 && (largest >= exponents_from(dtype, 1e8) || smallest < round_to(dtype, 1e-4) ||
                        round_to(dtype, largest / smallest) > 1000))
      format_ = std::chars_format::scientific;
    for (double value : shown) {
      const std::string text = plain(value);
      if (!std::isfinite(value)) {
        special_ = std::max(special_, text.size());
        continue;
      }
      const size_t point = text.find('.');
      left_ = std::max(left_, point);
      right_ = std::max(right_, fraction_end(text) - point);
      exponent_ = std::max(exponent_, text.size() - fraction_end(text));
    }
    if (special_ > width()) left_ += special_ - width();
  }

  std::string operator()(double value, int64_t whole) const {
    if (dtype_is_int(dtype_)) return pad(std::to_string(whole), left_);
    std::string text = plain(value);
    if (!std::isfinite(value)) return pad(text, width());
    const size_t missing = right_ - (fraction_end(text) - text.find('.'));
    if (format_ == std::chars_format::fixed) return pad(text + std::string(missing, ' '), left_ + right_);
    // With exponents NumPy fills up with digits of the value, not with zeros.
    if (missing > 0) text = exact_digits(value, format_, static_cast<int>(right_) - 1);
    const size_t end = fraction_end(text);
    return pad(text.insert(end + 2, exponent_ - (text.size() - end), '0'), width());
  }

  /// A single number, as Python writes it.
  static std::string scalar(DType dtype, double value, int64_t whole) {
    if (dtype_is_int(dtype)) return std::to_string(whole);
    Format format(dtype, {}, {});
    if (!std::isfinite(value)) return format.plain(value);
    const double size = std::fabs(value);
    if (size != 0 && (size < 1e-4 || size >= exponents_from(dtype, 1e16)))
      format.format_ = std::chars_format::scientific;
    std::string text = number_text(dtype, value, format.format_, kPrecisionOfScalars);
    const size_t point = text.find('.');
    if (point + 1 == text.size()) return text + '0';
    if (text[point + 1] == 'e') text.erase(point, 1);
    return text;
  }

 private:
  std::string plain(double value) const {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
    return number_text(dtype_, value, format_);
  }
  // Where the fraction ends: before an exponent, or at the end.
  static size_t fraction_end(const std::string& text) { return std::min(text.find('e'), text.size()); }
  static std::string pad(const std::string& text, size_t width) {
    return text.size() < width ? std::string(width - text.size(), ' ') + text : text;
  }
  size_t width() const { return left_ + right_ + exponent_; }

  DType dtype_;
  std::chars_format format_ = std::chars_format::fixed;
  size_t left_ = 0;      // of the point, a sign included
  size_t right_ = 0;     // the point and the digits after it
  size_t exponent_ = 0;  // "e+00"
  size_t special_ = 0;   // "-inf"
};

// The positions of one axis that are shown; -1 stands for the dots.
std::vector<int64_t> shown_positions(int64_t size, bool summarize) {
  std::vector<int64_t> positions;
  for (int64_t i = 0; i < size; ++i) {
    if (summarize && size > 2 * kEdge && i == kEdge) {
      positions.push_back(-1);
      i = size - kEdge;
    }
    positions.push_back(i);
  }
  return positions;
}

// The first and last positions of each long axis from `axis` on; views up to there, so that nothing between
// is copied.
Tensor edges(const Tensor& x, int axis) {
  if (axis == x.rank()) return x;
  const int64_t size = x.dim(axis);
  if (size <= 2 * kEdge) return edges(x, axis + 1);
  return Tensor::cat(
      {edges(x.narrow(axis, 0, kEdge), axis + 1), edges(x.narrow(axis, size - kEdge, kEdge), axis + 1)},
      axis);
}

class Printer {
 public:
  explicit Printer(const Tensor& tensor)
      : shape_(tensor.shape()), summarize_(tensor.elem_count() > kThreshold) {
    // Packed elements have no views, so all of them are unpacked.
    const bool packed = dtype_bits(tensor.dtype()) < 8;
    Tensor corners = packed ? tensor.to_dtype(DType::F32) : tensor;
    if (summarize_) corners = edges(corners, 0);
    if (dtype_is_int(tensor.dtype())) {
      whole_ = corners.to_dtype(DType::I64).to_vec<int64_t>();
      values_.resize(whole_.size());
    } else {
      values_ = corners.to_doubles();
      whole_.resize(values_.size());
    }
    format_.emplace(dtype_is_storage(tensor.dtype()) ? DType::F32 : tensor.dtype(), values_, whole_);
  }

  std::string text() { return axis_text(0, 1); }

 private:
  // `indent` is the number of brackets already open on this line.
  std::string axis_text(int axis, size_t indent) {
    std::string out = "[";
    const bool last = axis == shape_.rank() - 1;
    const std::vector<int64_t> positions = shown_positions(shape_[axis], summarize_);
    size_t column = indent;
    for (size_t i = 0; i < positions.size(); ++i) {
      if (!last) {
        if (i > 0) out.append(static_cast<size_t>(shape_.rank() - axis - 1), '\n').append(indent, ' ');
        out += positions[i] < 0 ? "..." : axis_text(axis + 1, indent + 1);
        continue;
      }
      const std::string item = positions[i] < 0 ? "..." : next();
      if (i > 0 && column + 1 + item.size() > kLineWidth - static_cast<size_t>(shape_.rank())) {
        out.erase(out.find_last_not_of(' ') + 1).append("\n").append(indent, ' ');
        column = indent;
      } else if (i > 0) {
        out += ' ';
        ++column;
      }
      out += item;
      column += item.size();
    }
    return out + "]";
  }
  std::string next() {
    const size_t at = next_++;
    return (*format_)(values_[at], whole_[at]);
  }

  Shape shape_;
  bool summarize_;
  std::vector<double> values_;
  std::vector<int64_t> whole_;
  std::optional<Format> format_;
  size_t next_ = 0;
};

}  // namespace

std::string Tensor::to_string() const try {
  if (rank() > 0) return elem_count() == 0 ? "[]" : Printer(*this).text();
  if (dtype_is_int(dtype())) return Format::scalar(dtype(), 0, to_dtype(DType::I64).to_scalar<int64_t>());
  return Format::scalar(dtype_is_storage(dtype()) ? DType::F32 : dtype(), to_doubles()[0], 0);
} catch (...) {
  rethrow_as("to_string");
}

std::ostream& operator<<(std::ostream& out, const Tensor& tensor) {
  return out << tensor.to_string() << "\nTensor" << tensor.describe();
}

}  // namespace beeswax
