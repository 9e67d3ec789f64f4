// SPDX-License-Identifier: Apache-2.0
// The model in the box: a small Llama model of ours inside the library, so that there is always something to
// run (models/README.md).
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "io/gguf.h"

namespace beeswax::models {

/// models/beeswax-box.gguf, as it was when the library was built.
BW_API std::shared_ptr<const io::GgufFile> open_box();

/// A question in the form that this model was trained on; its answer follows.
BW_API std::string box_question(std::string_view question);

}  // namespace beeswax::models
