# SPDX-License-Identifier: Apache-2.0
"""The Llama architecture in PyTorch, with the names and the layout of GGUF files, to train and to check against."""
import dataclasses

import torch
import torch.nn.functional as F
from torch import nn

import gguf
from vocabulary import BEGIN, END, UNKNOWN

TEMPLATE = ("{% for m in messages %}{% if m['role'] == 'user' %}"
            "{{ bos_token + 'Question: ' + m['content'] + '\\nAnswer:' }}{% elif m['role'] == 'assistant' %}{{ ' ' + m['content'] + eos_token }}{% endif %}{% endfor %}")
DESCRIPTION = ("A demonstration, trained by the Beeswax developers on text that a program of theirs writes: short stories, "
               "questions over a table of facts, small arithmetic.")


@dataclasses.dataclass
class Sizes:
    vocabulary: int = 2048
    width: int = 256
    layers: int = 8
    heads: int = 8
    kv_heads: int = 4
    feed: int = 768
    context: int = 512
    rope_base: float = 10000.0
    epsilon: float = 1e-5


def rope_table(sizes):
    """cos and sin [context, head / 2] of the angle of each neighbouring pair."""
    half = sizes.width // sizes.heads // 2
    speeds = sizes.rope_base ** -(torch.arange(half).double() / half)
    angles = torch.arange(sizes.context).double()[:, None] * speeds
    return angles.cos().float(), angles.sin().float()


def rotate(x, cos, sin):
    """x [batch, heads, tokens, head]: rotates the pairs (2i, 2i + 1)."""
    a, b = x.unflatten(-1, (-1, 2)).unbind(-1)
    return torch.stack((a * cos - b * sin, a * sin + b * cos), -1).flatten(-2).to(x.dtype)


class Layer(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        head = sizes.width // sizes.heads
        linear = lambda inputs, outputs: nn.Linear(inputs, outputs, bias=False)
        self.sizes = sizes
        self.attn_norm = nn.Parameter(torch.ones(sizes.width))
        self.ffn_norm = nn.Parameter(torch.ones(sizes.width))
        self.attn_q = linear(sizes.width, sizes.width)
        self.attn_k = linear(sizes.width, sizes.kv_heads * head)
        self.attn_v = linear(sizes.width, sizes.kv_heads * head)
        self.attn_output = linear(sizes.width, sizes.width)
        self.ffn_gate = linear(sizes.width, sizes.feed)
        self.ffn_up = linear(sizes.width, sizes.feed)
        self.ffn_down = linear(sizes.feed, sizes.width)

    def forward(self, x, cos, sin):
        s = self.sizes
        h = F.rms_norm(x, (s.width,), self.attn_norm, s.epsilon)
        q = self.attn_q(h).unflatten(-1, (s.heads, -1)).transpose(1, 2)
        k = self.attn_k(h).unflatten(-1, (s.kv_heads, -1)).transpose(1, 2)
        v = self.attn_v(h).unflatten(-1, (s.kv_heads, -1)).transpose(1, 2)
        q, k = rotate(q, cos, sin), rotate(k, cos, sin)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        x = x + self.attn_output(y.transpose(1, 2).flatten(-2))
        h = F.rms_norm(x, (s.width,), self.ffn_norm, s.epsilon)
        return x + self.ffn_down(F.silu(self.ffn_gate(h)) * self.ffn_up(h))


class Llama(nn.Module):
    """The embedding is the output matrix too."""

    def __init__(self, sizes):
        super().__init__()
        self.sizes = sizes
        self.token_embd = nn.Embedding(sizes.vocabulary, sizes.width)
        self.blk = nn.ModuleList(Layer(sizes) for _ in range(sizes.layers))
        self.output_norm = nn.Parameter(torch.ones(sizes.width))
        cos, sin = rope_table(sizes)
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)
        for name, weight in self.named_parameters():
            if weight.ndim == 2:
                narrow = name.endswith(("attn_output.weight", "ffn_down.weight"))
                nn.init.normal_(weight, std=0.02 / (2 * sizes.layers) ** 0.5 if narrow else 0.02)

    def forward(self, ids):
        """ids [batch, tokens] to logits [batch, tokens, vocabulary]."""
        x = self.token_embd(ids)
        cos, sin = self.cos[:ids.shape[1]], self.sin[:ids.shape[1]]
        for layer in self.blk:
            x = layer(x, cos, sin)
        x = F.rms_norm(x, (self.sizes.width,), self.output_norm, self.sizes.epsilon)
        return F.linear(x, self.token_embd.weight)


def _file_name(name):
    return name if name.endswith(".weight") else name + ".weight"


def save(path, model, vocabulary):
    """An f16 GGUF file that the command runs; norms stay in f32."""
    s = model.sizes
    metadata = {
        "general.architecture": (gguf.STRING, "llama"),
        "general.name": (gguf.STRING, "Beeswax Box"),
        "general.author": (gguf.STRING, "the Beeswax developers"),
        "general.license": (gguf.STRING, "apache-2.0"),
        "general.description": (gguf.STRING, DESCRIPTION),
        "llama.context_length": (gguf.U32, s.context),
        "llama.embedding_length": (gguf.U32, s.width),
        "llama.block_count": (gguf.U32, s.layers),
        "llama.feed_forward_length": (gguf.U32, s.feed),
        "llama.attention.head_count": (gguf.U32, s.heads),
        "llama.attention.head_count_kv": (gguf.U32, s.kv_heads),
        "llama.attention.layer_norm_rms_epsilon": (gguf.FLOAT, s.epsilon),
        "llama.rope.dimension_count": (gguf.U32, s.width // s.heads),
        "llama.rope.freq_base": (gguf.FLOAT, s.rope_base),
        "llama.vocab_size": (gguf.U32, s.vocabulary),
        "tokenizer.ggml.model": (gguf.STRING, "llama"),
        "tokenizer.ggml.tokens": (gguf.ARRAY, (gguf.STRING, vocabulary.pieces)),
        "tokenizer.ggml.scores": (gguf.ARRAY, (gguf.FLOAT, vocabulary.scores())),
        "tokenizer.ggml.token_type": (gguf.ARRAY, (gguf.I32, vocabulary.kinds())),
        "tokenizer.ggml.bos_token_id": (gguf.U32, BEGIN),
        "tokenizer.ggml.eos_token_id": (gguf.U32, END),
        "tokenizer.ggml.unknown_token_id": (gguf.U32, UNKNOWN),
        "tokenizer.ggml.add_bos_token": (gguf.BOOL, True),
        "tokenizer.ggml.add_space_prefix": (gguf.BOOL, True),
        "tokenizer.chat_template": (gguf.STRING, TEMPLATE),
    }
    tensors = {_file_name(name): (weight.half() if weight.ndim == 2 else weight.float()).detach().cpu().numpy()
               for name, weight in model.named_parameters()}
    gguf.write(path, metadata, tensors)


def load(path):
    """The model of a GGUF file in f32, its weights dequantized."""
    metadata, tensors = gguf.read(path)
    key = lambda name: metadata["llama." + name]
    sizes = Sizes(vocabulary=len(metadata["tokenizer.ggml.tokens"]), width=key("embedding_length"),
                  layers=key("block_count"), heads=key("attention.head_count"),
                  kv_heads=key("attention.head_count_kv"), feed=key("feed_forward_length"),
                  context=key("context_length"), rope_base=key("rope.freq_base"),
                  epsilon=key("attention.layer_norm_rms_epsilon"))
    model = Llama(sizes)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            weight.copy_(torch.from_numpy(tensors[_file_name(name)].copy()))
    return model


@torch.no_grad()
def continue_greedily(model, prompts, tokens):
    """For each list of ids, at most `tokens` likeliest ids behind it, without the end token."""
    device = model.cos.device
    rows = [list(prompt) for prompt in prompts]
    live = list(range(len(rows)))
    for _ in range(tokens):
        if not live:
            break
        width = max(len(rows[i]) for i in live)
        batch = torch.tensor([rows[i] + [END] * (width - len(rows[i])) for i in live], device=device)
        last = torch.tensor([len(rows[i]) - 1 for i in live], device=device)
        ids = model(batch)[torch.arange(len(live), device=device), last].argmax(-1).tolist()
        for i, value in zip(live, ids):
            rows[i].append(value)
        live = [i for i, value in zip(live, ids) if value != END]
    out = [row[len(prompt):] for row, prompt in zip(rows, prompts)]
    return [ids[:-1] if ids and ids[-1] == END else ids for ids in out]
