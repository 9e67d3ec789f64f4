// SPDX-License-Identifier: Apache-2.0
// The cases of tests/model/cases, which tools/make_model_cases.py writes.
#pragma once

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "beeswax/tensor.h"

namespace beeswax::test {

inline std::filesystem::path model_cases() {
  return std::filesystem::path(BW_SOURCE_DIR) / "tests" / "model" / "cases";
}

inline std::vector<std::string> model_case_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(model_cases()))
    names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

inline nlohmann::json read_model_case(const std::string& name) {
  std::ifstream in(model_cases() / (name + ".json"));
  return nlohmann::json::parse(in);
}

/// The largest error of the logits after the first `count` ids; NaN where one is.
inline double error_of_logits(const nlohmann::json& one, const Tensor& logits, size_t count) {
  const auto expected = one["logits"][count - 1].get<std::vector<double>>();
  const auto got = logits.to_vec<float>();
  if (got.size() != expected.size()) return HUGE_VAL;
  double worst = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    const double error = std::fabs(got[i] - expected[i]);
    worst = error <= worst ? worst : error;
  }
  return worst;
}

}  // namespace beeswax::test
