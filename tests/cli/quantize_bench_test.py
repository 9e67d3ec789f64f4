# SPDX-License-Identifier: Apache-2.0
"""beeswax quantize and beeswax bench model: what they write and print, and what they say to mistakes."""
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import unittest

from gguf_files import write_gguf

BEESWAX = sys.argv.pop(1)


def run(*arguments):
    return subprocess.run([BEESWAX, *arguments], capture_output=True, text=True, check=False)


class Commands(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.source = os.path.join(self.folder.name, "in.gguf")
        self.out = os.path.join(self.folder.name, "out.gguf")
        write_gguf(self.source, {"token_embd.weight": [8, 256], "blk.0.attn_v.weight": [16, 512],
                                 "blk.0.ffn_up.weight": [16, 96], "output_norm.weight": [256]})

    def tearDown(self):
        self.folder.cleanup()

    def refused(self, status, message, *arguments):
        done = run(*arguments)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertIn(message, done.stderr)
        self.assertEqual(sorted(os.listdir(self.folder.name)), ["in.gguf"])

    def test_quantize(self):
        done = run("quantize", self.source, self.out, "--type", "q4_k_m")
        self.assertEqual(done.returncode, 0, done.stderr)
        # q6_k (tied), q6_k, q5_0 in place of q4_k, f32
        size = 8 * 210 + 32 * 210 + 16 * 3 * 22 + 256 * 4
        self.assertIn(f"{size / 1024:.2f} KiB from", done.stdout)
        self.assertIn(f"{8 * size / (2048 + 8192 + 1536 + 256):.2f} bits per weight", done.stdout)
        self.assertIn("blk.0.ffn_up.weight becomes q5_0: its rows of 96 are no whole blocks of q4_k", done.stderr)
        self.assertEqual(len([line for line in done.stderr.splitlines() if "/4  " in line]), 4)
        seen = json.loads(run("inspect", self.out, "--json").stdout)
        self.assertEqual([t["type"] for t in seen["tensors"]], ["q6_k", "q6_k", "q5_0", "f32"])
        self.assertEqual(seen["metadata"]["general.file_type"]["value"], 15)

    def test_json(self):
        done = run("quantize", self.source, self.out, "--type", "q8_0", "--json", "--threads", "2")
        self.assertEqual(done.returncode, 0, done.stderr)
        out = json.loads(done.stdout)
        self.assertEqual(out["bytes"], (8 * 8 + 16 * 16 + 16 * 3) * 34 + 256 * 4)
        self.assertEqual(out["bytes_before"], 4 * (2048 + 8192 + 1536 + 256))
        self.assertAlmostEqual(out["bits_per_weight"], 8 * out["bytes"] / (2048 + 8192 + 1536 + 256))
        self.assertEqual(out["threads"], 2)
        self.assertEqual([t["type"] for t in out["tensors"]], ["q8_0", "q8_0", "q8_0", "f32"])

    def test_json_names_what_was_made(self):
        for arguments, made in ((("q4_k",), "q4_k_m"), (("q4_k", "--pure"), "q4_k"), (("q3_k_s", "--pure"), "q3_k"),
                                (("Q8_0", "--pure"), "q8_0"), (("q2_k",), "q2_k")):
            done = run("quantize", self.source, self.out, "--json", "--type", *arguments)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(json.loads(done.stdout)["type"], made, arguments)

    def test_an_interrupt_leaves_no_file(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(number):
                self.interrupted_leaves_no_file(number)

    def test_a_file_beyond_the_limit_leaves_none(self):
        write_gguf(self.source, {"blk.0.attn_v.weight": ("q4_0", [1024, 1024])})
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, 1 << 16))
        done = subprocess.run([BEESWAX, "quantize", self.source, self.out, "--type", "q5_k_s", "--allow-requantize"],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, preexec_fn=limit, check=False)
        self.assertEqual(done.returncode, 6, done.stderr)
        self.assertIn("cannot be written: File too large", done.stderr)
        self.assertEqual(os.listdir(self.folder.name), ["in.gguf"])

    def test_closed_streams_print_into_no_file(self):
        write_gguf(self.source, {"blk.0.attn_v.weight": [256, 256]})
        command = [BEESWAX, "quantize", self.source, self.out, "--type", "q8_0"]
        self.assertEqual(run(*command[1:]).returncode, 0)
        with open(self.out, "rb") as file:
            whole = file.read()
        for closed, status in (((2,), 0), ((1,), 6), ((0, 1, 2), 6)):
            os.remove(self.out)
            def close(closed=closed):
                for stream in closed:
                    os.close(stream)
            done = subprocess.run(command, preexec_fn=close, check=False)
            self.assertEqual(done.returncode, status, closed)
            with open(self.out, "rb") as file:
                self.assertEqual(file.read(), whole, closed)

    def test_a_link_stays_one(self):
        write_gguf(self.source, {"blk.0.attn_v.weight": [256, 256]})
        quantize = ["quantize", self.source, self.out, "--type", "q8_0"]
        behind = os.path.join(self.folder.name, "behind.gguf")
        os.symlink("behind.gguf", self.out)
        for _ in range(2):  # where there is nothing yet, and where there is
            self.assertEqual(run(*quantize).returncode, 0)
            self.assertTrue(os.path.islink(self.out))
            with open(behind, "rb") as file:
                self.assertEqual(file.read(4), b"GGUF")
            os.truncate(behind, 0)
        os.remove(self.out)
        os.symlink("/proc/self/fd/1", self.out)
        with open(behind, "wb") as file:
            done = subprocess.run([BEESWAX, *quantize], stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.PIPE,
                                  text=True, check=False)
        self.assertEqual(done.returncode, 6)
        self.assertIn("is no regular file", done.stderr)
        self.assertTrue(os.path.islink(self.out))
        self.assertEqual(os.path.getsize(behind), 0)

    def interrupted_leaves_no_file(self, number):
        write_gguf(self.source, {f"blk.{i}.attn_v.weight": ("q4_0", [1024, 1024]) for i in range(100)})
        with open(self.out, "wb") as file:
            file.write(b"what was there before")
        command = [BEESWAX, "quantize", self.source, self.out, "--type", "q5_k_s", "--allow-requantize", "--threads", "1"]
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True) as process:
            err = process.stderr.readline()
            self.assertIn("1/100", err)
            process.send_signal(number)
            err += process.stderr.read()  # communicate() would not see what was read ahead
            out = process.stdout.read()
        self.assertEqual((process.returncode, out), (128 + number, ""), err)
        self.assertEqual(err.splitlines()[-1], f"interrupted; {self.out} is not written")
        self.assertLess(len(err.splitlines()), 99)
        self.assertEqual(sorted(os.listdir(self.folder.name)), ["in.gguf", "out.gguf"])
        with open(self.out, "rb") as file:
            self.assertEqual(file.read(), b"what was there before")

    def test_names_do_not_reach_the_terminal_as_they_are(self):
        write_gguf(self.source, {"a\x1b[31m\nb\u009b": [8]})
        for command in (["inspect", self.source, "--tensors"], ["quantize", self.source, self.out, "--type", "q8_0"]):
            done = run(*command)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("a?[31m?b?", done.stdout + done.stderr)
            for sign in ("\x1b", "\u009b"):
                self.assertNotIn(sign, done.stdout + done.stderr)
        os.truncate(self.source, os.path.getsize(self.source) - 1)
        done = run("inspect", self.source)
        self.assertEqual(done.returncode, 7)
        self.assertNotIn("\x1b", done.stderr)

    def test_mistakes_of_quantize(self):
        self.refused(2, "known: f32, f16", "quantize", self.source, self.out, "--type", "q9")
        self.refused(2, "is the file that is read", "quantize", self.source, self.source, "--type", "q8_0")
        self.refused(2, "--embedding q9", "quantize", self.source, self.out, "--type", "q8_0", "--embedding", "q9")
        self.refused(2, "--type is required", "quantize", self.source, self.out)
        capitals = run("quantize", self.source, self.out, "--type", "Q8_0", "--embedding", "Q8_0")
        self.assertEqual(capitals.returncode, 0, capitals.stderr)
        os.remove(self.out)
        self.refused(6, "absent", "quantize", self.source + "absent", self.out, "--type", "q8_0")
        self.refused(6, "absent", "quantize", self.source, self.out, "--type", "q4_k", "--imatrix",
                     self.source + "absent")
        self.refused(7, "no importance matrix", "quantize", self.source, self.out, "--type", "q4_k", "--imatrix",
                     self.source)
        self.assertEqual(run("quantize", self.source, self.out, "--type", "q8_0").returncode, 0)
        again = run("quantize", self.out, self.out + "2", "--type", "q4_0")
        self.assertEqual(again.returncode, 3)
        self.assertIn("--allow-requantize", again.stderr)
        self.assertEqual(
            run("quantize", self.out, self.out + "2", "--type", "q4_0", "--allow-requantize").returncode, 0)

    def test_mistakes_of_bench(self):
        self.refused(2, "give either a model file, or --arch", "bench", "model", self.source, "--arch", "llama-1b")
        self.refused(2, "known: llama-1b", "bench", "model", "--arch", "llama-2")
        self.refused(2, "known: f32", "bench", "model", "--arch", "llama-1b", "--type", "q9")
        self.refused(2, "leaves nothing to measure", "bench", "model", "--arch", "llama-1b", "-p", "0", "-n", "0")
        self.refused(2, "cpu, cuda:0", "bench", "model", "--arch", "llama-1b", "--device", "gpu")
        done = subprocess.run([BEESWAX, "bench", "model", "--arch", "llama-1b", "--device", "cuda:0"], check=False,
                              capture_output=True, text=True, env={**os.environ, "BEESWAX_CUDA_LIBRARY": "/nowhere.so"})
        self.assertEqual(done.returncode, run("run", "-p", "a", "--device", "cuda:99").returncode)
        self.assertRegex(done.stderr, "cuda:0: libcuda not found.*/nowhere.so")
        self.refused(6, "absent", "bench", "model", self.source + "absent")
        self.refused(7, "in.gguf", "bench", "model", self.source)

    def test_bench(self):
        model = os.path.join(os.path.dirname(__file__), "..", "..", "..", "shared", "models",
                             "stories260K-q8_0.gguf")
        if not os.path.exists(model):
            self.skipTest("no ../shared/models/stories260K-q8_0.gguf")
        done = run("bench", "model", model, "-p", "16,8", "-n", "4", "--repeat", "2", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        out = json.loads(done.stdout)
        self.assertEqual([(t["test"], t["tokens"], len(t["seconds"])) for t in out],
                         [("pp16", 16, 2), ("pp8", 8, 2), ("tg4", 4, 2)])
        for test in out:
            self.assertEqual(test["parameters"], 260032)
            rates = [test["tokens"] / seconds for seconds in test["seconds"]]
            self.assertAlmostEqual(test["tokens_per_second"] / (sum(rates) / 2), 1)
            self.assertGreater(test["floor_tokens_per_second"], 0)
            self.assertGreater(test["share_of_floor"], 0)
        table = run("bench", "model", model, "-p", "8", "-n", "0", "--repeat", "1").stdout.splitlines()
        self.assertEqual(len(table), 3)
        self.assertEqual(len({len(line) for line in table}), 1)
        self.assertIn("| pp8 |", " ".join(table[2].split()))

    def test_bench_of_random_weights(self):
        done = run("bench", "model", "--arch", "qwen2.5-0.5b", "--type", "q4_0", "-p", "2", "-n", "1", "--repeat", "1",
                   "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        out = json.loads(done.stdout)
        self.assertEqual([(t["test"], t["tokens"], len(t["seconds"])) for t in out], [("pp2", 2, 1), ("tg1", 1, 1)])
        for test in out:
            self.assertAlmostEqual(test["parameters"] / 494e6, 1, places=2)  # the published size
            self.assertGreater(test["tokens_per_second"], 0)
            self.assertGreater(test["floor_tokens_per_second"], 0)

    def check_box(self, device, backend):
        done = run("bench", "model", "-p", "8,3", "-n", "2", "--repeat", "2", "--json", "--device", device)
        self.assertEqual(done.returncode, 0, done.stderr)
        out = json.loads(done.stdout)
        self.assertEqual([(t["test"], len(t["seconds"])) for t in out], [("pp8", 2), ("pp3", 2), ("tg2", 2)])
        seen = json.loads(run("devices", "--json").stdout)
        for test in out:
            self.assertEqual(test["backend"], backend)
            self.assertEqual(test["device"], next(d["name"] for d in seen if d["device"] == device))
            self.assertEqual("threads" in test, device == "cpu")
            self.assertGreater(min(test["seconds"]), 0)
            self.assertGreater(test["floor_tokens_per_second"], 0)
            self.assertGreater(test["share_of_floor"], 0)
        table = run("bench", "model", "-p", "4", "-n", "0", "--repeat", "1", "--device", device).stdout.splitlines()
        self.assertEqual(len({len(line) for line in table}), 1)
        self.assertEqual(table[2].split("|")[4].strip(), backend)

    def test_the_box_on_the_cpu(self):
        self.check_box("cpu", "CPU")

    def test_the_box_on_a_gpu(self):
        if "emu:gfx1100" not in [d["device"] for d in json.loads(run("devices", "--json").stdout) if d["usable"]]:
            self.skipTest("no software AMD GPU")
        self.check_box("emu:gfx1100", "emu:gfx1100")

    def test_help_has_examples(self):
        for command in (["quantize"], ["bench"], ["bench", "model"], ["devices"], ["inspect"], ["run"]):
            done = run(*command, "--help")
            self.assertEqual(done.returncode, 0)
            self.assertIn("Examples:\n  beeswax " + command[0], done.stdout)


if __name__ == "__main__":
    unittest.main()
