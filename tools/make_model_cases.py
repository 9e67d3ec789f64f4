#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tests/model/cases/*.json: small random models of every architecture and what PyTorch makes of them.

A case holds the metadata and tensors of a GGUF file, token ids, the logits at every position as transformers
computes them in f64, and two bounds. "bound" is twice the largest error of the same model in f32, or, for quantized
weights, of the f64 model with activations rounded to 8 bits as quantized products round them. "cache_bound" is twice
the largest error of that model with keys and values rounded to f16 as well. Values of tensors are not
stored: both sides make them from the tensor's name (see Stream; tests/support/random_model.h is the other side).
"folder" is the same model as transformers saves it: its config.json, what older versions say in place of
rope_parameters, and for each tensor of the folder the one of the file that has its values, and how: "same", "less 1",
reordered for so many heads, or one part of a stack.

usage: make_model_cases.py [NAME ...]      needs torch, transformers, safetensors, gguf (for dequantizing) and numpy
"""
import contextlib
import json
import math
import os
import re
import sys
import tempfile

import gguf
import numpy as np
import safetensors.torch
import torch
import transformers

OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "model", "cases")
VOCABULARY = 64
EPSILON = 1 / 512  # large enough to matter


# ---------------------------------------------------------------------------------------------- values of tensors
class Stream:
    """64-bit numbers by position, from a name: splitmix64 behind the FNV-1a hash of the name."""

    def __init__(self, name):
        self.base = 0xCBF29CE484222325
        for byte in name.encode():
            self.base = (self.base ^ byte) * 0x100000001B3 % 2**64

    def numbers(self, count):
        with np.errstate(over="ignore"):
            z = np.uint64(self.base) + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
            z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            return z ^ (z >> np.uint64(31))

    def uniform(self, count):
        """f32 in [-1, 1), multiples of 2^-23."""
        return (self.numbers(count) >> np.uint64(40)).astype(np.float32) / np.float32(2**23) - np.float32(1)


def dense_values(tensor):
    if "values" in tensor:
        return np.array(tensor["values"], np.float64).reshape(tensor["shape"])
    spread, shift = np.float32(tensor["spread"]), np.float32(tensor["shift"])
    x = (Stream(tensor["name"]).uniform(math.prod(tensor["shape"])) * spread + shift).reshape(tensor["shape"])
    kind = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}[tensor["type"]]
    return torch.from_numpy(x).to(kind).double().numpy()


# For each block format: a typical value of the scales (f16, by byte offset) that gives weights of about unit size.
HALVES = {"q4_0": {0: 1 / 4.6}, "q5_0": {0: 1 / 9.2}, "q8_0": {0: 1 / 74}, "q4_1": {0: 1 / 4.6, 2: -7.5 / 4.6},
          "q4_k": {0: 1 / 170, 2: 7.5 / 170}, "q5_k": {0: 1 / 340, 2: 15.5 / 340}, "q6_k": {208: 1 / 1360},
          "q2_k": {80: 1 / 13, 82: 1.5 / 13}, "q3_k": {108: 1 / 43}}


def quantized_values(tensor):
    kind = gguf.GGMLQuantizationType[tensor["type"].upper()]
    elements, size = gguf.GGML_QUANT_SIZES[kind]
    blocks = math.prod(tensor["shape"]) // elements
    data = (Stream(tensor["name"]).numbers(blocks * size) >> np.uint64(56)).astype(np.uint8).reshape(blocks, size)
    scales = Stream(tensor["name"] + "/scales").uniform(blocks)
    for offset, value in tensor["halves"]:
        halves = ((np.float32(1) + scales * np.float32(0.25)) * np.float32(value)).astype(np.float16)
        data[:, offset:offset + 2] = halves.view(np.uint8).reshape(blocks, 2)
    return gguf.dequantize(data.reshape(-1), kind).astype(np.float64).reshape(tensor["shape"])


def values_of(tensor):
    return quantized_values(tensor) if "halves" in tensor else dense_values(tensor)


# --------------------------------------------------------------------------------------------------------- tensors
class Tensors:
    """The tensors of a case; types are given by the part of the name that says what a tensor is for."""

    def __init__(self, types):
        self.types = types
        self.all = []

    def matrix(self, name, *shape, gain=1.0):
        kind = self.types.get(name.split(".")[-2], self.types.get("", "f32"))
        entry = {"name": name, "shape": list(shape), "type": kind}
        spread = gain / math.sqrt(shape[-1])  # keeps unit size
        if kind in ("f32", "f16", "bf16"):
            entry |= {"spread": float(np.float32(math.sqrt(3) * spread)), "shift": 0.0}
        else:
            entry["halves"] = [[offset, float(np.float32(value * spread))] for offset, value in HALVES[kind].items()]
        self.all.append(entry)

    def vector(self, name, size, spread=0.5, shift=1.0):
        self.all.append({"name": name, "shape": [size], "type": self.types.get("vectors", "f32"), "spread": spread, "shift": shift})


def tensors_of(case):
    c = case
    t = Tensors(c.get("types", {}))
    width, feed, size = c["width"], c["feed"], c["size"]
    all_heads, kv = c["heads"] * size, c["kv_heads"] * size
    t.matrix("token_embd.weight", VOCABULARY, width, gain=c.get("embedding_gain", math.sqrt(width)))
    if not c.get("tied"):
        t.matrix("output.weight", VOCABULARY, width)
    t.vector("output_norm.weight", width)
    for name, values in c.get("factors", {}).items():
        t.all.append({"name": name, "shape": [len(values)], "type": "f32", "values": values})
    for i in range(c["layers"]):
        p = f"blk.{i}."
        t.vector(p + "attn_norm.weight", width)
        t.vector(p + "ffn_norm.weight", width)
        if c.get("added_norms"):
            t.vector(p + "post_attention_norm.weight", width)
            t.vector(p + "post_ffw_norm.weight", width)
        if c.get("fused"):
            t.matrix(p + "attn_qkv.weight", all_heads + 2 * kv, width, gain=1.3)
        else:
            for name, rows in (("attn_q", all_heads), ("attn_k", kv), ("attn_v", kv)):
                t.matrix(p + name + ".weight", rows, width, gain=1.0 if name == "attn_v" else 1.5)
                if c.get("biases"):
                    t.vector(p + name + ".bias", rows, shift=0.0)
        if c.get("biases") == "all":
            for name, rows in (("attn_output", width), ("ffn_gate", feed), ("ffn_up", feed), ("ffn_down", width)):
                t.vector(p + name + ".bias", rows, shift=0.0)
        if c.get("head_norms"):
            t.vector(p + "attn_q_norm.weight", size)
            t.vector(p + "attn_k_norm.weight", size)
        t.matrix(p + "attn_output.weight", width, all_heads)
        if c.get("experts"):
            t.matrix(p + "ffn_gate_inp.weight", c["experts"], width, gain=2.0)
            for name, rows, columns in (("gate", feed, width), ("up", feed, width), ("down", width, feed)):
                if c.get("separate_experts"):
                    for e in range(c["experts"]):
                        t.matrix(p + f"ffn_{name}.{e}.weight", rows, columns)
                else:
                    t.matrix(p + f"ffn_{name}_exps.weight", c["experts"], rows, columns)
        elif c.get("fused"):
            t.matrix(p + "ffn_up.weight", 2 * feed, width)
            t.matrix(p + "ffn_down.weight", width, feed)
        else:
            t.matrix(p + "ffn_gate.weight", feed, width)
            t.matrix(p + "ffn_up.weight", feed, width)
            t.matrix(p + "ffn_down.weight", width, feed)
    return t.all


LAYER_NAMES = {"attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm",
               "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj",
               "attn_qkv": "self_attn.qkv_proj", "attn_output": "self_attn.o_proj",
               "attn_q_norm": "self_attn.q_norm", "attn_k_norm": "self_attn.k_norm",
               "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj",
               "ffn_gate_inp": "mlp.gate"}
ADDED_NORMS = {"ffn_norm": "pre_feedforward_layernorm", "post_attention_norm": "post_attention_layernorm",
               "post_ffw_norm": "post_feedforward_layernorm"}


def halves_from_neighbours(x, heads):
    """Rows of rotated pairs, in the order of a Llama file, in the order of transformers."""
    return x.reshape(heads, -1, 2, *x.shape[1:]).swapaxes(1, 2).reshape(x.shape)


def state_of(case, tensors):
    """The file's tensors under the names, and in the layouts, of transformers."""
    values = {t["name"]: values_of(t) for t in tensors}
    state = {"model.embed_tokens.weight": values["token_embd.weight"], "model.norm.weight": values["output_norm.weight"],
             "lm_head.weight": values.get("output.weight", values["token_embd.weight"])}
    names = LAYER_NAMES | (ADDED_NORMS if case.get("added_norms") else {})
    if case.get("fused"):
        names = names | {"ffn_up": "mlp.gate_up_proj"}
    for name, x in values.items():
        if not name.startswith("blk."):
            continue
        _, layer, part, *rest = name.split(".")
        if case["metadata"]["general.architecture"] == "llama" and part in ("attn_q", "attn_k"):
            x = halves_from_neighbours(x, case["heads" if part == "attn_q" else "kv_heads"])
        if part in names and len(rest) == 1:
            state[f"model.layers.{layer}.{names[part]}.{rest[0]}"] = x
    for i in range(case["layers"]):
        if not case.get("experts"):
            break
        p = f"blk.{i}.ffn_"
        gate, up, down = (np.stack([values[f"{p}{n}.{e}.weight"] for e in range(case["experts"])])
                          if case.get("separate_experts") else values[f"{p}{n}_exps.weight"] for n in ("gate", "up", "down"))
        state[f"model.layers.{i}.mlp.experts.gate_up_proj"] = np.concatenate([gate, up], 1)
        state[f"model.layers.{i}.mlp.experts.down_proj"] = down
    if case["config"].get("hidden_activation"):  # Gemma's norms multiply by 1 + w; files hold that
        state = {name: x - 1 if name.endswith("norm.weight") else x for name, x in state.items()}
    return {name: torch.from_numpy(np.ascontiguousarray(x)) for name, x in state.items()}


# ------------------------------------------------------------------------------------------------------- reference
@contextlib.contextmanager
def everything_in_f64():
    """The models widen to f32 by name in norms, softmax and rotary positions; in here those names mean f64."""
    single, saved = torch.float32, torch.Tensor.float
    torch.float32 = torch.float = torch.float64
    torch.Tensor.float = torch.Tensor.double
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.float32 = torch.float = single
        torch.Tensor.float = saved
        torch.set_default_dtype(single)


@contextlib.contextmanager
def eight_bit_activations(block, skipped_rows):
    """Inputs of all products, except of those with so many rows, rounded in blocks as a quantized product does."""
    saved = torch.nn.functional.linear

    def rounded(x, weight, bias=None):
        if weight.shape[0] == skipped_rows:
            return saved(x, weight, bias)
        parts = x.reshape(*x.shape[:-1], -1, block)
        step = (parts.abs().amax(-1, keepdim=True) / 127).clamp_min(1e-30)
        return saved(((parts / step).round() * step).reshape(x.shape), weight, bias)

    torch.nn.functional.linear = rounded
    try:
        yield
    finally:
        torch.nn.functional.linear = saved


@contextlib.contextmanager
def half_cache(model_class):
    """Keys and values rounded to f16 where attention takes them up."""
    module = sys.modules[model_class.__module__]
    saved = module.repeat_kv
    half = torch.float16
    module.repeat_kv = lambda x, times: saved(x.to(half).to(x.dtype), times)
    try:
        yield
    finally:
        module.repeat_kv = saved


def model_of(case, tensors, dtype):
    config = case["class"].config_class(
        vocab_size=VOCABULARY, hidden_size=case["width"], num_hidden_layers=case["layers"],
        num_attention_heads=case["heads"], num_key_value_heads=case["kv_heads"], head_dim=case["size"],
        tie_word_embeddings=bool(case.get("tied")), rms_norm_eps=EPSILON, pad_token_id=None, bos_token_id=None, eos_token_id=None,
        **({"num_local_experts": case["experts"], "num_experts_per_tok": case["used"]}
           if case.get("experts") and not case.get("moe_feed") else {}),
        **({"moe_intermediate_size": case["feed"]} if case.get("moe_feed") else {"intermediate_size": case["feed"]}),
        **case["config"])
    config._attn_implementation = "eager"
    config._experts_implementation = "eager"
    model = case["class"](config).eval().to(dtype)
    state = state_of(case, tensors)
    missing, unexpected = model.load_state_dict({n: x.to(dtype) for n, x in state.items()}, strict=False)
    if missing or unexpected:
        sys.exit(f"{case['name']}: missing {missing}, unexpected {unexpected}")
    return model


def run(case, tensors, ids, dtype):
    model = model_of(case, tensors, dtype)
    seen = set()
    for module in model.modules():
        module.register_forward_hook(lambda m, i, o: seen.add(o.dtype) if torch.is_tensor(o) else None)
    with torch.no_grad():
        logits = model(torch.tensor([ids]), use_cache=False).logits[0]
    if seen != {dtype} or any(b.dtype.is_floating_point and b.dtype != dtype for b in model.buffers()):
        sys.exit(f"{case['name']}: computed in {seen}, not in {dtype}")
    return logits.double().numpy()


# --------------------------------------------------------------------------------------------------------- folders
def origins(case, tensors):
    """{bytes in f32: (name in the file, how it becomes a folder's tensor)}, for whatever a folder may hold."""
    found = {}
    for tensor in tensors:
        x = values_of(tensor).astype(np.float32)
        ways = {"same": x}
        if x.ndim == 1:
            ways["less 1"] = x - np.float32(1)
        for key in ("heads", "kv_heads"):
            if x.ndim <= 2 and x.shape[0] % (2 * case[key]) == 0:
                ways[key] = halves_from_neighbours(x, case[key])
        for way, value in ways.items():
            found.setdefault(value.tobytes(), (tensor["name"], way))
        for part in x if x.ndim == 3 else ():
            found.setdefault(part.tobytes(), (tensor["name"], "part"))
    return found


def pattern_of(name):
    return re.sub(r"(?<=\.)\d+(?=\.)", "{}", name)


def old_rope(config):
    """The keys that version 4 of transformers has in place of rope_parameters."""
    new = config["rope_parameters"]
    full = dict(new.get("full_attention", new))
    old = {"rope_theta": full.pop("rope_theta")}
    if "sliding_attention" in new:
        old["rope_local_base_freq"] = new["sliding_attention"]["rope_theta"]
    if "partial_rotary_factor" in full:
        old["partial_rotary_factor"] = full.pop("partial_rotary_factor")
    if config["model_type"] == "phi3":
        full.pop("original_max_position_embeddings", None)
    kind = full.pop("rope_type")
    old["rope_scaling"] = None if kind == "default" else {("rope_type" if kind == "llama3" or "sliding_attention" in new else "type"): kind, **full}
    return old


def folder_of(case, tensors):
    """What transformers writes for the model: config.json, and for each tensor where its values come from."""
    model = model_of(case, tensors, torch.float32)
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        with open(os.path.join(folder, "config.json"), encoding="utf-8") as file:
            config = json.load(file)
        saved = safetensors.torch.load_file(os.path.join(folder, "model.safetensors"))
    known, names, used = origins(case, tensors), {}, set()
    for name, x in saved.items():
        origin, way = known[x.numpy().tobytes()]
        used.add(origin)
        if names.setdefault(pattern_of(name), [pattern_of(origin), way]) != [pattern_of(origin), way]:
            sys.exit(f"{case['name']}: {name} is made of {origin} ({way}), unlike that of another layer")
    if {t["name"] for t in tensors} - used - set(case.get("factors", {})):
        sys.exit(f"{case['name']}: the folder does not hold everything")
    old = {k: v for k, v in config.items() if k != "rope_parameters"} | old_rope(config)
    again = case["class"].config_class.from_dict(old).to_dict()["rope_parameters"]
    if {k: v for k, v in again.items() if k != "type"} != config["rope_parameters"]:
        sys.exit(f"{case['name']}: {again} is not {config['rope_parameters']}")
    return {"config": config, "old_rope": old_rope(config), "names": names}


def make(case):
    tensors = tensors_of(case)
    ids = [int(n % VOCABULARY) for n in Stream(case["name"]).numbers(case["tokens"])]
    with everything_in_f64():
        logits = run(case, tensors, ids, torch.float64)
    block = case.get("activation_block")
    rounding = eight_bit_activations(block, case.get("experts")) if block else contextlib.nullcontext()
    dtype, context = (torch.float64, everything_in_f64()) if block else (torch.float32, contextlib.nullcontext())
    with context, rounding:
        error = float(np.abs(run(case, tensors, ids, dtype) - logits).max())
        with half_cache(case["class"]):
            cache_error = float(np.abs(run(case, tensors, ids, dtype) - logits).max())
    order = np.sqrt((logits**2).mean())
    print(f"{case['name']:24} logits of size {order:.2f}, error of PyTorch {error:.2e}, with an f16 cache {cache_error:.2e}")
    metadata = {**case["metadata"], **sizes_of(case)}
    out = {"metadata": metadata, "context": case.get("context", case["tokens"]), "bound": 2 * error, "cache_bound": 2 * cache_error,
           "ids": ids}
    folder = None if block else folder_of(case, tensors)
    with open(os.path.join(OUT, case["name"] + ".json"), "w", encoding="utf-8") as file:
        file.write(json.dumps(out)[:-1])
        if folder:
            file.write(',\n"folder": ' + json.dumps(folder))
        file.write(',\n"tensors": [\n' + ",\n".join(json.dumps(t) for t in tensors) + "]")
        rows = ",\n".join("[" + ",".join(f"{x:.10g}" for x in row) + "]" for row in logits)
        file.write(',\n"logits": [\n' + rows + "]}\n")


def sizes_of(case):
    a = case["metadata"]["general.architecture"]
    sizes = {"block_count": case["layers"], "embedding_length": case["width"], "attention.head_count": case["heads"],
             "attention.head_count_kv": case["kv_heads"], "attention.key_length": case["size"],
             "attention.value_length": case["size"], "feed_forward_length": case["feed"],
             "context_length": case.get("trained", 128),
             "attention.layer_norm_rms_epsilon": EPSILON}
    if case.get("experts"):
        sizes |= {"expert_count": case["experts"], "expert_used_count": case["used"]}
    if case.get("moe_feed"):
        sizes |= {"expert_feed_forward_length": case["feed"], "feed_forward_length": 4 * case["feed"]}
    return {f"{a}.{key}": value for key, value in sizes.items()}


# ----------------------------------------------------------------------------------------------------------- cases
def case(name, model_class, architecture, metadata=(), config=(), **rest):
    metadata = {"general.architecture": architecture} | {f"{architecture}.{k}": v for k, v in dict(metadata).items()}
    default = {"width": 64, "heads": 4, "kv_heads": 2, "size": 16, "feed": 96, "layers": 3, "tokens": 24}
    return {"name": name, "class": model_class, "metadata": metadata, "config": dict(config), **default, **rest}


def rope(base, kind="default", **scaling):
    return {"rope_parameters": {"rope_type": kind, "rope_theta": base, **scaling}}


def llama3_factors(config, size):
    """The factors that a converter writes for these parameters, from the reference's own frequencies."""
    with everything_in_f64():
        config = transformers.LlamaConfig(hidden_size=4 * size, num_attention_heads=4, **config)
        scaled, _ = transformers.modeling_rope_utils.ROPE_INIT_FUNCTIONS["llama3"](config, "cpu")
    plain = config.rope_parameters["rope_theta"] ** (-np.arange(0, size, 2) / size)
    return [float(np.float32(f)) for f in plain / scaled.numpy()]


def llama_cases():
    model = transformers.LlamaForCausalLM
    yield case("llama", model, "llama", {"rope.freq_base": 1e4, "rope.dimension_count": 16}, rope(1e4))
    yield case("llama_tied_f16", model, "llama", {}, rope(1e4), tied=True, types={"": "f16", "ffn_down": "bf16"})
    for kind in ("f16", "bf16"):
        yield case(f"llama_all_{kind}", model, "llama", {}, rope(1e4), types={"": kind, "vectors": kind}, layers=2)
    yield case("llama_biases", model, "llama", {}, {"attention_bias": True, "mlp_bias": True, **rope(1e4)}, biases="all")
    yield case("llama_wide_heads", model, "llama", {}, rope(1e4), size=32, kv_heads=1)
    yield case("llama_linear", model, "llama", {"rope.scaling.type": "linear", "rope.scaling.factor": 4.0},
               rope(1e4, "linear", factor=4.0))
    yield case("llama_linear_old_key", model, "llama", {"rope.scale_linear": 2.0}, rope(1e4, "linear", factor=2.0))
    stretched = rope(1e4, "llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
                     original_max_position_embeddings=32)
    yield case("llama3", model, "llama", {}, stretched, tokens=40, feed=64,
               factors={"rope_freqs.weight": llama3_factors(stretched, 16)})
    yield case("mistral", transformers.MistralForCausalLM, "llama", {"attention.sliding_window": 7},
               {"sliding_window": 7, **rope(1e4)})
    yield case("mixtral", transformers.MixtralForCausalLM, "llama", {"rope.freq_base": 1e6}, rope(1e6),
               experts=6, used=2, feed=48)
    yield case("mixtral_separate", transformers.MixtralForCausalLM, "llama", {}, rope(1e4), experts=4, used=3,
               feed=32, layers=2, separate_experts=True)


def qwen_cases():
    yield case("qwen2", transformers.Qwen2ForCausalLM, "qwen2", {"rope.freq_base": 1e6}, rope(1e6), biases=True)
    yield case("qwen2_yarn", transformers.Qwen2ForCausalLM, "qwen2",
               {"rope.freq_base": 1e4, "rope.scaling.type": "yarn", "rope.scaling.factor": 4.0,
                "rope.scaling.original_context_length": 32},
               rope(1e4, "yarn", factor=4.0, original_max_position_embeddings=32), biases=True, tokens=40, feed=64)
    yield case("qwen3", transformers.Qwen3ForCausalLM, "qwen3", {"rope.freq_base": 1e6}, rope(1e6),
               head_norms=True, size=32, tied=True)
    for name, normalize in (("qwen3moe", True), ("qwen3moe_plain", False)):
        metadata = {"rope.freq_base": 1e6} | ({} if normalize else {"expert_weights_norm": False})
        yield case(name, transformers.Qwen3MoeForCausalLM, "qwen3moe", metadata,
                   {"num_experts": 8, "num_experts_per_tok": 3, "norm_topk_prob": normalize, "decoder_sparse_step": 1,
                    "mlp_only_layers": [], "intermediate_size": 256, **rope(1e6)},
                   head_norms=True, experts=8, used=3, feed=32, moe_feed=True)


def phi_cases():
    model = transformers.Phi3ForCausalLM
    yield case("phi3", model, "phi3", {"rope.dimension_count": 16, "attention.sliding_window": 9},
               {"sliding_window": 9, **rope(1e4)}, fused=True)
    magnitude = float(np.float32(1.19))
    for name, partly, context, trained in (("phi3_short", 16, 24, 32), ("phi3_long", 16, 40, 32), ("phi4_long", 12, 40, 32)):
        short = [1 + i / 16 for i in range(partly // 2)]
        long = [1.5 + 2 * i for i in range(partly // 2)]
        parameters = rope(1e4, "longrope", short_factor=short, long_factor=long, attention_factor=magnitude,
                          original_max_position_embeddings=trained, partial_rotary_factor=partly / 16)
        yield case(name, model, "phi3",
                   {"rope.dimension_count": partly, "attention.sliding_window": 0, "rope.scaling.attn_factor": magnitude,
                    "rope.scaling.original_context_length": trained} |
                   ({"rope.scaling.type": "longrope"} if partly < 16 else {}),
                   {"max_position_embeddings": 128, "original_max_position_embeddings": trained, **parameters},
                   fused=True, tokens=context, feed=64,
                   factors={"rope_factors_short.weight": short, "rope_factors_long.weight": long})


def gemma_cases():
    gemma = {"added_norms": True, "tied": True, "embedding_gain": 1.0}
    activation = {"hidden_activation": "gelu_pytorch_tanh"}
    gemma2 = {"attn_logit_softcapping": 50.0, "final_logit_softcapping": 30.0, "sliding_window": 7, **activation}
    yield case("gemma2", transformers.Gemma2ForCausalLM, "gemma2",
               {"attn_logit_softcapping": 3.0, "final_logit_softcapping": 2.0, "attention.sliding_window": 7},
               {**gemma2, "query_pre_attn_scalar": 16, **rope(1e4), "attn_logit_softcapping": 3.0,
                "final_logit_softcapping": 2.0}, **gemma)
    yield case("gemma2_27b", transformers.Gemma2ForCausalLM, "gemma2", {"attention.sliding_window": 7},
               {**gemma2, "query_pre_attn_scalar": 8, **rope(1e4)}, width=32, feed=32, layers=46, tokens=12, **gemma)
    for name, sizes, scalar, pattern in (("gemma3", {"layers": 7}, 16, {}),
                                         ("gemma3_pattern", {"layers": 4}, 16, {"attention.sliding_window_pattern": 2}),
                                         ("gemma3_27b", {"layers": 62, "width": 32, "tokens": 12}, 8, {})):
        period = pattern.get("attention.sliding_window_pattern", 6)
        kinds = ["full_attention" if i % period == period - 1 else "sliding_attention" for i in range(sizes["layers"])]
        yield case(name, transformers.Gemma3ForCausalLM, "gemma3",
                   {"rope.freq_base": 1e6, "rope.scaling.type": "linear", "rope.scaling.factor": 8.0,
                    "attention.sliding_window": 7} | pattern,
                   {"query_pre_attn_scalar": scalar, "sliding_window": 7, "layer_types": kinds, **activation,
                    "rope_parameters": {"sliding_attention": {"rope_type": "default", "rope_theta": 1e4},
                                        "full_attention": {"rope_type": "linear", "rope_theta": 1e6, "factor": 8.0}}},
                   feed=32, head_norms=True, **sizes, **gemma)


def quantized_cases():
    """Type mixes as files have them. Widths are multiples of the blocks, and activations are rounded in blocks."""
    wide = {"width": 256, "heads": 4, "kv_heads": 2, "size": 64, "feed": 256, "layers": 2, "tokens": 16}
    k_mix = {"": "q4_k", "attn_v": "q6_k", "ffn_down": "q6_k", "output": "q6_k"}
    yield case("llama_q4_k_m", transformers.LlamaForCausalLM, "llama", {}, rope(1e4), types=k_mix, activation_block=256, **wide)
    yield case("llama_q2_k", transformers.LlamaForCausalLM, "llama", {}, rope(1e4), activation_block=256, tied=True, embedding_gain=1.0,
               types={"": "q2_k", "attn_v": "q3_k", "attn_output": "q3_k", "token_embd": "q6_k"}, **wide)
    narrow = {**wide, "width": 64, "size": 16, "feed": 96}
    yield case("qwen2_q5_0", transformers.Qwen2ForCausalLM, "qwen2", {}, rope(1e4), biases=True, activation_block=32,
               types={"": "q5_0", "token_embd": "q8_0", "output": "q8_0", "attn_v": "q4_1"}, **narrow)
    yield case("phi3_q5_k", transformers.Phi3ForCausalLM, "phi3", {}, {"sliding_window": None, **rope(1e4)}, fused=True,
               activation_block=256, types={"": "q5_k", "output": "q6_k"}, **wide)
    yield case("mixtral_q4_0", transformers.MixtralForCausalLM, "llama", {}, rope(1e4), experts=4, used=2,
               activation_block=32, types={"": "q4_0", "output": "q8_0", "ffn_gate_inp": "f32"}, **narrow)


def cases():
    for group in (llama_cases, qwen_cases, phi_cases, gemma_cases, quantized_cases):
        yield from group()


def main():
    os.makedirs(OUT, exist_ok=True)
    wanted = sys.argv[1:]
    for one in cases():
        if not wanted or one["name"] in wanted:
            make(one)


if __name__ == "__main__":
    main()
