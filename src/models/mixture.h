// SPDX-License-Identifier: Apache-2.0
// Mixtures: how a model file is quantized as a whole. Most matrices get one format; those that errors hurt
// most get a better one. The names and the choices are the field's (docs/quant-formats.md has the table), so
// that a file of a given name has the size that people expect.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "beeswax/shape.h"
#include "io/gguf.h"

namespace beeswax::models {

struct Mixture {
  std::string_view name;
  uint32_t file_type;  ///< general.file_type of GGUF files
  uint32_t base;       ///< of most matrices: a number of tables/ggml_types.def
};

BW_API std::span<const Mixture> mixtures();

/// By name, in any case; "q3_k", "q4_k" and "q5_k" mean the mixtures ending in _m. InvalidArgument, naming
/// the known ones, for another.
BW_API const Mixture& parse_mixture(std::string_view name);

/// What the choices depend on.
struct MixtureModel {
  int64_t layers = 0;
  int64_t sharing = 1;  ///< query heads to a key/value head
  int64_t experts = 0;
  bool tied = false;        ///< the token embedding is the output matrix too
  bool importance = false;  ///< an importance matrix is used
};
BW_API MixtureModel mixture_model(const io::GgufFile& file);

/// Whether a tensor is quantized at all: a matrix named *.weight which is no norm and no router of experts.
BW_API bool is_quantizable(std::string_view name, const Shape& shape);

/// The type that the mixture gives a quantizable tensor, whatever its rows (rows_fit). `pure`: the base type
/// for all.
BW_API const io::GgmlType& choose_type(const Mixture& mixture, const MixtureModel& model,
                                       std::string_view name, bool pure = false);

/// `type`, or where rows of `columns` are no whole blocks of it the one that stands in: q4_0 for q2_k and
/// q3_k, q5_0 for q4_k, q5_1 for q5_k, q8_0 for q6_k, and f16 for rows that are no multiple of 32 either.
BW_API const io::GgmlType& rows_fit(const io::GgmlType& type, int64_t columns);

}  // namespace beeswax::models
