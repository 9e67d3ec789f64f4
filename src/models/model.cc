// SPDX-License-Identifier: Apache-2.0
#include "models/model.h"

#include "core/fail.h"
#include "core/os/memory.h"
#include "models/weights.h"

namespace beeswax::models {

Cache Model::make_cache(int64_t positions, DType dtype) const {
  Cache cache;
  cache.layers.reserve(static_cast<size_t>(info_.layers));
  for (int64_t i = 0; i < info_.layers; ++i)
    cache.layers.emplace_back(info_.kv_heads, positions, info_.head_size, dtype, device_);
  return cache;
}

namespace {

using Make = std::unique_ptr<Model> (*)(const Weights&, int64_t);

Make maker_of(const io::GgufFile& file) {
  const std::string architecture = file.get_string("general.architecture");
#define BW_MODEL(Name, name, ...) \
  if (architecture == #name) return make_##name;
#include "tables/models.def"
  fail(ErrorKind::Unsupported, "load", file.name(), " is of architecture '", architecture, "'; known are:"
#define BW_MODEL(Name, name, ...) " " #name
#include "tables/models.def"
  );
}

}  // namespace

std::unique_ptr<Model> load_model(const io::GgufFile& file, int64_t context, const Device& device) {
  return load_model(Weights(file, device), context);
}

std::unique_ptr<Model> load_model(const Weights& weights, int64_t context) {
  return maker_of(weights.file())(weights, context);
}

ModelInfo check_model(const io::GgufFile& file) {
  for (const io::GgufTensor& tensor : file.tensors()) check_tensor(file, tensor);
  return maker_of(file)(Weights(file, Device::cpu(), Weights::Read::Vectors), 1)->info();
}

void check_context(const ModelInfo& info, int64_t positions, DType dtype) {
  // In double, because a context from a command line can be any number.
  const double bytes = 2.0 * static_cast<double>(info.layers) * static_cast<double>(info.kv_heads) *
                       static_cast<double>(info.head_size) * static_cast<double>(dtype_bits(dtype)) / 8 *
                       static_cast<double>(positions);
  const auto has = static_cast<double>(os::physical_memory_bytes());
  if (bytes > has)
    fail(ErrorKind::TooLarge, "context", "the keys and values of ", positions, " positions in ",
         dtype_name(dtype), " take ", static_cast<int64_t>(bytes / 0x1p20), " MiB, and this machine has ",
         static_cast<int64_t>(has / 0x1p20), "; give a smaller context, or keep them in f16");
}

}  // namespace beeswax::models
