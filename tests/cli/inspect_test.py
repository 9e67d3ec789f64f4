# SPDX-License-Identifier: Apache-2.0
"""beeswax inspect of GGUF files: every value and tensor in JSON, and why a file does not run."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

from gguf_files import write_gguf

BEESWAX = sys.argv.pop(1)
VALUES = {
    "some.u8": ("u8", 255), "some.i8": ("i8", -128), "some.u16": ("u16", 65535), "some.i16": ("i16", -32768),
    "some.u32": ("u32", 4294967295), "some.i32": ("i32", -5), "some.f32": ("f32", 0.5), "some.bool": ("bool", True),
    "some.u64": ("u64", 18446744073709551615), "some.i64": ("i64", -9223372036854775808), "some.f64": ("f64", 0.1),
    "some.text": ("string", "a \"quoted\"\n\x1b text of more than sixty characters, which people see the beginning of"),
    "some.controls": ("string", "\u009b31m\x7f"),
    "some.words": ("[string]", [f"word {i}" for i in range(100)]),
    "some.numbers": ("[u64]", [0, 1, 18446744073709551615]),
    "some.bools": ("[bool]", [True, False]),
    "some.lists": ("[[i16]]", [[], [-1, 2]]),
    "some.nothing": ("[f32]", []),
}


BOX = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", "models", "beeswax-box.gguf"))
# A model that runs, of one layer and 16 words.
TENSORS = {"token_embd.weight": [16, 8], "output_norm.weight": [8],
           **{f"blk.0.{name}.weight": shape for name, shape in {
               "attn_norm": [8], "attn_q": [8, 8], "attn_k": [4, 8], "attn_v": [4, 8], "attn_output": [8, 8], "ffn_norm": [8],
               "ffn_gate": [12, 8], "ffn_up": [12, 8], "ffn_down": [8, 12]}.items()}}
METADATA = {"llama.block_count": ("u32", 1), "llama.embedding_length": ("u32", 8), "llama.feed_forward_length": ("u32", 12),
            "llama.attention.head_count": ("u32", 2), "llama.attention.head_count_kv": ("u32", 1),
            "llama.attention.layer_norm_rms_epsilon": ("f32", 1e-5), "llama.context_length": ("u32", 32),
            "tokenizer.ggml.model": ("string", "llama"), "tokenizer.ggml.tokens": ("[string]", list("?abcdefghijklmno")),
            "tokenizer.ggml.scores": ("[f32]", [0] * 16), "tokenizer.ggml.token_type": ("[i32]", [2] + [1] * 15),
            "tokenizer.ggml.unknown_token_id": ("u32", 0)}


def run(*arguments, **options):
    return subprocess.run([BEESWAX, *arguments], capture_output=True, text=True, check=False, **options)


class Inspect(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.folder.name, "in.gguf")

    def tearDown(self):
        self.folder.cleanup()

    def inspect(self):
        """What --json says, after a look at what people see."""
        seen = json.loads(run("inspect", self.path, "--json").stdout)
        people = run("inspect", self.path)
        self.assertEqual(people.returncode, 0, people.stderr)
        for sign in ("\x1b", "\x7f", "\u009b"):
            self.assertNotIn(sign, people.stdout)
        self.assertIn("runs here: beeswax run" if seen["runs"] else "does not run here: ", people.stdout)
        self.assertIn(seen["reason"].split("\n")[0], people.stdout)
        return seen

    def test_json_has_whole_values(self):
        for big_endian in (False, True):
            write_gguf(self.path, {"t": [2, 3], "blocks": ("q4_0", [2, 64]), "scalar": []}, VALUES, big_endian)
            seen = self.inspect()
            metadata = seen["metadata"]
            self.assertEqual(set(metadata), set(VALUES) | {"general.architecture"})
            for key, (kind, value) in VALUES.items():
                self.assertEqual(metadata[key]["value"], value, key)
                self.assertIs(type(metadata[key]["value"]), type(value), key)
                self.assertEqual(metadata[key]["type"], "array" if kind.startswith("[") else kind)
                if kind.startswith("["):
                    self.assertEqual(metadata[key]["of"], "array" if kind.startswith("[[") else kind[1:-1])
            self.assertEqual(seen["tensors"], [{"name": "t", "shape": [2, 3], "type": "f32", "bytes": 24},
                                               {"name": "blocks", "shape": [2, 64], "type": "q4_0", "bytes": 72},
                                               {"name": "scalar", "shape": [], "type": "f32", "bytes": 4}])
            self.assertEqual((seen["version"], seen["other_byte_order"], seen["file_bytes"]),
                             (3, big_endian, os.path.getsize(self.path)))

    def test_nothing_is_json_too(self):
        write_gguf(self.path, {})
        self.assertEqual(json.loads(run("inspect", self.path, "--json").stdout)["tensors"], [])

    def test_an_unknown_architecture(self):
        write_gguf(self.path, {"t": [2, 3]}, {"general.architecture": ("string", "abacus")})
        seen = self.inspect()
        self.assertFalse(seen["runs"])
        self.assertIn("is of architecture 'abacus'; known are: llama", seen["reason"])

    def test_a_type_that_is_only_read(self):
        write_gguf(self.path, {"t": ("iq2_xxs", [2, 256])})
        seen = self.inspect()
        self.assertEqual(seen["tensors"], [{"name": "t", "shape": [2, 256], "type": "iq2_xxs", "bytes": 132}])
        self.assertFalse(seen["runs"])
        self.assertIn("tensor 't' is of type iq2_xxs, which this version does not compute with; it has: f32, f16, q4_0, ",
                      seen["reason"])

    def test_the_other_byte_order(self):
        write_gguf(self.path, {"t": [2, 3]}, big_endian=True)
        seen = self.inspect()
        self.assertTrue(seen["other_byte_order"])
        self.assertFalse(seen["runs"])
        self.assertIn("holds tensors in the other byte order; `beeswax quantize` writes a file for this", seen["reason"])
        self.assertIn("in the other byte order", run("inspect", self.path).stdout.splitlines()[0])

    def test_blocks_in_the_other_byte_order(self):
        write_gguf(self.path, {"a": [2, 3], "t": ("q4_0", [2, 64])}, big_endian=True)
        reason = self.inspect()["reason"]
        self.assertIn("quantized ones are not turned round", reason)
        done = run("quantize", self.path, self.path + ".out", "--type", "q8_0", "--allow-requantize")
        self.assertEqual(done.returncode, 3)
        self.assertIn("quantized ones are not turned round", done.stderr)

    def test_vocabularies_that_are_wrong_are_the_files_fault(self):
        write_gguf(self.path, TENSORS, METADATA)
        self.assertTrue(self.inspect()["runs"])
        for changes, message in (
                ({"tokenizer.ggml.bos_token_id": ("u32", 99)}, "the bos token is 99, but there are 16 tokens\n"),
                ({"tokenizer.ggml.token_type": ("[i32]", [2, 1, 7] + [1] * 13)}, "token 2 is of the unknown type 7\n"),
                ({"tokenizer.ggml.token_type": ("[i8]", [2, 1, -7] + [1] * 13)}, "token 2 is of the unknown type -7\n"),
                ({"tokenizer.ggml.unknown_token_id": ("i32", -1)}, "neither all 256 byte tokens nor an unknown token")):
            write_gguf(self.path, TENSORS, METADATA | changes)
            done = run("run", self.path, "-p", "a", "-n", "1")
            self.assertEqual(done.returncode, 7, done.stderr)
            self.assertIn(message, done.stderr)
            self.assertIn("in.gguf", done.stderr)
            self.assertFalse(self.inspect()["runs"])

    def test_a_pipe_is_no_model(self):
        os.mkfifo(self.path)
        for command in (["inspect", self.path], ["run", self.path, "-p", "a"], ["bench", "model", self.path],
                        ["quantize", self.path, self.path + ".out", "--type", "q8_0"]):
            done = run(*command, timeout=60)  # nobody ever writes into it
            self.assertEqual(done.returncode, 6, command)
            self.assertIn("in.gguf is not a regular file", done.stderr)

    def test_what_runs_can_be_pasted(self):
        for name in (b"plain-1.gguf", b"a b.gguf", b"it's $HOME.gguf", b"-m.gguf", b"m\xc3\xbcsli.gguf", b"\xff's.gguf",
                     b"a\x1b[31m\n'\\.gguf", b"\xc2\x9b.gguf"):
            os.symlink(BOX, os.path.join(os.fsencode(self.folder.name), name))
            done = subprocess.run([BEESWAX, "inspect", b"./" + name if name.startswith(b"-") else name], cwd=self.folder.name,
                                  capture_output=True, check=True)
            for sign in (b"\x1b", b"\xc2\x9b", b"\xff's"):
                self.assertNotIn(sign, done.stdout.splitlines()[-1])
            self.assertRegex(done.stdout, rb"\nruns here: beeswax run .+\n$")
            line = done.stdout.splitlines()[-1].removeprefix(b"runs here: ")
            words = subprocess.run(["bash", "-c", b"printf '%s\\0' " + line], capture_output=True, check=True).stdout
            self.assertEqual(words.split(b"\0")[:-1], [b"beeswax", b"run", b"./" + name if name.startswith(b"-") else name])
            if name.startswith(b"plain"):
                self.assertEqual(line, b"beeswax run " + name)
        seen = subprocess.run([BEESWAX, "inspect", "--", "-m.gguf"], cwd=self.folder.name, capture_output=True, check=True)
        self.assertTrue(seen.stdout.endswith(b"\nruns here: beeswax run ./-m.gguf\n"), seen.stdout)

    def test_a_model_that_runs(self):
        seen = json.loads(run("inspect", BOX, "--json").stdout)
        self.assertEqual((seen["runs"], seen["reason"]), (True, ""))
        words = seen["metadata"]["tokenizer.ggml.tokens"]["value"]
        embedding = next(t for t in seen["tensors"] if t["name"] == "token_embd.weight")
        self.assertEqual(len(words), embedding["shape"][0])


if __name__ == "__main__":
    unittest.main()
