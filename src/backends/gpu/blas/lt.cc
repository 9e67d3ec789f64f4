// SPDX-License-Identifier: Apache-2.0
// Products through cuBLASLt or hipBLASLt. Searching an algorithm takes the host a while, so what a search
// found is kept for each shape.
#include "backends/gpu/blas/lt.h"

#include <array>
#include <bit>
#include <compare>
#include <cstring>
#include <map>
#include <mutex>

#include "core/fail.h"

namespace beeswax::gpu::blas {
namespace {

constexpr uint64_t kMostWorkspace = uint64_t{32} << 20;
constexpr size_t kMostPlans = 1024;
constexpr uintptr_t kMostAlignment = 256;
// Parts of a sum are kept and added in its own type, in one order: others round between, or are not
// repeatable.
constexpr uint32_t kReduceInSumType = 2;

int type_of(DType type) {
  switch (type) {
    case DType::F16:
      return 2;
    case DType::BF16:
      return 14;
    case DType::F64:
      return 1;
    default:
      return 0;
  }
}

void check(const LtApi& api, int status, const char* function) {
  if (status != 0) fail(ErrorKind::Device, "matmul", function, " says ", api.words(api, status));
}

// What a library made and takes back.
class Owned {
 public:
  explicit Owned(int (*give_back)(void*)) : give_back_(give_back) {}
  ~Owned() {
    if (handle_ != nullptr) give_back_(handle_);
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  void* get() const { return handle_; }
  void** out() { return &handle_; }

 private:
  int (*give_back_)(void*);
  void* handle_ = nullptr;
};

uint32_t alignment_of(const void* data) {
  return static_cast<uint32_t>(uintptr_t{1}
                               << std::countr_zero(reinterpret_cast<uintptr_t>(data) | kMostAlignment));
}

// All that an algorithm depends on.
struct Key {
  DType type;
  int64_t m, n, k, batch;
  struct Side {
    int64_t leading, batch_stride;
    bool turned;
    uint32_t alignment;
    explicit Side(const ColumnProduct::Side& side)
        : leading(side.leading),
          batch_stride(side.batch_stride),
          turned(side.turned),
          alignment(alignment_of(side.data)) {}
    auto operator<=>(const Side&) const = default;
  } a, b, c;

  explicit Key(const ColumnProduct& p)
      : type(p.type), m(p.m), n(p.n), k(p.k), batch(p.batch), a(p.a), b(p.b), c(p.c) {}
  auto operator<=>(const Key&) const = default;
};

struct Plan {
  explicit Plan(const LtApi& api)
      : product(api.destroy_product), a(api.destroy_layout), b(api.destroy_layout), c(api.destroy_layout) {}
  Owned product, a, b, c;
  alignas(16) std::array<std::byte, 128> algorithm{};
  std::optional<size_t> workspace;  // nothing: the library has no algorithm
};

class LtHandle final : public Handle {
 public:
  LtHandle(const LtApi& api, const LtNumbers& numbers) : api_(api), numbers_(numbers), handle_(api.destroy) {
    check(api_, api_.create(handle_.out()), api_.create_name);
  }

  std::optional<size_t> workspace(const ColumnProduct& product) override { return plan(product)->workspace; }

  std::string multiply(const ColumnProduct& p, void* workspace, size_t bytes, StreamHandle stream) override {
    const std::shared_ptr<const Plan> found = plan(p);
    const bool wide = p.type == DType::F64;
    constexpr float kOne = 1, kZero = 0;
    constexpr double kWideOne = 1, kWideZero = 0;
    const void* alpha = wide ? static_cast<const void*>(&kWideOne) : &kOne;
    const void* beta = wide ? static_cast<const void*>(&kWideZero) : &kZero;
    void* c = const_cast<std::byte*>(p.c.data);
    const int status = api_.multiply(handle_.get(), found->product.get(), alpha, p.a.data, found->a.get(),
                                     p.b.data, found->b.get(), beta, c, found->c.get(), c, found->c.get(),
                                     found->algorithm.data(), workspace, bytes, stream);
    return status == 0 ? "" : join_text(api_.multiply_name, " says ", api_.words(api_, status));
  }

 private:
  std::shared_ptr<const Plan> plan(const ColumnProduct& product) {
    const Key key(product);
    const std::scoped_lock lock(mutex_);
    if (const auto found = plans_.find(key); found != plans_.end()) return found->second;
    std::shared_ptr<const Plan> made = make_plan(product, key);
    if (plans_.size() >= kMostPlans) plans_.clear();
    return plans_.emplace(key, std::move(made)).first->second;
  }

  std::shared_ptr<const Plan> make_plan(const ColumnProduct& p, const Key& key) const {
    auto plan = std::make_shared<Plan>(api_);
    const bool wide = p.type == DType::F64;
    check(api_,
          api_.create_product(plan->product.out(), wide ? numbers_.compute_f64 : numbers_.compute_f32,
                              type_of(wide ? DType::F64 : DType::F32)),
          api_.create_product_name);
    set(&LtApi::set_product, api_.set_product_name, plan->product, numbers_.turn_a,
        int32_t{p.a.turned ? numbers_.turned : numbers_.plain});
    set(&LtApi::set_product, api_.set_product_name, plan->product, numbers_.turn_b,
        int32_t{p.b.turned ? numbers_.turned : numbers_.plain});
    describe(plan->a, p, p.a, p.a_rows(), p.a_columns());
    describe(plan->b, p, p.b, p.b_rows(), p.b_columns());
    describe(plan->c, p, p.c, p.m, p.n);
    search(*plan, key);
    return plan;
  }

  void describe(Owned& layout, const ColumnProduct& p, const ColumnProduct::Side& side, int64_t rows,
                int64_t columns) const {
    check(api_,
          api_.create_layout(layout.out(), type_of(p.type), static_cast<uint64_t>(rows),
                             static_cast<uint64_t>(columns), side.leading),
          api_.create_layout_name);
    if (p.batch == 1) return;
    set(&LtApi::set_layout, api_.set_layout_name, layout, numbers_.batch, static_cast<int32_t>(p.batch));
    set(&LtApi::set_layout, api_.set_layout_name, layout, numbers_.batch_stride, side.batch_stride);
  }

  void search(Plan& plan, const Key& key) const {
    Owned wish(api_.destroy_wish);
    check(api_, api_.create_wish(wish.out()), api_.create_wish_name);
    const auto want = [&](int attribute, auto value) {
      if (attribute != kNoAttribute) set(&LtApi::set_wish, api_.set_wish_name, wish, attribute, value);
    };
    want(numbers_.most_workspace, kMostWorkspace);
    want(numbers_.reductions, kReduceInSumType);
    want(numbers_.a_alignment, key.a.alignment);
    want(numbers_.b_alignment, key.b.alignment);
    want(numbers_.c_alignment, key.c.alignment);
    want(numbers_.d_alignment, key.c.alignment);
    int found = 0;
    const int status = api_.search(handle_.get(), plan.product.get(), plan.a.get(), plan.b.get(),
                                   plan.c.get(), plan.c.get(), wish.get(), 1, plan.algorithm.data(), &found);
    if (status == numbers_.not_supported || (status == 0 && found == 0)) return;
    check(api_, status, api_.search_name);
    size_t bytes = 0;
    int state = 0;
    std::memcpy(&bytes, plan.algorithm.data() + numbers_.algorithm_bytes, sizeof(bytes));
    std::memcpy(&state, plan.algorithm.data() + numbers_.algorithm_bytes + sizeof(bytes), sizeof(state));
    if (state == 0) plan.workspace = bytes;
  }

  template <class Value>
  void set(int (*LtApi::*setter)(void*, int, const void*, size_t), const char* name, const Owned& owned,
           int attribute, Value value) const {
    check(api_, (api_.*setter)(owned.get(), attribute, &value, sizeof(value)), name);
  }

  const LtApi& api_;
  LtNumbers numbers_;
  Owned handle_;
  std::mutex mutex_;
  std::map<Key, std::shared_ptr<const Plan>> plans_;
};

}  // namespace

std::unique_ptr<Handle> start_lt(const LtApi& api, const LtNumbers& numbers) {
  return std::make_unique<LtHandle>(api, numbers);
}

}  // namespace beeswax::gpu::blas
