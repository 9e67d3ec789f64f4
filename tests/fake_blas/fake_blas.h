// SPDX-License-Identifier: Apache-2.0
// What tests see of the stand-ins for vendors' libraries of matrix products: shared libraries that export the
// functions under the vendors' names, look at every argument, refuse what the real ones refuse, and compute
// the product on the CPU, in the order of the stream. Numbers of enumerations are written here from the
// vendors' documentation, apart from those of src/.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fake {

/// The last product, as the library was asked for it.
struct BlasCall {
  int turn_a, turn_b;  ///< 1: transposed
  int64_t m, n, k, batch;
  int64_t a_leading, b_leading, c_leading, a_stride, b_stride, c_stride;
  int type;  ///< of a, b and c: 'h' f16, 'b' bf16, 'f' f32, 'd' f64
  size_t workspace_bytes;
};

struct BlasControl {
  // What is alive
  int64_t handles, objects;  ///< objects: descriptors, layouts, preferences
  // What happened
  int64_t calls;     ///< of any function that the fault counts
  int64_t products;  ///< that were submitted
  int64_t searches;  ///< for an algorithm
  int64_t refusals;  ///< arguments that the library does not take
  char refused[96];  ///< the last of them
  BlasCall last;

  size_t wanted_workspace;  ///< bytes that each product asks for
  int without_type;         ///< 'd': no algorithm for products of this type
  int version;              ///< as the library gives it; 0: a recent one

  // The fault: the nth call from now of `fail_call` (empty: of any) answers fail_status.
  // FAKE_BLAS_FAIL=name:n:status.
  char fail_call[64];
  char failed[64];   ///< the function that it hit; empty before
  int64_t fail_nth;  ///< 0: none
  int fail_status;
};

/// Every stand-in exports this under its name: dlsym(library, "fake_blas_control").
using BlasControlOf = BlasControl* (*)();

}  // namespace fake
