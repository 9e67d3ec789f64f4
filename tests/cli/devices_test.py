# SPDX-License-Identifier: Apache-2.0
"""beeswax devices: what it says of AMD's runtime without a card, and of the software GPU in its place."""
import glob
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

BEESWAX = sys.argv.pop(1)
EMULATED = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(BEESWAX))), "lib-hip")


def devices(kind="rocm", **more):
    done = subprocess.run([BEESWAX, "devices", "--json"], capture_output=True, text=True, check=True,
                          env={**os.environ, **more})
    return [device for device in json.loads(done.stdout) if device["device"].startswith(kind)]


class Devices(unittest.TestCase):
    def test_amds_library_without_a_card(self):
        libraries = sorted(glob.glob("/usr/lib/*/libamdhip64.so.[567]"))
        if not libraries:
            self.skipTest("AMD's runtime is not here; install the package libamdhip64-5")
        if os.path.exists("/dev/kfd"):
            self.skipTest("this machine has AMD's driver")
        for more in ({}, {"BEESWAX_HIP_LIBRARY": libraries[0]}):
            (said,) = devices(**more)
            self.assertEqual((said["device"], said["usable"]), ("rocm", False))
            self.assertRegex(said["reason"], r"libamdhip64\.so\.\d finds no device: hipInit says hipError")
            self.assertIn("; /dev/kfd is not there: load the amdgpu kernel driver", said["reason"])

    def test_a_runtime_that_is_there_and_does_not_open(self):
        with tempfile.TemporaryDirectory() as folder:
            library = os.path.join(folder, "libamdhip64.so.6")
            with open(library, "wb") as file:
                file.write(b"no library")
            (said,) = devices(BEESWAX_HIP_LIBRARY=library)
        self.assertRegex(said["reason"], rf"^libamdhip64 does not open; install AMD's .* \({re.escape(library)}: .*\)$")

    def test_what_helps_where_nvidias_driver_does_not_start(self):
        library = os.path.join(os.path.dirname(EMULATED), "lib-fake", "libcuda.so")
        if not os.path.exists(library):
            self.skipTest("built without the tests' drivers")
        for error, advice in ((100, "; `nvidia-smi -L` "), (802, "nvidia-fabricmanager"), (803, "of two releases: restart"),
                              (999, "lines with NVRM"), (5, "")):
            (said,) = devices("cuda", BEESWAX_CUDA_LIBRARY=library, FAKE_DRIVER_FAIL=f"cuInit:1:{error}")
            words = f"finds no usable NVIDIA GPU: CUDA error {error}: a failure on request"
            self.assertIn(words, said["reason"])
            self.assertIn(advice, said["reason"].partition(words)[2])

    def test_the_software_gpu_in_its_place(self):
        if not os.path.isdir(EMULATED):
            self.skipTest("built without the software AMD GPU")
        for number in (5, 6, 7):
            library = os.path.join(EMULATED, f"libamdhip64.so.{number}")
            emulated = {"BEESWAX_HIP_LIBRARY": library, "BEESWAX_EMU_DEVICES": "gfx90a,gfx1201",
                        "BEESWAX_EMU_MEMORY": str(1 << 30)}
            found = devices(**emulated)
            self.assertEqual([device["device"] for device in found], ["rocm:0", "rocm:1"])
            for device, chip in zip(found, ("gfx90a", "gfx1201")):
                self.assertIn(chip, device["detail"])
                self.assertIn(f"HIP {number}.", device["detail"])
                self.assertEqual((device["arch"], device["library"]), (chip, library))
                parts = f"{chip}, {device['units']} compute units, {device['driver']}, kernels: {device['kernels']}"
                if device["kernels"] is not None:
                    self.assertEqual(device["detail"], parts)
                if device["usable"]:
                    self.assertEqual((device["memory_bytes"], device["memory_free_bytes"]), (1 << 30, 1 << 30))
            if found[0]["usable"]:
                shown = subprocess.run([BEESWAX, "devices"], capture_output=True, text=True, check=True,
                                       env={**os.environ, **emulated}).stdout
                self.assertIn(f"{found[0]['detail']}, 1.0 GiB of memory, 1.0 free\n", shown)
            (none,) = devices(BEESWAX_HIP_LIBRARY=library, HIP_VISIBLE_DEVICES="-1")
            self.assertFalse(none["usable"])
            self.assertRegex(none["reason"], "no device|NoDevice")

    def test_a_card_without_kernels(self):
        library = os.path.join(os.path.dirname(EMULATED), "lib-fake", "libcuda.so")
        if not os.path.exists(library):
            self.skipTest("built without the tests' drivers")
        fake = {"BEESWAX_CUDA_LIBRARY": library, "FAKE_DRIVER_ARCH": "sm_75"}
        (said,) = devices("cuda", **fake)
        self.assertFalse(said["usable"])
        self.assertIn("sm_75, for which no build has kernels", said["reason"])
        self.assertRegex(said["detail"], r"^sm_75, \d+ compute units, CUDA .*, kernels: none$")
        self.assertEqual((said["arch"], said["kernels"], said["memory_free_bytes"]), ("sm_75", None, None))
        self.assertGreater(said["memory_bytes"], 0)
        shown = subprocess.run([BEESWAX, "devices"], capture_output=True, text=True, check=True,
                               env={**os.environ, **fake}).stdout
        for part in (said["name"], said["detail"], " GiB of memory\n", f"not usable: {said['reason']}\n"):
            self.assertIn(part, shown)

    def test_the_vendors_libraries(self):
        if not os.path.isdir(EMULATED):
            self.skipTest("built without the software AMD GPU")
        fake = os.path.join(os.path.dirname(EMULATED), "lib-fake")
        nowhere = {name: "/nowhere/lib.so" for name in
                   ("BEESWAX_ROCBLAS_LIBRARY", "BEESWAX_HIPBLASLT_LIBRARY", "BEESWAX_MIOPEN_LIBRARY")}
        hip = {"BEESWAX_HIP_LIBRARY": os.path.join(EMULATED, "libamdhip64.so.6"), "BEESWAX_EMU_DEVICES": "gfx90a"}
        (none,) = devices(**hip, **nowhere)
        self.assertRegex(none["libraries"], "^hipBLASLt not found, rocBLAS not found, MIOpen not found$")
        rocblas = os.path.join(fake, "librocblas.so")
        if os.path.exists(rocblas):  # built with the tests
            (one,) = devices(**hip, **{**nowhere, "BEESWAX_ROCBLAS_LIBRARY": rocblas})
            self.assertRegex(one["libraries"], "^hipBLASLt not found, rocBLAS 4.2.1, ")
        cpu = subprocess.run([BEESWAX, "devices", "--json"], capture_output=True, text=True, check=True)
        self.assertEqual(json.loads(cpu.stdout)[0]["libraries"], "")
        for key in ("arch", "units", "driver", "library", "kernels", "memory_free_bytes"):
            self.assertIsNone(json.loads(cpu.stdout)[0][key])


if __name__ == "__main__":
    unittest.main()
