// SPDX-License-Identifier: Apache-2.0
#include "models/box.h"

#include <span>

#include "core/embed.h"

BW_EMBED(bw_box, BW_BOX_FILE)

namespace beeswax::models {

std::shared_ptr<const io::GgufFile> open_box() {
  // The program keeps these bytes: an owner that frees nothing.
  const std::shared_ptr<const void> owner(std::shared_ptr<const void>(), bw_box_begin);
  return io::GgufFile::from_bytes({bw_box_begin, bw_box_end}, "the model in the box", owner);
}

std::string box_question(std::string_view question) {
  return "Question: " + std::string(question) + "\nAnswer:";
}

}  // namespace beeswax::models
