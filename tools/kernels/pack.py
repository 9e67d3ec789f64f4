#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Packs compiled kernels into the one file that the library embeds, and prints what each target took: CPU-seconds against
the budget, and the most registers, shared memory, scratch memory and spills of a kernel. --table gets all kernels.

The file, little-endian (src/backends/gpu/bundle.h reads it):
  header   "BWK2", u32 targets, u32 modules, u32 kernels, u32 stamps, u32 bytes of names
  target   char name[16], u32 first module, modules, first kernel, kernels, first stamp, stamps   (sorted by name)
  module   u64 offset in the file, u32 compressed bytes, u32 bytes, u32 name, u32 0
  kernel   u32 name, u32 module (of the target), u32 argument bytes, u32 static shared bytes   (sorted by name)
  stamp    u32 module (of the target), u32 offset, u32 byte
  names    zero-terminated; `name` above counts from the start of this part
  modules, each one zstd frame
A chip that runs another one's code is a target with that one's modules and kernels; its stamps are the bytes of each
unpacked module that are its own (compile.py makes them). Every target must hold the same kernels, but for modules that
are its own: the compiler can lose some without a word. (Whether these are the kernels that the host asks for,
check_bundle.cc says when it links.) A target may have another one's modules beside its own.
"""
import argparse
import json
import pathlib
import struct
import subprocess
import sys

BUDGET = {"gfx": 60.0, "ptx": 90.0, "sm_": 90.0}  # CPU-seconds of compilation for a target
# Times the budget: idle Zen 4 cores keep it, two busy Zen 3 cores were seen to count three times as many seconds.
RUNAWAY = 4


def compress(data):
    return subprocess.run(["zstd", "-q", "-19", f"--stream-size={len(data)}", "-c"], input=data, capture_output=True, check=True).stdout


class Names:
    def __init__(self):
        self.data, self.at = bytearray(), {}

    def add(self, name):
        if name not in self.at:
            self.at[name] = len(self.data)
            self.data += name.encode() + b"\0"
        return self.at[name]


def most_used(kernels):
    """The most that a kernel uses of everything that its compiler tells, with its name."""
    out = []
    for column in ("vgprs", "sgprs", "shared", "scratch", "spills"):
        told = {name: kernel[column] for name, (_, kernel) in sorted(kernels.items()) if column in kernel}
        if told:
            name = max(told, key=told.get)
            out.append(f"{column} up to {told[name]} ({name})" if told[name] else f"{column} 0")
    return ", ".join(out) or "registers are up to the driver, which compiles it"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", required=True)
    parser.add_argument("--table", required=True, help="register table to write")
    parser.add_argument("objects", nargs="*", help="<module>.<target>, each with its .json beside it")
    parser.add_argument("--own", nargs="*", default=[], help="more objects: modules that only their target has")
    parser.add_argument("--beside", action="append", default=[], metavar="TARGET=OTHER",
                        help="TARGET has OTHER's modules, too")
    args = parser.parse_args()
    targets = {}
    own = {pathlib.Path(path).name.split(".", 1)[0] for path in args.own}
    for path in map(pathlib.Path, args.objects + args.own):
        module, target = path.name.split(".", 1)
        targets.setdefault(target, []).append((module, path, json.loads(pathlib.Path(f"{path}.json").read_text())))
    for target, other in (pair.split("=") for pair in args.beside):
        targets[target] += targets[other]
    names, target_rows, module_rows, kernel_rows, stamp_rows, blobs, table = Names(), [], [], [], [], [], []
    everything, blob_of = {}, {}
    for target in sorted(targets):
        first_module, kernels, raw, packed, seconds = len(module_rows), {}, 0, 0, 0.0
        for number, (module, path, report) in enumerate(sorted(targets[target])):
            data = path.read_bytes() + (b"\0" if target.startswith("ptx") else b"")
            if path not in blob_of:
                blob_of[path] = len(blobs)
                blobs.append(compress(data))
                raw, packed, seconds = raw + len(data), packed + len(blobs[-1]), seconds + report["seconds"]
            module_rows.append([blob_of[path], len(data), names.add(module)])
            for name, kernel in report["kernels"].items():
                if name in kernels:
                    sys.exit(f"{target}: {name} is in two modules")
                kernels[name] = (number, kernel)
                table.append((target, module, name, kernel))
        rows = (first_module, len(module_rows) - first_module, len(kernel_rows), len(kernels))
        target_rows.append((target, *rows, 0, 0))
        chips = sorted({chip for _, _, report in targets[target] for chip in report.get("stamps", {})} - set(targets))
        for chip in chips:
            first_stamp = len(stamp_rows)
            stamp_rows += [(number, at, byte) for number, (_, _, report) in enumerate(sorted(targets[target]))
                           for at, byte in report["stamps"][chip]]
            target_rows.append((chip, *rows, first_stamp, len(stamp_rows) - first_stamp))
        for name in sorted(kernels):
            number, kernel = kernels[name]
            kernel_rows.append((names.add(name), number, kernel["arguments"], kernel.get("shared", 0)))
        everything[target] = {name: kernel["arguments"] for module, _, report in targets[target] if module not in own
                              for name, kernel in report["kernels"].items()}
        budget = BUDGET[target[:3]]
        print(f"kernels for {' '.join([target, *chips])}: {len(kernels)} in {len(targets[target])} modules, {raw / 1024:.0f} KiB, "
              f"{packed / 1024:.0f} KiB compressed, {seconds:.1f} CPU-seconds (budget {budget:.0f})"
              f"{', over it' if seconds > budget else ''}")
        print(f"  {most_used(kernels)}")
        if seconds > budget * RUNAWAY:
            sys.exit(f"{target}: far over the budget of compilation")
    for target, kernels in everything.items():
        for other, others in everything.items():
            if missing := sorted(set(others) - set(kernels)):
                sys.exit(f"{target} lacks {', '.join(missing[:5])}{' ...' if len(missing) > 5 else ''}, which {other} has")
            if wrong := [n for n in kernels if n in others and kernels[n] != others[n]]:
                sys.exit(f"{target} and {other}: arguments of {wrong[0]} differ in size")
    at = (24 + 40 * len(target_rows) + 24 * len(module_rows) + 16 * len(kernel_rows) + 12 * len(stamp_rows)
          + len(names.data))
    out = bytearray(struct.pack("<4sIIIII", b"BWK2", len(target_rows), len(module_rows), len(kernel_rows), len(stamp_rows),
                                len(names.data)))
    for name, *numbers in sorted(target_rows):
        out += struct.pack("<16sIIIIII", name.encode(), *numbers)
    for blob, size, name in module_rows:
        out += struct.pack("<QIIII", at + sum(map(len, blobs[:blob])), len(blobs[blob]), size, name, 0)
    for row in kernel_rows:
        out += struct.pack("<IIII", *row)
    for row in stamp_rows:
        out += struct.pack("<III", *row)
    out += names.data
    for blob in blobs:
        out += blob
    pathlib.Path(args.out).write_bytes(out)
    columns = (("vgprs", 6), ("agprs", 6), ("sgprs", 6), ("shared", 8), ("scratch", 8), ("spills", 8))
    module_width, name_width = (2 + max([6, *(len(row[i]) for row in table)]) for i in (1, 2))
    lines = [f"{'target':9}{'module':{module_width}}{'kernel':{name_width}}" + "".join(f"{c:>{w}}" for c, w in columns)]
    for target, module, name, k in table:
        lines.append(f"{target:9}{module:{module_width}}{name:{name_width}}" + "".join(f"{k.get(c, '-'):>{w}}" for c, w in columns))
    pathlib.Path(args.table).write_text("\n".join(lines) + "\n")
    print(f"every kernel: {args.table}")


if __name__ == "__main__":
    main()
