// SPDX-License-Identifier: Apache-2.0
// A model file with its matrices in another format.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "beeswax/qtensor_type.h"
#include "io/gguf.h"

namespace beeswax::models {

struct QuantizeFileOptions {
  QuantType type = QuantType::Q6_K;
  std::optional<QuantType> embedding = {};  ///< of token_embd.weight and output.weight; default: `type`
};

/// Writes `file` to `path` with every matrix quantized whose rows are whole blocks of its format; vectors and
/// other tensors stay as they are. Returns the names of the matrices that stayed. Unsupported for a matrix of
/// a type we do not compute with or in the other byte order, InvalidArgument where `path` is the file itself.
BW_API std::vector<std::string> quantize_file(const io::GgufFile& file, const std::string& path,
                                              const QuantizeFileOptions& options);

}  // namespace beeswax::models
