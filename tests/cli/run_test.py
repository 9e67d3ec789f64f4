# SPDX-License-Identifier: Apache-2.0
"""beeswax run, demo, devices and inspect: what goes where, exit statuses, and what they say to mistakes."""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from terminal import on_terminal

BEESWAX = sys.argv.pop(1)
PERU = "What is the capital of Peru?"


def run(*arguments, text="", **options):
    return subprocess.run([BEESWAX, *arguments], input=text, capture_output=True, text=True, check=False, **options)


class Run(unittest.TestCase):
    def refused(self, status, message, *arguments):
        done = run("run", *arguments)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertIn(message, done.stderr)
        self.assertEqual(done.stdout, "")

    def test_only_the_text_goes_to_standard_output(self):
        done = run("run", "-p", PERU, "--temp", "0")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, " The capital of Peru is Lima.")
        self.assertRegex(done.stderr, r"^load \d+\.\d\d s, prefill \d+ tokens at \d+\.\d tokens/s, "
                                      r"decode \d+ tokens at \d+\.\d tokens/s \(end_token\)\n$")
        self.assertNotIn("\x1b", done.stdout + done.stderr)

    def test_on_a_terminal_the_text_ends_with_a_line_end(self):
        status, shown, _ = on_terminal([BEESWAX, "run", "-p", PERU, "--temp", "0"], "stdout")
        self.assertEqual((status, shown), (0, b" The capital of Peru is Lima.\r\n"))

    def test_timings_begin_on_a_line_of_their_own(self):
        status, shown, text = on_terminal([BEESWAX, "run", "-p", PERU, "--temp", "0"], "stderr")
        self.assertEqual((status, text), (0, b" The capital of Peru is Lima."))
        self.assertTrue(shown.startswith(b"\r\nload "), shown)

    def test_the_prompt_comes_from_an_option_a_file_or_a_pipe(self):
        with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as file:
            file.write(PERU)
            file.flush()
            from_file = run("run", "-f", file.name, "--temp", "0")
        self.assertEqual(from_file.stdout, " The capital of Peru is Lima.")
        self.assertEqual(run("run", "--temp", "0", text=PERU).stdout, from_file.stdout)

    def ids_of(self, *arguments, text=""):
        """The next three ids, and how many tokens the prompt had."""
        done = run("run", *arguments, "--temp", "0", "--json", "-n", "3", text=text)
        self.assertEqual(done.returncode, 0, done.stderr)
        out = json.loads(done.stdout)
        return out["ids"], out["prompt_tokens"]

    def test_the_last_line_end_of_a_pipe_or_a_file_is_no_part_of_the_prompt(self):
        plain = self.ids_of("-p", PERU)
        self.assertEqual(self.ids_of(text=PERU + "\n"), plain)
        self.assertEqual(self.ids_of(text=PERU + "\r\n"), plain)
        self.assertEqual(self.ids_of(text=PERU + "\n\n"), self.ids_of("-p", PERU + "\n"))
        self.assertNotEqual(self.ids_of("-p", PERU + "\n")[1], plain[1])
        with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as file:
            file.write(PERU + "\n")
            file.flush()
            self.assertEqual(self.ids_of("-f", file.name), plain)

    def test_an_empty_prompt_is_a_prompt(self):
        done = run("run", "-p", "", "--temp", "0", "--json", "-n", "3", text=PERU)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertLessEqual(json.loads(done.stdout)["prompt_tokens"], 1)  # a begin token, and nothing of the pipe
        self.assertEqual(json.loads(done.stdout)["ids"], self.ids_of(text="")[0])

    def test_the_seed_beside_the_timings_repeats_a_run(self):
        story = ("run", "-p", "Tell me a story", "-n", "40", "--temp", "1.5")
        first = run(*story)
        seed = re.search(r"\), seed (\d+)\n$", first.stderr).group(1)
        self.assertEqual(run(*story, "--seed", seed).stdout, first.stdout)
        self.assertRegex(run(*story, "--seed", "7").stderr, r"\), seed 7\n$")

    def test_a_full_context_says_what_helps(self):
        story = ("run", "-p", "Tell me a story", "--temp", "0", "--ctx", "32", "-n")
        hint = "the context of 32 positions is full; --ctx N makes it longer, --context-shift goes on in it\n"
        for more in ((), ("--json",)):
            done = run(*story, "60", *more)
            self.assertEqual(done.returncode, 0)
            self.assertTrue(done.stderr.endswith(hint), done.stderr)
        self.assertNotIn(hint, run(*story, "5").stderr)
        self.assertNotIn(hint, run(*story, "60", "--context-shift").stderr)

    def test_a_text_that_is_as_long_as_asked_ends_by_its_length(self):
        length = self.ids_of("-p", PERU)[1]
        for context, reason in ((length, "length"), (length + 1, "length")):
            done = run("run", "-p", PERU, "--temp", "0", "--json", "-n", "1", "--ctx", str(context))
            self.assertEqual(json.loads(done.stdout)["stop_reason"], reason)
            self.assertEqual(done.stderr, "")

    def test_penalties_look_at_the_last_tokens(self):
        def ids(window, penalty="8"):
            return json.loads(run("run", "-p", "Tell me a story", "--temp", "0", "--json", "-n", "60",
                                  "--repeat-penalty", penalty, "--repeat-last-n", window).stdout)["ids"]

        self.assertEqual(ids("0"), ids("64", penalty="1"))
        self.assertEqual(ids("-1"), ids("1000"))
        self.assertNotEqual(ids("-1"), ids("2"))
        self.refused(2, "--repeat-last-n", "-p", "x", "--repeat-last-n", "-2")

    def test_json(self):
        done = run("run", "-p", PERU, "--temp", "0", "--json", "-n", "3")
        out = json.loads(done.stdout)
        self.assertEqual(done.stderr, "")
        self.assertEqual((len(out["ids"]), out["stop_reason"]), (3, "length"))
        self.assertTrue(" The capital of Peru is Lima.".startswith(out["text"]))
        for key in ("load_seconds", "prefill_seconds", "decode_seconds", "prefill_tokens_per_second"):
            self.assertGreater(out[key], 0)

    def test_a_narrow_cache_takes_half_the_memory(self):
        wide, narrow = (json.loads(run("run", "-p", PERU, "--temp", "0", "--json", "--ctx", "64", "--cache-type",
                                       kind).stdout) for kind in ("f32", "f16"))
        self.assertEqual(wide["cache_bytes"], 2 * narrow["cache_bytes"])
        self.assertEqual(wide["text"], narrow["text"])

    def test_a_context_beyond_the_training_is_said(self):
        warning = "the model was trained on 512 positions"
        self.assertIn(warning, run("run", "-p", PERU, "--temp", "0", "--ctx", "513").stderr)
        self.assertNotIn(warning, run("run", "-p", PERU, "--temp", "0", "--ctx", "512").stderr)

    def test_a_context_shift_goes_on_where_the_context_is_full(self):
        story = ("run", "-p", "Tell me a story", "--temp", "0", "--ctx", "32", "-n", "60", "--json")
        full, shifted = json.loads(run(*story).stdout), json.loads(run(*story, "--context-shift").stdout)
        self.assertEqual((full["stop_reason"], full["context_shifts"]), ("context_full", 0))
        self.assertEqual(len(shifted["ids"]), 60)
        self.assertGreater(shifted["context_shifts"], 1)
        self.assertEqual(shifted["ids"][:len(full["ids"])], full["ids"])

    def test_seeds_reproduce_on_any_number_of_threads(self):
        def story(seed, threads):
            return run("run", "-p", "Tell me a story", "-n", "40", "--temp", "1.5", "--seed", seed, "--threads",
                       threads).stdout

        self.assertEqual(story("7", "1"), story("7", "2"))
        self.assertNotEqual(story("7", "1"), story("8", "1"))

    def test_every_number_of_64_bits_is_a_seed(self):
        story = ("run", "-p", "Tell me a story", "-n", "40", "--temp", "1.5", "--json", "--seed")
        seen = [json.loads(run(*story, str(seed)).stdout) for seed in (2**63 - 1, 2**63, 2**64 - 1)]
        self.assertEqual([out["seed"] for out in seen], [2**63 - 1, 2**63, 2**64 - 1])
        self.assertEqual(len({out["text"] for out in seen}), 3)
        self.assertNotEqual(json.loads(run(*story, "-1").stdout)["seed"], json.loads(run(*story, "-1").stdout)["seed"])
        self.refused(2, f"--seed: '{2**64}' is not a whole number", "-p", "x", "--seed", str(2**64))

    def test_numbers_are_decimal(self):
        for ten in ("010", "+10"):
            self.assertEqual(len(json.loads(run("run", "-p", "Tell me a story", "-n", ten, "--json").stdout)["ids"]), 10)

    def test_stop_strings(self):
        out = json.loads(run("run", "-p", PERU, "--temp", "0", "--stop", " of", "--json").stdout)
        self.assertEqual((out["text"], out["stop_reason"]), (" The capital", "stop_string"))
        self.refused(6, "absent.gguf", "--stop", "a", "absent.gguf", "-p", "x")  # a model, not one more of them

    def test_an_interrupt_keeps_what_was_generated(self):
        story = run("run", "-p", "Tell me a story", "--temp", "0").stdout.encode()
        for _ in range(10):  # the story may end before the signal arrives
            with subprocess.Popen([BEESWAX, "run", "-p", "Tell me a story", "--temp", "0"], stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0) as process:
                first = process.stdout.read(1)  # and no more, which communicate() would not see
                process.send_signal(signal.SIGINT)
                out, err = process.communicate()
            self.assertEqual(process.returncode, 0)
            if b"(cancelled)" in err:
                self.assertTrue(story.startswith(first + out))
                return
        self.fail("ten stories were told before an interrupt was seen")

    def test_mistakes(self):
        self.refused(2, "excludes", "-p", "x", "-f", "y")
        self.refused(2, "the name is empty", "")
        self.refused(2, "the text is empty", "-p", "x", "--stop", "")
        self.refused(2, "of 1 positions cannot shift; it needs at least 2", "-p", "", "--ctx", "1", "--context-shift")
        self.refused(2, "accepted: 0 to 2", "-p", "", "--ctx", "4", "--context-shift", "--keep", "3")
        self.refused(2, "the name is empty", "-f", "")
        self.refused(2, "temperature is -1", "-p", "x", "--temp", "-1")
        self.refused(2, "top-p is 2", "-p", "x", "--top-p", "2")
        self.refused(2, "--keep requires --context-shift", "-p", "x", "--keep", "3")
        self.refused(2, "q4_0 not in", "-p", "x", "--cache-type", "q4_0")
        self.refused(5, "emu:gfx1: ", "-p", "x", "--device", "emu:gfx1")  # no such chip, or no software GPU
        self.refused(2, "is not a device", "-p", "x", "--device", "gpu:0")
        self.refused(2, "do not fit the context of 4 positions", "-p", PERU, "--ctx", "4")
        self.refused(6, "absent.gguf: No such file", "absent.gguf")
        self.refused(6, "absent.txt cannot be read", "-f", "absent.txt")
        self.refused(6, "cannot be read", "-f", tempfile.gettempdir())
        self.refused(7, "it is not a GGUF file", __file__)

    def test_a_prompt_that_is_too_long_says_what_helps(self):
        shift = "; --context-shift does not shorten prompts"
        larger = "give a larger --ctx, up to the 512 positions that the model was trained on, or a shorter prompt"
        self.refused(2, f"tokens do not fit the context of 4 positions; {larger}\n", "-p", PERU, "--ctx", "4")
        self.refused(2, larger + shift, "-p", PERU, "--ctx", "4", "--context-shift")
        shorter = ("give a shorter prompt, or a larger --ctx; behind the 512 positions that the model was trained on, "
                   "text gets worse")
        for more, end in (((), "\n"), (("--context-shift",), shift + "\n")):
            self.refused(2, f" tokens do not fit the context of 512 positions; {shorter}{end}", "-p", PERU * 200, *more)

    def test_numbers_that_no_machine_has(self):
        for name in ("--threads", "--ctx"):
            for value in ("0", "-3", "99999999999"):
                self.refused(2, name, "-p", "x", name, value)
        self.refused(2, "--threads", "-p", "x", "--threads", "100000")
        self.refused(4, "the keys and values of 2000000000 positions in f16 take 7812500 MiB, and this machine has ",
                     "-p", "x", "--ctx", "2000000000", "--cache-type", "f16")

    def test_a_card_that_is_not_there_is_the_first_thing_to_say(self):
        done = run("run", "absent.gguf", "-f", "absent.txt", "--device", "cuda:1",
                   env={**os.environ, "BEESWAX_CUDA_LIBRARY": "/nowhere.so"})
        self.assertEqual((done.returncode, done.stdout), (5, ""))
        self.assertRegex(done.stderr, r"^beeswax: \[device\] cuda:1: libcuda not found; .*\n  \(Device: .*\)\n$")

    def on_a_gpu(self, memory, *arguments):
        """The box's model on a software GPU with so much memory."""
        if not any(device["device"] == "emu:gfx1100" and device["usable"]
                   for device in json.loads(run("devices", "--json").stdout)):
            self.skipTest("no software GPU")
        return run("run", "--device", "emu:gfx1100", *arguments, env={**os.environ, "BEESWAX_EMU_MEMORY": str(memory)})

    def too_large(self, memory, *arguments):
        """What is said of it, before the prompt is looked for."""
        done = self.on_a_gpu(memory, "-f", "absent.txt", *arguments)
        self.assertEqual((done.returncode, done.stdout), (4, ""), done.stderr)
        self.assertNotIn("while", done.stderr)
        return re.search(r"\[run\] the model takes (.*)\n", done.stderr).group(1)

    def test_what_a_gpu_has_no_memory_for_is_refused_before_it_is_read(self):
        self.assertRegex(self.too_large(3000000),
                         r"^[\d.]+ MiB \(weights [\d.]+ MiB, cache [\d.]+ MiB for 512 positions in f32\), and emu:gfx1100 "
                         r"has 2\.86 MiB.*; what helps: a smaller quantization, another device$")
        for kind, helps in (("f32", "a smaller --ctx, --cache-type f16"), ("f16", "a smaller --ctx")):
            options = ("--ctx", "2048", "--cache-type", kind)
            cache = json.loads(run("run", "-p", PERU, "-n", "1", "--json", *options).stdout)["cache_bytes"]
            said = self.too_large(8000000, *options)
            self.assertIn(f" cache {cache / 2**20:.2f} MiB for 2048 positions in {kind}), ", said)
            self.assertTrue(said.endswith(f"; what helps: {helps}, a smaller quantization, another device"), said)
        self.assertIn(" TiB for 2000000000 positions in f32), ", self.too_large(8000000, "--ctx", "2000000000"))

    def test_what_a_gpu_has_memory_for_runs(self):
        done = self.on_a_gpu(12000000, "-p", PERU, "--temp", "0", "-n", "1", "--ctx", "64")
        self.assertEqual((done.returncode, done.stdout), (0, " The"), done.stderr)

    def test_an_interrupt_ends_a_long_prompt(self):
        with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as file:
            file.write("Tell me a story. " * 20000)  # minutes, if it is run to its end
            file.flush()
            command = [BEESWAX, "run", "-f", file.name, "--ctx", "200000", "--json"]
            with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
                self.wait_until_caught(process)
                process.send_signal(signal.SIGINT)
                out, err = process.communicate()
        self.assertEqual(process.returncode, 0, err)
        out = json.loads(out)
        self.assertEqual((out["text"], out["stop_reason"]), ("", "cancelled"))
        self.assertEqual(out["prompt_tokens"] % 512, 0)
        self.assertLess(out["prompt_tokens"], 100000)

    def wait_until_caught(self, process):
        """Until the process has a handler for interrupts (SigCgt, a bit for each signal)."""
        for _ in range(3000):
            with open(f"/proc/{process.pid}/status", encoding="ascii") as status:
                caught = next(int(line.split()[1], 16) for line in status if line.startswith("SigCgt:"))
            if caught >> (signal.SIGINT - 1) & 1:
                return
            time.sleep(0.01)
        self.fail("no handler")

    def story(self, kind):
        """What a published checkpoint (../shared/models) tells from an empty prompt, and its publisher's text."""
        folder = os.path.join(os.path.dirname(__file__), "..", "..", "..", "shared", "models")
        model = os.path.join(folder, f"stories260K-{kind}.gguf")
        if not os.path.exists(model):
            self.skipTest(f"no ../shared/models/stories260K-{kind}.gguf")
        done = subprocess.run([BEESWAX, "run", model, "-p", "", "--temp", "0", "-n", "256"], capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(os.path.join(folder, "README.md"), "rb") as file:
            text = file.read()
        begin = re.search(rb"(?s)\n```\n(Once upon a time.*?)\n```\n", text).group(1)
        end = re.search(rb"(?m)^and continues, up to 257 positions, with: `(.*)`$", text).group(1)
        return done.stdout, begin + end

    def test_the_published_story_byte_for_byte(self):
        told, text = self.story("f32")
        self.assertEqual(told, text)

    def test_the_published_story_in_f16_and_q8_0(self):
        for kind in ("f16", "q8_0"):
            told, text = self.story(kind)
            self.assertEqual(told[:150], text[:150], kind)
        self.assertRegex(told.decode(), r"^Once upon a time, there was a little girl named Lily\.[\w ,.!?'\"\n]{400,}$")


class Others(unittest.TestCase):
    def test_demo(self):
        done = run("demo")
        self.assertEqual(done.returncode, 0, done.stderr)
        for line in ("People in Brazil speak Portuguese.", "38 + 47 = 85.", "A spider has 8 legs.",
                     "ids lead back to the values: yes"):
            self.assertIn(line, done.stdout)

    def test_devices(self):
        done = run("devices")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"(?m)^cpu\b")
        devices = json.loads(run("devices", "--json").stdout)
        self.assertEqual(devices[0]["device"], "cpu")

    @unittest.skipUnless(os.path.exists("/dev/full"), "no /dev/full")
    def test_text_that_cannot_be_written_is_an_error(self):
        for command in (["run", "-p", PERU, "--temp", "0"], ["run", "-p", PERU, "--temp", "0", "--json"], ["devices"],
                        ["--help"], ["--version"], ["run", "--help"]):
            with open("/dev/full", "w", encoding="ascii") as full:
                done = subprocess.run([BEESWAX, *command], stdin=subprocess.DEVNULL, stdout=full, stderr=subprocess.PIPE,
                                      text=True, check=False)
            self.assertEqual(done.returncode, 6, command)
            self.assertIn("standard output cannot be written", done.stderr)

    def test_a_wrong_number_of_threads_is_told_before_work(self):
        for command in (["run", "-p", "x", "-n", "1"], ["bench", "model", "-n", "0"]):
            done = subprocess.run([BEESWAX, *command], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                                  env={**os.environ, "BEESWAX_THREADS": "abc"})
            self.assertEqual(done.returncode, 2, command)
            self.assertIn("abc is not a number from 1 to 1024", done.stderr)
            self.assertNotIn("while", done.stderr)

    def test_standard_input_that_cannot_be_read_is_an_error(self):
        folder = os.open(os.path.dirname(os.path.abspath(__file__)), os.O_RDONLY)
        try:
            done = subprocess.run([BEESWAX, "run", "-n", "1"], stdin=folder, capture_output=True, text=True, check=False)
        finally:
            os.close(folder)
        self.assertEqual(done.returncode, 6, done.stderr)
        self.assertIn("standard input cannot be read", done.stderr)

    def test_without_a_command(self):
        self.assertEqual(run().returncode, 2)
        self.assertEqual(run("dance").returncode, 2)
        self.assertIn("beeswax run", run("--help").stdout)


if __name__ == "__main__":
    unittest.main()
