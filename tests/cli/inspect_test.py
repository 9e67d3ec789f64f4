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


def run(*arguments):
    return subprocess.run([BEESWAX, *arguments], capture_output=True, text=True, check=False)


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
        self.assertIn("tensor 't' is of type iq2_xxs, which this version does not compute with", seen["reason"])

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

    def test_a_model_that_runs(self):
        seen = json.loads(run("inspect", os.path.join(os.path.dirname(__file__), "..", "..", "models", "beeswax-box.gguf"),
                              "--json").stdout)
        self.assertEqual((seen["runs"], seen["reason"]), (True, ""))
        words = seen["metadata"]["tokenizer.ggml.tokens"]["value"]
        embedding = next(t for t in seen["tensors"] if t["name"] == "token_embd.weight")
        self.assertEqual(len(words), embedding["shape"][0])


if __name__ == "__main__":
    unittest.main()
