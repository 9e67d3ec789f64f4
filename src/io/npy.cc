// SPDX-License-Identifier: Apache-2.0
// The format: \x93NUMPY, two bytes of version, the length of the header (16 bits in version 1, then 32), the
// header, which is the text of a Python dict with the keys descr, fortran_order and shape, then the elements.
#include "beeswax/npy.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <optional>

#include "core/divide.h"
#include "core/fail.h"
#include "core/os/file.h"
#include "io/byte_reader.h"
#include "io/file_writer.h"
#include "io/json_events.h"
#include "io/widened.h"

namespace beeswax {
namespace {

static_assert(std::endian::native == std::endian::little, "elements are used as they lie in the file");

using io::ByteReader;

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr int64_t kDataAlignment = 64;

/// An element type of NumPy's: the letter of its kind and its bytes, and the dtype of tensors of ours.
struct NpyType {
  std::string_view code;
  DType dtype;
  size_t bytes;
};
/// Files are written with the first that a dtype has.
constexpr NpyType kTypes[] = {
    {"f8", DType::F64, 8}, {"f4", DType::F32, 4}, {"f2", DType::F16, 2}, {"i8", DType::I64, 8},
    {"i4", DType::I32, 4}, {"i2", DType::I16, 2}, {"u4", DType::U32, 4}, {"u1", DType::U8, 1},
    {"b1", DType::U8, 1},  {"i1", DType::I16, 1}, {"u2", DType::U32, 2},
};

bool is_one_of(std::string_view characters, char c) { return characters.find(c) != std::string_view::npos; }

struct NpyHeader {
  std::string_view descr;  ///< byte order and code
  bool fortran_order = false;
  Shape shape;
};

/// The header's text: what NumPy writes, and whatever else means the same in Python without escapes.
class HeaderText {
 public:
  HeaderText(std::string_view text, const ByteReader& file) : text_(text), file_(file) {}

  /// Nothing for an array of records, whose descr is a list: the rest is nothing that we read.
  std::optional<NpyHeader> read() {
    constexpr std::array<std::string_view, 3> kKeys = {"descr", "fortran_order", "shape"};
    NpyHeader header;
    unsigned seen = 0;
    need('{');
    while (!skip('}')) {
      const std::string_view name = quoted("a key");
      const auto key = static_cast<unsigned>(std::ranges::find(kKeys, name) - kKeys.begin());
      if (key == kKeys.size() || (seen >> key & 1u) != 0)
        file_.refuse("has '", io::shown_name(name), "' in its header, twice or besides '", kKeys[0], "', '",
                     kKeys[1], "' and '", kKeys[2], "'");
      seen |= 1u << key;
      need(':');
      if (key == 0 && next() == '[') return std::nullopt;
      if (key == 0)
        header.descr = quoted("'descr'");
      else if (key == 1)
        header.fortran_order = truth();
      else
        header.shape = sizes();
      if (!skip(',') && next() != '}') refuse_at("a comma or '}'");
    }
    next();
    if (at_ != text_.size()) refuse_at("the end");
    for (unsigned key = 0; key < kKeys.size(); ++key)
      if ((seen >> key & 1u) == 0) file_.refuse("has no '", kKeys[key], "' in its header");
    return header;
  }

 private:
  /// The next character that is no space, or 0 at the end.
  char next() {
    while (at_ < text_.size() && is_one_of(" \t\r\n", text_[at_])) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool skip(char c) {
    if (next() != c || at_ == text_.size()) return false;
    ++at_;
    return true;
  }
  void need(char c) {
    if (!skip(c)) refuse_at({'\'', c, '\''});
  }
  [[noreturn]] void refuse_at(const std::string& expected) const {
    file_.refuse("has ",
                 at_ < text_.size() ? join_text("'", io::shown_name(text_.substr(at_, 16)), "'") : "nothing",
                 " at character ", at_, " of its header, where ", expected, " should be");
  }
  std::string_view quoted(std::string_view what) {
    const char mark = next();
    if (mark != '\'' && mark != '"') refuse_at(join_text(what, " in quotes"));
    const size_t end = text_.find_first_of(mark == '"' ? "\"\\\n" : "'\\\n", at_ + 1);
    if (end == std::string_view::npos || text_[end] != mark) refuse_at(join_text(what, " in quotes"));
    const std::string_view inside = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return inside;
  }
  bool truth() {
    next();
    for (const std::string_view word : {"True", "False"}) {
      if (!text_.substr(at_).starts_with(word)) continue;
      at_ += word.size();
      return word == "True";
    }
    refuse_at("True or False");
  }
  /// (), (3,), (3, 4): one size needs its comma, as in Python. Python 2 wrote long numbers as 3L.
  Shape sizes() {
    std::array<int64_t, kMaxRank> sizes{};
    size_t count = 0;
    bool comma = false;
    need('(');
    while (!skip(')')) {
      if (count > 0 && !comma) refuse_at("a comma or ')'");
      if (count == sizes.size()) file_.refuse("has an array of more than ", kMaxRank, " axes");
      sizes[count++] = size();
      comma = skip(',');
    }
    if (count == 1 && !comma) refuse_at("a comma behind the only size, before the bracket,");
    return Shape(std::span(sizes).first(count));
  }
  int64_t size() {
    int64_t value = 0;
    const char first = next();
    if (first < '0' || first > '9') refuse_at("a size");
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_)
      if (__builtin_mul_overflow(value, 10, &value) ||
          __builtin_add_overflow(value, text_[at_] - '0', &value))
        file_.refuse("has an array of more elements than any memory holds");
    if (at_ < text_.size() && text_[at_] == 'L') ++at_;
    return value;
  }

  std::string_view text_;
  const ByteReader& file_;
  size_t at_ = 0;
};

[[noreturn]] void refuse_type(std::string_view file, std::string_view what) {
  std::string accepted;
  for (const NpyType& type : kTypes) accepted += join_text(accepted.empty() ? "" : ", ", type.code);
  fail(ErrorKind::UnsupportedDType, "read", file, " holds ", what,
       ", which tensors do not have; accepted: ", accepted, ", in either byte order");
}

/// The type of a descr such as "<f4", of either byte order.
const NpyType& find_type(std::string_view descr, const ByteReader& in, std::string_view file) {
  if (descr.empty() || !is_one_of("<>|=", descr.front()))
    in.refuse("has the element type '", io::shown_name(descr), "', which begins with no byte order");
  for (const NpyType& type : kTypes)
    if (descr.substr(1) == type.code) return type;
  refuse_type(file, join_text("elements of type '", io::shown_name(descr), "'"));
}

uint64_t bytes_of(const Shape& shape, const NpyType& type, const ByteReader& in) {
  // An empty axis does not excuse the others: strides are made of them.
  int64_t reach = 1;
  uint64_t bytes = 0;
  for (const int64_t size : shape)
    if (__builtin_mul_overflow(reach, std::max<int64_t>(size, 1), &reach))
      in.refuse("has an array of more elements than any memory holds");
  if (__builtin_mul_overflow(static_cast<uint64_t>(shape.elem_count()), type.bytes, &bytes))
    in.refuse("has an array of more elements than any memory holds");
  return bytes;
}

/// A tensor of the shape from elements as they lie in the file.
Tensor to_tensor(std::span<const std::byte> bytes, const NpyType& type, bool reverse, const Shape& shape,
                 const Device& device) {
  std::vector<std::byte> reversed;
  if (reverse) bytes = reversed = io::with_reversed_elements(bytes, type.bytes);
  if (type.code == "i1") return io::widened<int8_t, int16_t>(bytes, shape).to_device(device);
  if (type.code == "u2") return io::widened<uint16_t, uint32_t>(bytes, shape).to_device(device);
  return Tensor::from_bytes(bytes, shape, type.dtype, device);
}

Shape reversed_axes(const Shape& shape) {
  std::vector<int64_t> sizes(shape.begin(), shape.end());
  std::ranges::reverse(sizes);
  return Shape(sizes);
}

/// What stands before the elements.
std::string head_of(const Tensor& x) {
  const auto* type = std::ranges::find(kTypes, x.dtype(), &NpyType::dtype);
  if (type == std::end(kTypes))
    fail(ErrorKind::UnsupportedDType, "write", "NumPy has no type for the elements of ", x.describe(),
         "; write x.to_dtype(DType::F32) instead");
  std::string text = join_text("{'descr': '", type->bytes == 1 ? "|" : "<", type->code,
                               "', 'fortran_order': False, 'shape': (");
  for (int axis = 0; axis < x.rank(); ++axis) text += join_text(axis > 0 ? ", " : "", x.dim(axis));
  text += x.rank() == 1 ? ",), }" : "), }";
  const auto before = static_cast<int64_t>(kMagic.size() + 4), size = static_cast<int64_t>(text.size()) + 1;
  text.append(static_cast<size_t>(round_up(before + size, kDataAlignment) - before - size), ' ');
  text += '\n';
  const auto length = static_cast<uint16_t>(text.size());
  std::string out(kMagic);
  out += {'\1', '\0', static_cast<char>(length & 0xff), static_cast<char>(length >> 8)};
  return out + text;
}

}  // namespace

Tensor npy_from_bytes(std::span<const std::byte> bytes, std::string_view name, const Device& device) {
  ByteReader in(name, bytes);
  const auto magic = in.take(std::min(kMagic.size(), in.left()), "the first bytes");
  if (magic.size() < kMagic.size() || std::memcmp(magic.data(), kMagic.data(), kMagic.size()) != 0)
    in.refuse("does not begin as .npy files do");
  const int major = in.number<uint8_t>("the version"), minor = in.number<uint8_t>("the version");
  if (major < 1 || major > 3 || minor != 0)
    in.refuse("is of version ", major, ".", minor, "; versions 1.0, 2.0 and 3.0 are read");
  const uint32_t length = major == 1 ? in.number<uint16_t>("the length of the header")
                                     : in.number<uint32_t>("the length of the header");
  const auto text = in.take(length, "the header");
  const auto header = HeaderText({reinterpret_cast<const char*>(text.data()), text.size()}, in).read();
  if (!header) refuse_type(name, "records");
  const NpyType& type = find_type(header->descr, in, name);
  const uint64_t size = bytes_of(header->shape, type, in);
  if (size != in.left())
    in.refuse("describes ", size, " bytes of elements, ", header->shape, " of ", header->descr, ", but ",
              in.left(), " follow its header");
  const auto data = in.take(size, "the elements");
  const bool reverse = header->descr.front() == '>';
  if (!header->fortran_order) return to_tensor(data, type, reverse, header->shape, device);
  std::vector<int> axes(static_cast<size_t>(header->shape.rank()));
  for (size_t i = 0; i < axes.size(); ++i) axes[i] = static_cast<int>(axes.size() - 1 - i);
  return to_tensor(data, type, reverse, reversed_axes(header->shape), device).permute(axes);
}

Tensor read_npy(const std::string& path, const Device& device) {
  const os::MappedFile file(path);
  return npy_from_bytes(file.bytes(), path, device);
}

std::vector<std::byte> npy_to_bytes(const Tensor& x) {
  const std::string head = head_of(x);
  const auto first = std::as_bytes(std::span(head));
  std::vector<std::byte> out = x.to_bytes();
  out.insert(out.begin(), first.begin(), first.end());
  return out;
}

void write_npy(const Tensor& x, const std::string& path) {
  const std::string head = head_of(x);
  const std::vector<std::byte> elements = x.to_bytes();
  io::FileWriter file(path);
  file.put(std::as_bytes(std::span(head)));
  file.put(elements);
  file.finish();
}

}  // namespace beeswax
