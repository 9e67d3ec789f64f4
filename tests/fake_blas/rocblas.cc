// SPDX-License-Identifier: Apache-2.0
// A stand-in for librocblas. Numbers are those that the documentation of rocBLAS gives for its enumerations
// (rocm.docs.amd.com/projects/rocBLAS, "rocBLAS enumerations"; rocblas-types.h of rocBLAS 4), and arguments
// are refused in the order and with the status that gemm_ex's documentation and its argument check have.
#include <map>

#include "fake_blas/product.h"

namespace {

using fake::Blas;
using fake::Matrices;
using fake::Type;

enum Status {
  rocblas_status_success = 0,
  rocblas_status_invalid_handle = 1,
  rocblas_status_not_implemented = 2,
  rocblas_status_invalid_pointer = 3,
  rocblas_status_invalid_size = 4,
  rocblas_status_memory_error = 5,
  rocblas_status_internal_error = 6,
  rocblas_status_size_query_mismatch = 8,
  rocblas_status_size_increased = 9,
  rocblas_status_size_unchanged = 10,
  rocblas_status_invalid_value = 11,
};
enum Operation {
  rocblas_operation_none = 111,
  rocblas_operation_transpose = 112,
  rocblas_operation_conjugate_transpose = 113,
};
enum DataType {
  rocblas_datatype_f16_r = 150,
  rocblas_datatype_f32_r = 151,
  rocblas_datatype_f64_r = 152,
  rocblas_datatype_bf16_r = 168,
};
enum { rocblas_pointer_mode_host = 0, rocblas_pointer_mode_device = 1 };
enum { rocblas_atomics_not_allowed = 0, rocblas_atomics_allowed = 1 };
enum { rocblas_gemm_algo_standard = 0, rocblas_gemm_algo_solution_index = 1 };

struct Handle {
  void* stream = nullptr;
  int pointer_mode = rocblas_pointer_mode_host, atomics = rocblas_atomics_allowed;
  void* workspace = nullptr;
  size_t workspace_bytes = 0;
  bool asks_size = false;
  size_t wanted = 0;
};
std::map<const void*, Handle> handles;

Type type_of(int type) {
  switch (type) {
    case rocblas_datatype_f16_r:
      return Type::Half;
    case rocblas_datatype_bf16_r:
      return Type::Brain;
    case rocblas_datatype_f32_r:
      return Type::Single;
    case rocblas_datatype_f64_r:
      return Type::Double;
    default:
      return Type::None;
  }
}

template <class Work>
int call(const char* name, void* handle, const Work& work) {
  Blas& blas = Blas::get();
  const std::scoped_lock lock(blas.mutex);
  if (const int fault = blas.enter(name); fault != 0) return fault;
  if (!blas.is_alive(handle))
    return blas.refuse(rocblas_status_invalid_handle, std::string(name) + ": no handle");
  return work(blas, handles[handle]);
}

}  // namespace

BW_FAKE_EXPORT const char* rocblas_status_to_string(int status) {
  switch (status) {
    case rocblas_status_success:
      return "rocblas_status_success";
    case rocblas_status_invalid_handle:
      return "rocblas_status_invalid_handle";
    case rocblas_status_not_implemented:
      return "rocblas_status_not_implemented";
    case rocblas_status_invalid_pointer:
      return "rocblas_status_invalid_pointer";
    case rocblas_status_invalid_size:
      return "rocblas_status_invalid_size";
    case rocblas_status_memory_error:
      return "rocblas_status_memory_error";
    case rocblas_status_internal_error:
      return "rocblas_status_internal_error";
    case rocblas_status_invalid_value:
      return "rocblas_status_invalid_value";
    default:
      return "<undefined rocblas_status value>";
  }
}

BW_FAKE_EXPORT int rocblas_get_version_string(char* text, size_t bytes) {
  constexpr char kVersion[] = "4.2.1";
  if (text == nullptr) return rocblas_status_invalid_pointer;
  if (bytes < sizeof(kVersion)) return rocblas_status_invalid_size;
  std::memcpy(text, kVersion, sizeof(kVersion));
  return rocblas_status_success;
}

BW_FAKE_EXPORT int rocblas_create_handle(void** handle) {
  Blas& blas = Blas::get();
  const std::scoped_lock lock(blas.mutex);
  if (const int fault = blas.enter(__func__); fault != 0) return fault;
  if (handle == nullptr) return blas.refuse(rocblas_status_invalid_handle, "no place for a handle");
  *handle = blas.make();
  handles[*handle] = {};
  return rocblas_status_success;
}

BW_FAKE_EXPORT int rocblas_destroy_handle(void* handle) {
  return call(__func__, handle, [handle](Blas& blas, Handle&) {
    handles.erase(handle);
    blas.release(handle);
    return rocblas_status_success;
  });
}

BW_FAKE_EXPORT int rocblas_set_stream(void* handle, void* stream) {
  return call(__func__, handle, [stream](Blas&, Handle& state) {
    state.stream = stream;
    return rocblas_status_success;
  });
}

BW_FAKE_EXPORT int rocblas_set_pointer_mode(void* handle, int mode) {
  return call(__func__, handle, [mode](Blas& blas, Handle& state) -> int {
    if (mode != rocblas_pointer_mode_host && mode != rocblas_pointer_mode_device)
      return blas.refuse(rocblas_status_invalid_value, "no pointer mode");
    state.pointer_mode = mode;
    return rocblas_status_success;
  });
}

BW_FAKE_EXPORT int rocblas_set_atomics_mode(void* handle, int mode) {
  return call(__func__, handle, [mode](Blas& blas, Handle& state) -> int {
    if (mode != rocblas_atomics_not_allowed && mode != rocblas_atomics_allowed)
      return blas.refuse(rocblas_status_invalid_value, "no atomics mode");
    state.atomics = mode;
    return rocblas_status_success;
  });
}

BW_FAKE_EXPORT int rocblas_start_device_memory_size_query(void* handle) {
  return call(__func__, handle, [](Blas& blas, Handle& state) -> int {
    if (state.asks_size)
      return blas.refuse(rocblas_status_size_query_mismatch, "a question within a question");
    state.asks_size = true;
    state.wanted = 0;
    return rocblas_status_success;
  });
}

BW_FAKE_EXPORT int rocblas_stop_device_memory_size_query(void* handle, size_t* bytes) {
  return call(__func__, handle, [bytes](Blas& blas, Handle& state) -> int {
    if (!state.asks_size) return blas.refuse(rocblas_status_size_query_mismatch, "no question was asked");
    if (bytes == nullptr) return blas.refuse(rocblas_status_invalid_pointer, "no place for the size");
    state.asks_size = false;
    *bytes = state.wanted;
    return rocblas_status_success;
  });
}

BW_FAKE_EXPORT int rocblas_set_workspace(void* handle, void* data, size_t bytes) {
  return call(__func__, handle, [data, bytes](Blas&, Handle& state) {
    state.workspace = data;
    state.workspace_bytes = data == nullptr ? 0 : bytes;
    return rocblas_status_success;
  });
}

BW_FAKE_EXPORT int rocblas_gemm_strided_batched_ex(
    void* handle, int turn_a, int turn_b, int32_t m, int32_t n, int32_t k, const void* alpha, const void* a,
    int a_type, int32_t a_leading, int64_t a_stride, const void* b, int b_type, int32_t b_leading,
    int64_t b_stride, const void* beta, const void* c, int c_type, int32_t c_leading, int64_t c_stride,
    void* d, int d_type, int32_t d_leading, int64_t d_stride, int32_t batch, int compute_type, int algorithm,
    int32_t solution, uint32_t flags) {
  return call(__func__, handle, [&](Blas& blas, Handle& state) -> int {
    const auto known = [](int operation) {
      return operation == rocblas_operation_none || operation == rocblas_operation_transpose ||
             operation == rocblas_operation_conjugate_transpose;
    };
    if (!known(turn_a) || !known(turn_b)) return blas.refuse(rocblas_status_invalid_value, "no operation");
    if (m < 0 || n < 0 || k < 0 || batch < 0)
      return blas.refuse(rocblas_status_invalid_size, "a negative size");
    if (c_leading < m || d_leading < m || a_leading < (turn_a == rocblas_operation_none ? m : k) ||
        b_leading < (turn_b == rocblas_operation_none ? k : n))
      return blas.refuse(rocblas_status_invalid_size, "a leading dimension");
    if (m == 0 || n == 0 || batch == 0) return rocblas_status_success;
    const Type type = type_of(a_type);
    const bool half = type == Type::Half || type == Type::Brain;
    // Types that go together: one for all, computed in itself, or in f32 where it is f16 or bf16.
    const int expected_compute = half ? rocblas_datatype_f32_r : a_type;
    if (type == Type::None || b_type != a_type || c_type != a_type || d_type != a_type ||
        compute_type != expected_compute || static_cast<int>(type) == blas.control.without_type)
      return rocblas_status_not_implemented;
    if (algorithm != rocblas_gemm_algo_standard || solution != 0 || flags != 0)
      return blas.refuse(rocblas_status_invalid_value, "an algorithm that nobody chose");
    if (state.pointer_mode != rocblas_pointer_mode_host)
      return blas.refuse(rocblas_status_invalid_pointer, "scalars of the host in device mode");
    if (state.atomics != rocblas_atomics_not_allowed)
      return blas.refuse(rocblas_status_invalid_value, "results that do not repeat themselves");
    if (state.asks_size) {
      const bool more = blas.control.wanted_workspace > state.wanted;
      state.wanted = std::max(state.wanted, blas.control.wanted_workspace);
      return more ? rocblas_status_size_increased : rocblas_status_size_unchanged;
    }
    if (alpha == nullptr || beta == nullptr || d == nullptr)
      return blas.refuse(rocblas_status_invalid_pointer, "no alpha, beta or d");
    const auto scalar = [type](const void* at) {
      return type == Type::Double ? *static_cast<const double*>(at) : *static_cast<const float*>(at);
    };
    if ((k != 0 && (a == nullptr || b == nullptr) && scalar(alpha) != 0) ||
        (c == nullptr && scalar(beta) != 0))
      return blas.refuse(rocblas_status_invalid_pointer, "no a, b or c");
    if (c == d && (c_leading != d_leading || c_stride != d_stride))
      return blas.refuse(rocblas_status_invalid_size, "c is d, and lies otherwise");
    // Without enough memory of its caller the library would ask the driver for it, which stops the device.
    if (state.workspace == nullptr || state.workspace_bytes < blas.control.wanted_workspace)
      return blas.refuse(rocblas_status_memory_error, "too little workspace");
    const Matrices product{
        {turn_a != rocblas_operation_none, turn_b != rocblas_operation_none, m, n, k, batch, a_leading,
         b_leading, d_leading, a_stride, b_stride, d_stride, static_cast<int>(type), state.workspace_bytes},
        type,
        scalar(alpha),
        scalar(beta),
        a,
        b,
        c,
        d,
        state.workspace};
    if (const std::string wrong = blas.wrong_with(product); !wrong.empty())
      return blas.refuse(rocblas_status_internal_error, wrong);
    return blas.submit(product, state.stream) ? rocblas_status_success : rocblas_status_internal_error;
  });
}
