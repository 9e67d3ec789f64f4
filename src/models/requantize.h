// SPDX-License-Identifier: Apache-2.0
// A model, out of a GGUF file or a Hugging Face folder, as a GGUF file with its matrices in other types,
// after a mixture.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "io/gguf.h"
#include "io/imatrix.h"
#include "models/hf_folder.h"
#include "models/mixture.h"

namespace beeswax::models {

struct RequantizeOptions {
  const Mixture* mixture = nullptr;
  bool pure = false;                        ///< the mixture's base type for all matrices
  const io::GgmlType* embedding = nullptr;  ///< of the token embedding and the output, in place of the choice
  const io::Imatrix* importance = nullptr;
  bool from_blocks = false;                ///< matrices that are quantized already may be quantized again
  const HfTokenizer* tokenizer = nullptr;  ///< of a folder, to go into the file
};

/// One tensor of the new file.
struct RequantizedTensor {
  std::string_view name;
  Shape shape;
  const io::GgmlType* before = nullptr;
  const io::GgmlType* after = nullptr;
  const io::GgmlType* wanted = nullptr;  ///< other than `after` where the rows do not fit it
  bool weighted = false;                 ///< an importance matrix went into it
  uint64_t bytes_before = 0, bytes_after = 0;
};

/// What requantize would do, in the order of the file, without reading the matrices. Unsupported for types
/// that we do not compute with, for blocks in the other byte order, and without `from_blocks` for
/// matrices that are quantized already; Format for an importance matrix of another model.
BW_API std::vector<RequantizedTensor> plan_requantize(const io::GgufFile& in,
                                                      const RequantizeOptions& options);

/// Called as the work goes on, with the elements of tensor `index` that are done. What it throws ends the
/// work and leaves no file.
using OnRequantized = std::function<void(size_t index, int64_t elements)>;

/// Writes the file of a plan to `path`, in this machine's byte order; it appears there once it is whole,
/// metadata is carried over, and the parts of a split file become one. Of a folder, vectors become f32, and
/// rows come in the order of GGUF files. InvalidArgument where `path` is a file that is read. Format where a
/// matrix holds a NaN or an infinity, or numbers too large for its new type.
BW_API void requantize(const io::GgufFile& in, const std::string& path, const RequantizeOptions& options,
                       const std::vector<RequantizedTensor>& plan, const OnRequantized& on_done = {});

}  // namespace beeswax::models
