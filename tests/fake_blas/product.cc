// SPDX-License-Identifier: Apache-2.0
#include "fake_blas/product.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

namespace fake {
namespace {

#if defined(__aarch64__)
using Half = __fp16;  // where g++ 12 has no _Float16 in C++
#else
using Half = _Float16;
#endif

double read(const void* data, int64_t at, Type type) {
  switch (type) {
    case Type::Half: {
      Half value;
      std::memcpy(&value, static_cast<const char*>(data) + at * 2, sizeof(value));
      return static_cast<double>(value);
    }
    case Type::Brain: {
      uint16_t top = 0;
      std::memcpy(&top, static_cast<const char*>(data) + at * 2, sizeof(top));
      const uint32_t bits = uint32_t{top} << 16;
      float value = 0;
      std::memcpy(&value, &bits, sizeof(value));
      return value;
    }
    case Type::Single:
      return static_cast<const float*>(data)[at];
    default:
      return static_cast<const double*>(data)[at];
  }
}

// Sums of narrow types are f32 before they are rounded to the type.
void write(void* data, int64_t at, Type type, double value) {
  const auto sum = static_cast<float>(value);
  switch (type) {
    case Type::Half: {
      const auto half = static_cast<Half>(sum);
      std::memcpy(static_cast<char*>(data) + at * 2, &half, sizeof(half));
      return;
    }
    case Type::Brain: {
      uint32_t bits = 0;
      std::memcpy(&bits, &sum, sizeof(bits));
      if (sum == sum) bits += 0x7fff + (bits >> 16 & 1);  // to nearest, ties to even
      const auto top = static_cast<uint16_t>(bits >> 16);
      std::memcpy(static_cast<char*>(data) + at * 2, &top, sizeof(top));
      return;
    }
    case Type::Single:
      static_cast<float*>(data)[at] = sum;
      return;
    default:
      static_cast<double*>(data)[at] = value;
  }
}

void compute(const Matrices& p) {
  const BlasCall& s = p.call;
  if (p.workspace != nullptr) std::memset(p.workspace, 0xa5, s.workspace_bytes);
  for (int64_t g = 0; g < s.batch; ++g)
    for (int64_t j = 0; j < s.n; ++j)
      for (int64_t i = 0; i < s.m; ++i) {
        double sum = 0;
        for (int64_t l = 0; l < s.k; ++l) {
          const int64_t a = s.turn_a != 0 ? l + i * s.a_leading : i + l * s.a_leading;
          const int64_t b = s.turn_b != 0 ? j + l * s.b_leading : l + j * s.b_leading;
          sum += read(p.a, g * s.a_stride + a, p.type) * read(p.b, g * s.b_stride + b, p.type);
        }
        const int64_t at = g * s.c_stride + i + j * s.c_leading;
        sum *= p.alpha;
        if (p.beta != 0) sum += p.beta * read(p.c, at, p.type);
        write(p.d, at, p.type, sum);
      }
}

// HIP's functions of the driver library that the process uses, as the real library is linked with them. The
// fake drivers have none of these: their memory is the host's and their streams do everything at once.
struct Hip {
  int (*launch_host)(void* stream, void (*function)(void*), void* data) = nullptr;
  int (*fill_2d)(void* to, size_t pitch, int value, size_t width, size_t height, void* stream) = nullptr;
  int (*range)(void** start, size_t* bytes, void* address) = nullptr;

  Hip() {
    void* library = ::dlopen("libbeeswax_emu.so", RTLD_NOW | RTLD_NOLOAD);
    if (library == nullptr) return;
    launch_host = reinterpret_cast<decltype(launch_host)>(::dlsym(library, "hipLaunchHostFunc"));
    fill_2d = reinterpret_cast<decltype(fill_2d)>(::dlsym(library, "hipMemset2DAsync"));
    range = reinterpret_cast<decltype(range)>(::dlsym(library, "hipMemGetAddressRange"));
  }
  bool inside(const void* data, size_t bytes) const {
    if (range == nullptr) return true;
    void* start = nullptr;
    size_t whole = 0;
    if (range(&start, &whole, const_cast<void*>(data)) != 0) return false;
    return static_cast<const char*>(data) + bytes <= static_cast<const char*>(start) + whole;
  }
};
const Hip& hip() {
  static const Hip functions;
  return functions;
}

// Bytes from the first to the last element of a side of rows by columns.
size_t extent(int64_t rows, int64_t columns, int64_t leading, int64_t batch, int64_t stride, Type type) {
  return static_cast<size_t>((batch - 1) * stride + (columns - 1) * leading + rows) * bytes_of(type);
}

}  // namespace

size_t bytes_of(Type type) { return type == Type::Double ? 8 : type == Type::Single ? 4 : 2; }

Blas& Blas::get() {
  static Blas* blas = [] {
    auto* made = new Blas;  // the last calls may come from destructors of statics
    made->control.wanted_workspace = 1000;
    if (const char* fault = std::getenv("FAKE_BLAS_FAIL")) {
      const std::string text = fault;
      const size_t first = text.find(':'), second = text.find(':', first + 1);
      std::snprintf(made->control.fail_call, sizeof(made->control.fail_call), "%s",
                    text.substr(0, first).c_str());
      made->control.fail_nth = std::atoi(text.c_str() + first + 1);
      made->control.fail_status = std::atoi(text.c_str() + second + 1);
    }
    return made;
  }();
  return *blas;
}

int Blas::enter(const char* name) {
  ++control.calls;
  if (control.fail_nth == 0 || (control.fail_call[0] != 0 && std::strcmp(control.fail_call, name) != 0))
    return 0;
  if (--control.fail_nth > 0) return 0;
  std::snprintf(control.failed, sizeof(control.failed), "%s", name);
  return control.fail_status;
}

int Blas::refuse(int status, const std::string& why) {
  ++control.refusals;
  std::snprintf(control.refused, sizeof(control.refused), "%s", why.c_str());
  return status;
}

void* Blas::make() {
  void* handle = std::malloc(1);
  handles_.insert(handle);
  ++control.handles;
  return handle;
}

bool Blas::release(const void* handle) {
  if (handles_.erase(handle) == 0) return false;
  std::free(const_cast<void*>(handle));
  --control.handles;
  return true;
}

std::string Blas::wrong_with(const Matrices& p) const {
  const BlasCall& s = p.call;
  const int64_t a_rows = s.turn_a != 0 ? s.k : s.m, a_columns = s.turn_a != 0 ? s.m : s.k;
  const int64_t b_rows = s.turn_b != 0 ? s.n : s.k, b_columns = s.turn_b != 0 ? s.k : s.n;
  if (!hip().inside(p.a, extent(a_rows, a_columns, s.a_leading, s.batch, s.a_stride, p.type)))
    return "a is not in live memory";
  if (!hip().inside(p.b, extent(b_rows, b_columns, s.b_leading, s.batch, s.b_stride, p.type)))
    return "b is not in live memory";
  if (!hip().inside(p.d, extent(s.m, s.n, s.c_leading, s.batch, s.c_stride, p.type)))
    return "d is not in live memory";
  if (s.workspace_bytes > 0 && !hip().inside(p.workspace, s.workspace_bytes))
    return "the workspace is not in live memory";
  if (s.batch > 1 && s.c_stride < s.c_leading * (s.n - 1) + s.m) return "results of a batch overlap";
  for (const void* data : {p.a, p.b, static_cast<const void*>(p.d)})
    if (reinterpret_cast<uintptr_t>(data) % bytes_of(p.type) != 0) return "an address within an element";
  return "";
}

bool Blas::submit(const Matrices& product, void* stream) {
  control.last = product.call;
  if (hip().launch_host == nullptr) {
    compute(product);
    ++control.products;
    return true;
  }
  // The driver sees what is written: the result is filled first, with what is not a number.
  const BlasCall& s = product.call;
  const size_t element = bytes_of(product.type);
  for (int64_t g = 0; product.beta == 0 && g < s.batch; ++g) {
    char* to = static_cast<char*>(product.d) + static_cast<size_t>(g * s.c_stride) * element;
    if (hip().fill_2d(to, static_cast<size_t>(s.c_leading) * element, 0xff,
                      static_cast<size_t>(s.m) * element, static_cast<size_t>(s.n), stream) != 0)
      return false;
  }
  // A graph may come back to it at any time.
  static auto* kept = new std::vector<std::unique_ptr<Matrices>>;
  kept->push_back(std::make_unique<Matrices>(product));
  const auto run = [](void* data) { compute(*static_cast<const Matrices*>(data)); };
  if (hip().launch_host(stream, run, kept->back().get()) != 0) return false;
  ++control.products;
  return true;
}

}  // namespace fake

BW_FAKE_EXPORT fake::BlasControl* fake_blas_control() { return &fake::Blas::get().control; }
