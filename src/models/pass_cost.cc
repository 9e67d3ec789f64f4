// SPDX-License-Identifier: Apache-2.0
#include "models/pass_cost.h"

#include <algorithm>
#include <string>

#include "models/metadata.h"
#include "models/wider_blocks.h"

namespace beeswax::models {

PassCost pass_cost(const io::GgufFile& file, int64_t tokens) {
  const Metadata metadata(file);
  const std::string last = "blk." + std::to_string(metadata.size("block_count") - 1) + ".";
  const auto read_count = [&](const char* key) {
    return static_cast<double>(metadata.has(key) ? std::max<int64_t>(1, file.get_int(metadata.name_of(key)))
                                                 : 1);
  };
  const double experts = read_count("expert_count"), used = read_count("expert_used_count");
  const bool tied = file.find_tensor("output.weight") == nullptr;
  PassCost cost;
  for (const io::GgufTensor& tensor : file.tensors()) {
    if (tensor.shape.rank() < 2) continue;
    const bool embedding = tensor.name == "token_embd.weight";
    if (embedding && !tied) continue;
    // All but keys and values, which all tokens have.
    const bool serves_last =
        tensor.name.starts_with(last) &&
        (tensor.name.substr(last.size()).starts_with("ffn_") || tensor.name.ends_with("attn_output.weight") ||
         tensor.name.ends_with("attn_q.weight"));
    const bool once = embedding || tensor.name == "output.weight" || serves_last;
    const double times = once ? 1 : static_cast<double>(tokens);
    // A stack, or in old files one matrix for each: each token goes to its share.
    const bool expert = tensor.name.find("_exps.") != std::string_view::npos ||
                        (experts > 1 && tensor.name.find("ffn_") != std::string_view::npos &&
                         tensor.name.find("ffn_gate_inp") == std::string_view::npos);
    const double share = expert ? used / experts : 1;
    cost.bytes += static_cast<double>(computed_bytes(tensor)) * std::min(1.0, share * times);
    (tensor.type->in_blocks() ? cost.quantized_macs : cost.dense_macs) +=
        static_cast<double>(tensor.shape.elem_count()) * share * times;
  }
  return cost;
}

}  // namespace beeswax::models
