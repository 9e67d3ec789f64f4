// SPDX-License-Identifier: Apache-2.0
// A function of a HIP runtime, for a stand-in that is linked with another one than the process uses.
extern "C" __attribute__((visibility("default"))) int hipSetDevice(int) { return 0; }
