// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "bench/gpu/cases.h"
#include "bench/gpu/make.h"
#include "bench/gpu/tools.h"

namespace beeswax::bench {
namespace {

// Rows and columns of the tables' cases: more than one block of a reduction, and a remainder.
constexpr int64_t kRows = 96, kColumns = 1111;

struct Difference {
  int64_t cases = 0, elements = 0, unequal = 0;
  double largest = 0;  // of the results' largest number
};

bool same(double a, double b) {
  return std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b);
}

void add(const Tensor& want, const Tensor& got, Difference& out) {
  const std::vector<double> a = want.to_doubles(), b = got.to_device(Device::cpu()).to_doubles();
  double scale = 0, worst = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::isfinite(a[i])) scale = std::max(scale, std::fabs(a[i]));
    if (same(a[i], b[i])) continue;
    ++out.unequal;
    // An infinity or NaN on one side only is no rounding: it stays an infinity here.
    worst = std::max(worst, std::isfinite(a[i] - b[i]) ? std::fabs(a[i] - b[i]) : HUGE_VAL);
  }
  ++out.cases;
  out.elements += static_cast<int64_t>(a.size());
  if (worst > 0) out.largest = std::max(out.largest, worst / std::max(scale, 1e-300));
}

GpuCase of_one(const char* name, DType dtype, double lo, double hi, std::function<Tensor(const Tensor&)> f) {
  return {join_text(name, " ", dtype_name(dtype)), 0, 0, [=, f = std::move(f)](const Device& device) -> Body {
            const Tensor x = Tensor::rand({kRows, kColumns}, DType::F64, Device::cpu(), lo, hi)
                                 .to_device(device)
                                 .to_dtype(dtype);
            return [=] { return f(x); };
          }};
}
GpuCase of_two(const char* name, DType dtype, double lo, double hi,
               std::function<Tensor(const Tensor&, const Tensor&)> f) {
  return of_one(name, dtype, lo, hi, [f = std::move(f)](const Tensor& x) { return f(x, x.roll(1, 1)); });
}

// Every row of the tables of operations, over the floating-point dtypes.
void add_rows(DType dtype, std::vector<GpuCase>& out) {
#define BW_UNARY(Name, method, dtypes, expr, half, ulp32, ulp64, lo, hi, oracle, derivative, doc) \
  out.push_back(of_one(#method, dtype, lo, hi, [](const Tensor& x) { return x.method(); }));
#define BW_UNARY_PARAM(Name, method, param, dtypes, expr, half, ulp32, ulp64, lo, hi, oracle, derivative, \
                       doc)                                                                               \
  out.push_back(of_one(#method, dtype, lo, hi, [](const Tensor& x) { return x.method(1.5); }));
#include "tables/unary.def"
#undef BW_UNARY
#undef BW_UNARY_PARAM
#define BW_BINARY(Name, method, dtypes, expr, guard, ulp32, ulp64, lo, hi, oracle, dx, dy, doc) \
  out.push_back(of_two(#method, dtype, lo, hi, [](const Tensor& x, const Tensor& y) { return x.method(y); }));
#define BW_COMPARE(Name, method, expr, holds, doc) \
  out.push_back(of_two(#method, dtype, -2, 2, [](const Tensor& x, const Tensor& y) { return x.method(y); }));
#include "tables/binary.def"
#undef BW_BINARY
#undef BW_COMPARE
#define BW_REDUCE(Name, method, dtypes, center, map, combine, final, empty, bound, oracle, doc) \
  for (const int axis : {0, 1})                                                                 \
    out.push_back(of_one(#method, dtype, -2, 2, [axis](const Tensor& x) { return x.method(axis); }));
#define BW_ARG_REDUCE(Name, method, better, doc) \
  for (const int axis : {0, 1})                  \
    out.push_back(of_one(#method, dtype, -2, 2, [axis](const Tensor& x) { return x.method(axis); }));
#include "tables/reduce.def"
#undef BW_REDUCE
#undef BW_ARG_REDUCE
}

Tensor result_on(const GpuCase& one, const Device& device) {
  // Both draw the same random numbers.
  Device::cpu().set_seed(1);
  device.set_seed(1);
  return one.make(device)();
}

}  // namespace

int run_differences(const Device& device, const std::string& filter, const std::string& json_path) {
  std::vector<GpuCase> cases = gpu_cases(Sizes::Small);
  for (const DType dtype : {DType::F32, DType::F16, DType::BF16, DType::F64, DType::F8E4M3})
    add_rows(dtype, cases);
  std::map<std::string, Difference> of;
  for (const GpuCase& one : cases)
    if (one.name.find(filter) != std::string::npos)
      add(result_on(one, Device::cpu()), result_on(one, device), of[one.name.substr(0, one.name.find(' '))]);
  nlohmann::json out = nlohmann::json::array();
  std::printf("%-24s %6s %10s %10s %s\n", "operation", "cases", "elements", "unequal", "largest difference");
  for (const auto& [name, d] : of) {
    std::printf("%-24s %6lld %10lld %10lld %.3g\n", name.c_str(), static_cast<long long>(d.cases),
                static_cast<long long>(d.elements), static_cast<long long>(d.unequal), d.largest);
    out.push_back({{"operation", name},
                   {"cases", d.cases},
                   {"elements", d.elements},
                   {"unequal", d.unequal},
                   {"largest_difference", d.largest}});
  }
  if (!json_path.empty()) std::ofstream(json_path) << out.dump(1) << "\n";
  return 0;
}

}  // namespace beeswax::bench
