# SPDX-License-Identifier: Apache-2.0
"""beeswax inspect and beeswax run on a Hugging Face folder: what they show, and what they say to mistakes."""
import json
import os
import struct
import subprocess
import sys
import tempfile
import unittest

BEESWAX = sys.argv.pop(1)
CONFIG = {"model_type": "llama", "hidden_size": 8, "intermediate_size": 12, "num_hidden_layers": 1, "num_attention_heads": 2,
          "num_key_value_heads": 1, "rms_norm_eps": 1e-5, "vocab_size": 16, "tie_word_embeddings": True, "hidden_act": "silu",
          "max_position_embeddings": 32, "eos_token_id": 2}
LAYER = {"input_layernorm": [8], "post_attention_layernorm": [8], "self_attn.q_proj": [8, 8], "self_attn.k_proj": [4, 8],
         "self_attn.v_proj": [4, 8], "self_attn.o_proj": [8, 8], "mlp.gate_proj": [12, 8], "mlp.up_proj": [12, 8],
         "mlp.down_proj": [8, 12]}
TENSORS = {"model.embed_tokens.weight": [16, 8], "model.norm.weight": [8],
           **{f"model.layers.0.{name}.weight": shape for name, shape in LAYER.items()}}


def run(*arguments):
    return subprocess.run([BEESWAX, *arguments], capture_output=True, text=True, check=False)


def write_safetensors(path, shapes, element=b"\0\0"):
    """bf16 tensors {name: shape}, all of one number, zero by default."""
    header, data = {}, 0
    for name, shape in shapes.items():
        size = 2
        for axis in shape:
            size *= axis
        header[name] = {"dtype": "BF16", "shape": shape, "data_offsets": [data, data + size]}
        data += size
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + element * (data // 2))


class Folders(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = os.path.join(self.temporary.name, "tiny")
        os.mkdir(self.folder)
        self.write_config()
        self.write_tensors(TENSORS)

    def tearDown(self):
        self.temporary.cleanup()

    def write_tensors(self, shapes):
        write_safetensors(os.path.join(self.folder, "model.safetensors"), shapes)

    def write_config(self, **changes):
        with open(os.path.join(self.folder, "config.json"), "w", encoding="utf-8") as file:
            json.dump(CONFIG | changes, file)

    def test_inspect(self):
        seen = json.loads(run("inspect", self.folder, "--json").stdout)
        self.assertTrue(seen["folder"])
        self.assertEqual(seen["file"], self.folder)
        self.assertEqual(seen["metadata"]["general.name"]["value"], "tiny")
        self.assertEqual(seen["metadata"]["llama.context_length"]["value"], 32)
        self.assertEqual({t["name"]: t["shape"] for t in seen["tensors"]}["blk.0.ffn_down.weight"], [8, 12])
        self.assertEqual({t["type"] for t in seen["tensors"]}, {"bf16"})
        text = run("inspect", self.folder).stdout
        self.assertIn("tiny: Hugging Face folder, ", text)
        self.assertIn("11 tensors", text)

    def test_mistakes(self):
        def refused(status, message):  # statuses: tables/errors.def
            for command in (["inspect", self.folder], ["run", self.folder, "-p", "a"]):
                done = run(*command)
                self.assertEqual(done.returncode, status, done.stderr)
                self.assertIn(message, done.stderr)

        self.write_config(quantization_config={"bits": 4})
        refused(3, "'quantization_config': {\"bits\": 4}")
        self.write_config(model_type="mamba")
        refused(3, "'model_type' is \"mamba\"; known are: llama mistral")
        os.remove(os.path.join(self.folder, "config.json"))
        refused(6, "config.json")

    def write_tokenizer(self, tokens, added=()):
        level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
        model = {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
                 "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "ignore_merges": False,
                 "vocab": {token: i for i, token in enumerate(tokens)}, "merges": []}
        with open(os.path.join(self.folder, "tokenizer.json"), "w", encoding="utf-8") as file:
            json.dump({"version": "1.0", "truncation": None, "padding": None, "added_tokens": list(added), "normalizer": None,
                       "pre_tokenizer": level, "post_processor": None, "decoder": level, "model": model}, file)

    def test_run(self):
        # All logits are 0, so token 0 is always the likeliest; it ends the text where a file says so.
        self.write_tokenizer("abcdefghijklmnop")
        command = ["run", self.folder, "-p", "bad", "-n", "3", "--temp", "0", "--json"]
        out = json.loads(run(*command).stdout)
        self.assertEqual((out["text"], out["prompt_tokens"], out["stop_reason"]), ("aaa", 3, "length"))
        self.write_config(eos_token_id=[2, 0])
        self.assertEqual(json.loads(run(*command).stdout)["stop_reason"], "end_token")
        with open(os.path.join(self.folder, "generation_config.json"), "w", encoding="utf-8") as file:
            json.dump({"eos_token_id": 3}, file)
        self.assertEqual(json.loads(run(*command).stdout)["stop_reason"], "length")
        self.assertTrue(json.loads(run("inspect", self.folder, "--json").stdout)["runs"])

    def test_what_is_wrong_with_the_files_is_no_wrong_argument(self):
        self.write_tokenizer("abcdefghijklmnop")
        self.write_config(bos_token_id=99, eos_token_id=[98, 97], pad_token_id=99)
        command = ["run", self.folder, "-p", "bad", "-n", "3"]
        self.assertEqual(run(*command).returncode, 0)  # roles of no token of a text
        path = os.path.join(self.folder, "tokenizer.json")
        with open(path, encoding="utf-8") as file:
            tokenizer = json.load(file)
        with open(path, "w", encoding="utf-8") as file:
            json.dump({**tokenizer, "post_processor": {"type": "BertProcessing", "cls": ["?", 99], "sep": ["a", 0]}}, file)
        done = run(*command)
        self.assertEqual(done.returncode, 7, done.stderr)
        self.assertIn("the bos token is 99, but there are 16 tokens", done.stderr)
        self.write_tokenizer("abcdefghijklmnop")
        self.write_config()
        write_safetensors(os.path.join(self.folder, "model.safetensors"), TENSORS, element=b"\xc0\x7f")  # NaN
        done = run(*command)
        self.assertEqual(done.returncode, 7, done.stderr)
        self.assertIn("all logits are NaN: the model's weights hold NaN", done.stderr)

    def commands_with(self, model):
        out = os.path.join(self.temporary.name, "out.gguf")
        return ["run", model, "-p", "a"], ["inspect", model], ["quantize", model, out, "--type", "f16"], ["bench", "model", model]

    def test_a_part_of_a_folder_is_no_model(self):
        for name in ("model.safetensors", "config.json"):
            for command in self.commands_with(os.path.join(self.folder, name)):
                done = run(*command)
                self.assertEqual(done.returncode, 7, command)
                self.assertIn(f"{name} is not a GGUF file; if it belongs to a Hugging Face folder, give the folder: "
                              f"{self.folder}\n", done.stderr)
        done = subprocess.run([BEESWAX, "inspect", "model.safetensors"], cwd=self.folder, capture_output=True, text=True,
                              check=False)
        self.assertIn("give the folder: .\n", done.stderr)

    def test_a_folder_around_a_file_is_no_model(self):
        around = os.path.join(self.temporary.name, "around")
        os.mkdir(around)
        done = run("inspect", around)
        self.assertEqual((done.returncode, "config.json: No such file" in done.stderr), (6, True), done.stderr)
        first, second = (os.path.join(around, f"m-0000{number}-of-00002.gguf") for number in (1, 2))
        for file, said in ((second, f"give the GGUF file in it: {second}\n"),
                           (first, f"give one of the GGUF files in it: {first}, ")):
            with open(file, "wb"):
                pass
            for command in self.commands_with(around):
                done = run(*command)
                self.assertEqual(done.returncode, 6, command)
                self.assertIn("around has no config.json, so it is not a Hugging Face folder; " + said, done.stderr)

    def test_what_is_not_read_is_named(self):
        self.write_tokenizer("abcdefghijklmnop")
        for kept, instead in (("tokenizer.json", "tokenizer.model"), ("model.safetensors", "pytorch_model.bin")):
            os.rename(os.path.join(self.folder, kept), os.path.join(self.folder, instead))
            done = run("run", self.folder, "-p", "a")
            self.assertEqual(done.returncode, 6, done.stderr)
            self.assertIn(f"has {instead}, which is not read, and no {kept}",
                          done.stderr)
            os.rename(os.path.join(self.folder, instead), os.path.join(self.folder, kept))

    def test_only_tokens_are_drawn(self):
        self.write_config(eos_token_id=None)
        self.write_tokenizer("abdefgh")  # of 16 rows, all equally likely
        out = json.loads(run("run", self.folder, "-p", "bad", "-n", "30", "--temp", "1", "--top-k", "0", "--top-p", "1",
                             "--min-p", "0", "--seed", "3", "--json").stdout)
        self.assertGreater(len(set(out["ids"])), 3)
        self.assertTrue(all(0 <= token < 7 for token in out["ids"]))

    def test_control_tokens_need_no_row(self):
        self.write_tokenizer("abcdefghijklmnop", added=[{"id": 16, "content": "<image>", "special": True}])
        command = ["run", self.folder, "-p", "a<image>", "-n", "3", "--temp", "0"]
        self.assertEqual(run(*command).stdout, "aaa")
        done = run(*command, "--special")
        self.assertEqual(done.returncode, 2)
        self.assertIn("there is no token 16; ids go from 0 to 15", done.stderr)

    def test_quantize(self):
        out = os.path.join(self.temporary.name, "out.gguf")
        done = run("quantize", self.folder, out, "--type", "q8_0")
        self.assertEqual(done.returncode, 6)
        self.assertIn("tokenizer.json", done.stderr)
        self.write_tokenizer("abcdefghijklmnop")
        self.write_tensors({**TENSORS, "model.norm.weight": []})
        self.assertEqual(run("quantize", self.folder, out, "--type", "q8_0").returncode, 0)
        seen = json.loads(run("inspect", out, "--json").stdout)
        self.assertEqual({t["name"]: (t["shape"], t["bytes"]) for t in seen["tensors"]}["output_norm.weight"], ([], 4))
        self.write_tensors(TENSORS)
        self.write_config(eos_token_id=[2, 3, 1])
        for source in ("model.safetensors", "config.json"):
            done = run("quantize", self.folder, os.path.join(self.folder, source), "--type", "q8_0")
            self.assertEqual(done.returncode, 2)
            self.assertIn("is the file that is read", done.stderr)
        done = run("quantize", self.folder, out, "--type", "f16")
        self.assertEqual(done.returncode, 0, done.stderr)
        seen = json.loads(run("inspect", out, "--json").stdout)
        self.assertTrue(seen["runs"], seen["reason"])
        types = {t["name"]: t["type"] for t in seen["tensors"]}
        self.assertEqual((types["output_norm.weight"], types["blk.0.attn_q.weight"]), ("f32", "f16"))
        self.assertEqual(seen["metadata"]["tokenizer.huggingface.stop_token_ids"]["value"], [2, 3, 1])
        command = ["-p", "bad", "-n", "3", "--temp", "0", "--json"]
        for model in (self.folder, out):
            result = json.loads(run("run", model, *command).stdout)
            self.assertEqual((result["text"], result["prompt_tokens"], result["stop_reason"]), ("aaa", 3, "length"))
        self.write_config(eos_token_id=[2, 0])
        self.assertEqual(run("quantize", self.folder, out, "--type", "f16").returncode, 0)
        self.assertEqual(json.loads(run("run", out, *command).stdout)["stop_reason"], "end_token")

    def test_bench(self):
        done = run("bench", "model", self.folder, "-p", "8", "-n", "0", "--repeat", "1", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        seen = json.loads(done.stdout)
        self.assertEqual([(t["model"], t["type"], t["test"]) for t in seen], [("tiny", "bf16", "pp8")])
        # The folder's name is the model's: it need not be UTF-8, and a terminal might obey it.
        for name, shown in ((b"t\xff", "t\ufffd"), (b"t\x1b[1m\xc2\x9b", "t\x1b[1m\u009b")):
            folder = os.path.join(os.path.dirname(os.fsencode(self.folder)), name)
            os.symlink(self.folder, folder)
            done = run("bench", "model", folder, "-p", "8", "-n", "0", "--repeat", "1", "--json")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(json.loads(done.stdout)[0]["model"], shown)
        done = run("bench", "model", folder, "-p", "8", "-n", "0", "--repeat", "1")
        self.assertIn("| t?[1m? bf16 ", done.stdout)

    def test_tokens_that_do_not_fit(self):
        self.write_tokenizer("abcdefghijklmnopq")
        done = run("run", self.folder, "-p", "a")
        self.assertEqual(done.returncode, 7)
        self.assertIn("the vocabulary has 17 tokens, but the model has 16", done.stderr)
        self.write_config(eos_token_id="</s>")
        done = run("run", self.folder, "-p", "a")
        self.assertEqual(done.returncode, 7)
        self.assertIn("'eos_token_id' is \"</s>\", not the id of a token", done.stderr)
        os.remove(os.path.join(self.folder, "tokenizer.json"))
        seen = json.loads(run("inspect", self.folder, "--json").stdout)
        self.assertFalse(seen["runs"])


if __name__ == "__main__":
    unittest.main()
