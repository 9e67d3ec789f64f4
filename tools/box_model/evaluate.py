#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Asks `beeswax run` what the model in the box was never taught, and counts the right answers.

An answer is right if it is the expected sentence, character for character, at temperature 0.

usage: evaluate.py BEESWAX [MODEL.gguf] [--arithmetic 300] [--facts 0] [--wrong 5]
"""
import argparse
import collections
import json
import random
import subprocess

import exam


def ask(command, prompt):
    done = subprocess.run(command + ["--prompt", prompt, "--temp", "0", "-n", "60", "--json"], check=True,
                          capture_output=True, text=True)
    return json.loads(done.stdout)["text"].strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("beeswax")
    parser.add_argument("model", nargs="?", help="default: the one in the box")
    parser.add_argument("--arithmetic", type=int, default=300, help="questions of each operation")
    parser.add_argument("--facts", type=int, default=0, help="questions of each group of facts; 0: all")
    parser.add_argument("--wrong", type=int, default=5, help="wrong answers to show for each group")
    options = parser.parse_args()
    command = [options.beeswax, "run"] + ([options.model] if options.model else [])
    for group, items in exam.groups(arithmetic=options.arithmetic).items():
        if options.facts and group.startswith("facts"):
            items = random.Random(1).sample(items, min(options.facts, len(items)))
        wrong = [(prompt, text, right) for prompt, right in items if (text := ask(command, prompt)) != right]
        print(f"{100 - 100 * len(wrong) / len(items):6.2f}% of {len(items):4}  {group}", flush=True)
        for prompt, text, right in random.Random(1).sample(wrong, min(options.wrong, len(wrong))):
            print(f"        {prompt.splitlines()[0]}  {text!r}, not {right!r}")


if __name__ == "__main__":
    main()
