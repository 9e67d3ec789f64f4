// SPDX-License-Identifier: Apache-2.0
#include "models/model.h"

#include "core/fail.h"

namespace beeswax::models {

Cache Model::make_cache(int64_t positions, DType dtype) const {
  Cache cache;
  cache.layers.reserve(static_cast<size_t>(info_.layers));
  for (int64_t i = 0; i < info_.layers; ++i)
    cache.layers.emplace_back(info_.kv_heads, positions, info_.head_size, dtype);
  return cache;
}

std::unique_ptr<Model> load_model(const io::GgufFile& file, int64_t context) {
  const std::string architecture = file.get_string("general.architecture");
#define BW_MODEL(Name, name, ...) \
  if (architecture == #name) return make_##name(file, context);
#include "tables/models.def"
  fail(ErrorKind::Unsupported, "load", file.name(), " is of architecture '", architecture, "'; known are:"
#define BW_MODEL(Name, name, ...) " " #name
#include "tables/models.def"
  );
}

}  // namespace beeswax::models
