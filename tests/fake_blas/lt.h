// SPDX-License-Identifier: Apache-2.0
// The functions that cuBLASLt and hipBLASLt share, for a file that says what the vendor calls and numbers
// things: FAKE_LT(name) the exported name, `Numbers` the enumerations, `Algorithm` the opaque part of a
// result.
#pragma once

#include <map>

#include "fake_blas/product.h"

namespace {

using fake::Blas;
using fake::BlasCall;
using fake::Matrices;
using fake::Type;

// Attributes that were set, by number; what was not set has its default.
struct Object {
  enum class Kind { Product, Layout, Wish } kind;
  int compute_type = 0, scale_type = 0;  // of a product
  int type = 0;                          // of a layout
  uint64_t rows = 0, columns = 0;
  int64_t leading = 0;
  std::map<int, int64_t> attributes = {};

  int64_t get(int attribute, int64_t otherwise) const {
    const auto found = attributes.find(attribute);
    return found == attributes.end() ? otherwise : found->second;
  }
};
std::map<const void*, Object> objects;

struct Result {
  Algorithm algorithm;
  size_t workspace_bytes;
  int state;
  float waves;
  int reserved[4];
};

template <class Work>
int call(const char* name, const Work& work) {
  Blas& blas = Blas::get();
  const std::scoped_lock lock(blas.mutex);
  const int fault = blas.enter(name);
  return fault != 0 ? fault : work(blas);
}

// What gives something back does so all the same.
template <class Work>
int call_release(const char* name, const Work& work) {
  Blas& blas = Blas::get();
  const std::scoped_lock lock(blas.mutex);
  const int fault = blas.enter(name), status = work(blas);
  return fault != 0 ? fault : status;
}

Object* find(const void* handle, Object::Kind kind) {
  const auto found = objects.find(handle);
  return found == objects.end() || found->second.kind != kind ? nullptr : &found->second;
}

int make(Blas& blas, void** out, Object object) {
  if (out == nullptr) return blas.refuse(Numbers::kInvalidValue, "no place for an object");
  *out = std::malloc(1);
  objects[*out] = std::move(object);
  ++blas.control.objects;
  return 0;
}

int destroy(Blas& blas, void* handle, Object::Kind kind) {
  if (find(handle, kind) == nullptr)
    return blas.refuse(Numbers::kInvalidValue, "an object that is not alive");
  objects.erase(handle);
  std::free(handle);
  --blas.control.objects;
  return 0;
}

int set(Blas& blas, void* handle, Object::Kind kind, int attribute, const void* value, size_t bytes) {
  Object* object = find(handle, kind);
  if (object == nullptr) return blas.refuse(Numbers::kInvalidValue, "an object that is not alive");
  const size_t expected = kind == Object::Kind::Product  ? Numbers::product_bytes(attribute)
                          : kind == Object::Kind::Layout ? Numbers::layout_bytes(attribute)
                                                         : Numbers::wish_bytes(attribute);
  if (value == nullptr || expected == 0 || bytes != expected)
    return blas.refuse(Numbers::kInvalidValue,
                       "attribute " + std::to_string(attribute) + " of " + std::to_string(bytes) + " bytes");
  int64_t number = 0;
  std::memcpy(&number, value, bytes);
  if (bytes == 4 && number > INT32_MAX) number -= int64_t{1} << 32;
  object->attributes[attribute] = number;
  return 0;
}

Type type_of(int type) {
  switch (type) {  // cudaDataType_t and hipDataType: R_32F, R_64F, R_16F, R_16BF
    case 0:
      return Type::Single;
    case 1:
      return Type::Double;
    case 2:
      return Type::Half;
    case 14:
      return Type::Brain;
    default:
      return Type::None;
  }
}

// The product that descriptors say, without its addresses; a status where they do not fit together.
int read(Blas& blas, const void* product, const void* a, const void* b, const void* c, const void* d,
         Matrices* out) {
  const Object* what = find(product, Object::Kind::Product);
  const Object* sides[] = {find(a, Object::Kind::Layout), find(b, Object::Kind::Layout),
                           find(c, Object::Kind::Layout), find(d, Object::Kind::Layout)};
  for (const Object* side : sides)
    if (what == nullptr || side == nullptr)
      return blas.refuse(Numbers::kInvalidValue, "a descriptor that is not alive");
  const auto& [left, right, addend, result] = sides;
  const int64_t turn_a = what->get(Numbers::kTurnA, Numbers::kPlain),
                turn_b = what->get(Numbers::kTurnB, Numbers::kPlain);
  for (const int64_t turn : {turn_a, turn_b})
    if (turn != Numbers::kPlain && turn != Numbers::kTurned)
      return blas.refuse(Numbers::kInvalidValue, "no operation");
  const bool turned_a = turn_a == Numbers::kTurned, turned_b = turn_b == Numbers::kTurned;
  const auto m = static_cast<int64_t>(result->rows), n = static_cast<int64_t>(result->columns);
  const auto k = static_cast<int64_t>(turned_a ? left->rows : left->columns);
  const auto is = [](const Object* side, int64_t rows, int64_t columns) {
    return static_cast<int64_t>(side->rows) == rows && static_cast<int64_t>(side->columns) == columns;
  };
  if (!is(left, turned_a ? k : m, turned_a ? m : k) || !is(right, turned_b ? n : k, turned_b ? k : n) ||
      !is(addend, m, n))
    return blas.refuse(Numbers::kInvalidValue, "sizes that do not fit together");
  const int64_t batch = result->get(Numbers::kBatch, 1);
  for (const Object* side : sides) {
    if (side->get(Numbers::kBatch, 1) != batch || batch < 1)
      return blas.refuse(Numbers::kInvalidValue, "other batches");
    if (side->leading < static_cast<int64_t>(side->rows))
      return blas.refuse(Numbers::kInvalidValue, "a leading dimension");
  }
  const Type type = type_of(left->type);
  const bool wide = type == Type::Double;
  if (type == Type::None || static_cast<int>(type) == blas.control.without_type ||
      right->type != left->type || addend->type != left->type || result->type != left->type)
    return Numbers::kNotSupported;
  if (what->compute_type != (wide ? Numbers::kCompute64f : Numbers::kCompute32f) ||
      what->scale_type != (wide ? 1 : 0))
    return blas.refuse(Numbers::kNotSupported, "another type of sums");
  out->call = {turned_a,
               turned_b,
               m,
               n,
               k,
               batch,
               left->leading,
               right->leading,
               result->leading,
               left->get(Numbers::kBatchStride, 0),
               right->get(Numbers::kBatchStride, 0),
               result->get(Numbers::kBatchStride, 0),
               static_cast<int>(type),
               0};
  out->type = type;
  return 0;
}

// What an algorithm was found for.
struct Found {
  uint16_t magic = 0xb10b;
  uint16_t alignment = 0;
  uint32_t shape = 0;
};
static_assert(sizeof(Found) <= sizeof(Algorithm));

uint32_t shape_of(const BlasCall& call) {
  uint64_t hash = 14695981039346656037u;  // FNV-1a
  for (const int64_t number :
       {int64_t{call.turn_a}, int64_t{call.turn_b}, call.m, call.n, call.k, call.batch, call.a_leading,
        call.b_leading, call.c_leading, call.a_stride, call.b_stride, call.c_stride, int64_t{call.type}})
    hash = (hash ^ static_cast<uint64_t>(number)) * 1099511628211u;
  return static_cast<uint32_t>(hash ^ hash >> 32);
}

}  // namespace

BW_FAKE_EXPORT int FAKE_LT(Create)(void** handle) {
  return call(__func__, [&](Blas& blas) -> int {
    if (handle == nullptr) return blas.refuse(Numbers::kInvalidValue, "no place for a handle");
    *handle = blas.make();
    return 0;
  });
}
BW_FAKE_EXPORT int FAKE_LT(Destroy)(void* handle) {
  return call_release(__func__,
                      [&](Blas& blas) -> int { return blas.release(handle) ? 0 : Numbers::kNotInitialized; });
}

BW_FAKE_EXPORT int FAKE_LT(MatmulDescCreate)(void** product, int compute_type, int scale_type) {
  return call(__func__, [&](Blas& blas) {
    return make(blas, product,
                {.kind = Object::Kind::Product, .compute_type = compute_type, .scale_type = scale_type});
  });
}
BW_FAKE_EXPORT int FAKE_LT(MatmulDescDestroy)(void* product) {
  return call_release(__func__, [&](Blas& blas) { return destroy(blas, product, Object::Kind::Product); });
}
BW_FAKE_EXPORT int FAKE_LT(MatmulDescSetAttribute)(void* product, int attribute, const void* value,
                                                   size_t bytes) {
  return call(__func__,
              [&](Blas& blas) { return set(blas, product, Object::Kind::Product, attribute, value, bytes); });
}

BW_FAKE_EXPORT int FAKE_LT(MatrixLayoutCreate)(void** layout, int type, uint64_t rows, uint64_t columns,
                                               int64_t leading) {
  return call(__func__, [&](Blas& blas) {
    return make(
        blas, layout,
        {.kind = Object::Kind::Layout, .type = type, .rows = rows, .columns = columns, .leading = leading});
  });
}
BW_FAKE_EXPORT int FAKE_LT(MatrixLayoutDestroy)(void* layout) {
  return call_release(__func__, [&](Blas& blas) { return destroy(blas, layout, Object::Kind::Layout); });
}
BW_FAKE_EXPORT int FAKE_LT(MatrixLayoutSetAttribute)(void* layout, int attribute, const void* value,
                                                     size_t bytes) {
  return call(__func__,
              [&](Blas& blas) { return set(blas, layout, Object::Kind::Layout, attribute, value, bytes); });
}

BW_FAKE_EXPORT int FAKE_LT(MatmulPreferenceCreate)(void** wish) {
  return call(__func__, [&](Blas& blas) { return make(blas, wish, {.kind = Object::Kind::Wish}); });
}
BW_FAKE_EXPORT int FAKE_LT(MatmulPreferenceDestroy)(void* wish) {
  return call_release(__func__, [&](Blas& blas) { return destroy(blas, wish, Object::Kind::Wish); });
}
BW_FAKE_EXPORT int FAKE_LT(MatmulPreferenceSetAttribute)(void* wish, int attribute, const void* value,
                                                         size_t bytes) {
  return call(__func__,
              [&](Blas& blas) { return set(blas, wish, Object::Kind::Wish, attribute, value, bytes); });
}

BW_FAKE_EXPORT int FAKE_LT(MatmulAlgoGetHeuristic)(void* handle, void* product, void* a, void* b, void* c,
                                                   void* d, void* wish, int wanted, void* results,
                                                   int* found) {
  return call(__func__, [&](Blas& blas) -> int {
    if (!blas.is_alive(handle)) return blas.refuse(Numbers::kNotInitialized, "no handle");
    const Object* wishes = find(wish, Object::Kind::Wish);
    if (wishes == nullptr || wanted < 1 || results == nullptr || found == nullptr)
      return blas.refuse(Numbers::kInvalidValue, "no wish, or no place for results");
    Matrices read_product{};
    if (const int status = read(blas, product, a, b, c, d, &read_product); status != 0) return status;
    ++blas.control.searches;
    *found = 0;
    if (!Numbers::repeats(wishes->attributes))
      return blas.refuse(Numbers::kInvalidValue, "sums that round between");
    if (wishes->get(Numbers::kMostWorkspace, 0) < static_cast<int64_t>(blas.control.wanted_workspace))
      return 0;
    Result result{};
    Found kept;
    kept.alignment = Numbers::alignment(wishes->attributes);
    kept.shape = shape_of(read_product.call);
    std::memcpy(&result.algorithm, &kept, sizeof(kept));
    result.workspace_bytes = blas.control.wanted_workspace;
    std::memcpy(results, &result, sizeof(result));
    *found = 1;
    return 0;
  });
}

BW_FAKE_EXPORT int FAKE_LT(Matmul)(void* handle, void* product, const void* alpha, const void* a,
                                   void* a_layout, const void* b, void* b_layout, const void* beta,
                                   const void* c, void* c_layout, void* d, void* d_layout,
                                   const void* algorithm, void* workspace, size_t bytes, void* stream) {
  return call(__func__, [&](Blas& blas) -> int {
    if (!blas.is_alive(handle)) return blas.refuse(Numbers::kNotInitialized, "no handle");
    Matrices matrices{};
    if (const int status = read(blas, product, a_layout, b_layout, c_layout, d_layout, &matrices);
        status != 0)
      return status;
    if (alpha == nullptr || beta == nullptr || a == nullptr || b == nullptr || d == nullptr ||
        algorithm == nullptr)
      return blas.refuse(Numbers::kInvalidValue, "no scalar, operand or algorithm");
    Found found;
    std::memcpy(&found, algorithm, sizeof(found));
    if (found.magic != Found().magic || found.shape != shape_of(matrices.call))
      return blas.refuse(Numbers::kInvalidValue, "an algorithm of another product");
    if (bytes < blas.control.wanted_workspace || (bytes > 0 && workspace == nullptr) ||
        reinterpret_cast<uintptr_t>(workspace) % Numbers::kWorkspaceAlignment != 0)
      return blas.refuse(Numbers::kInvalidValue, "too little workspace");
    for (const void* data : {a, b, static_cast<const void*>(d)})
      if (found.alignment != 0 && reinterpret_cast<uintptr_t>(data) % found.alignment != 0)
        return blas.refuse(Numbers::kInvalidValue, "an address less aligned than was told");
    const auto scalar = [&](const void* at) {
      return matrices.type == Type::Double ? *static_cast<const double*>(at) : *static_cast<const float*>(at);
    };
    matrices.call.workspace_bytes = bytes;
    matrices.alpha = scalar(alpha);
    matrices.beta = scalar(beta);
    matrices.a = a;
    matrices.b = b;
    matrices.c = c;
    matrices.d = d;
    matrices.workspace = workspace;
    if (const std::string wrong = blas.wrong_with(matrices); !wrong.empty())
      return blas.refuse(Numbers::kExecutionFailed, wrong);
    return blas.submit(matrices, stream) ? 0 : Numbers::kExecutionFailed;
  });
}
