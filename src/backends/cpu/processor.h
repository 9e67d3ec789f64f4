// SPDX-License-Identifier: Apache-2.0
// What loops do differently on different makers' processors; results are the same. Constants rather than
// functions: before a call loops give up what registers hold.
#pragma once

#include <cstdint>

namespace beeswax::cpu {

/// Whose processors the loops are made for: Intel's, AMD's from Zen 5 on, or others. The variable
/// BEESWAX_CPU_MAKER=intel|zen5|other takes others than this machine's, so that tests reach all loops.
enum class Maker { other, intel, zen5 };
extern const Maker kMaker;
/// InvalidArgument where the variable says something else.
void check_maker();

/// Bytes from what a loop that streams through memory reads to the line that it requests meanwhile; 0 where
/// the processor foresees enough by itself. Intel's cores foresee up to the end of a page of 4 KiB; with the
/// next page requested, two cores of an Ice Lake server negate bf16 at 0.92 of the speed of copying, where
/// they reached 0.76.
extern const int64_t kBytesAhead;
/// The same for loops that only read, for all streams of a loop together. Where memory is fast, Zen 5's cores
/// do not run far enough ahead: two of them multiply rows of 2048 of Q4_0 with an activation at 0.71 to 0.78
/// of the speed of reading at 70 GB/s and at 0.94 to 0.97 with requests, of Q6_K at 0.80 and 0.97 (longer
/// rows of Q4_0 need more than requests: idle() in kernels/request.h), and requests cost nothing where memory
/// gives 45 GB/s or the weights are in caches. At 80 GB/s they add up rows of f16 at 0.82 and 0.90, and find
/// the largest in columns of f64 at 0.80 and 0.88. Zen 4 loses a tenth.
extern const int64_t kReadAhead;
/// Whether that is further than where loops write, too, and goes into the first cache. What norms and softmax
/// read next goes there, too: two Zen 5 cores normalize rows of f32 (rms) at 0.75 of the speed of copying
/// with requests into the second cache and at 0.86 so where they copy at 113 GB/s, at 0.82 and 0.85 at 60.
inline bool reads_further() { return kReadAhead > kBytesAhead; }
/// Whether the processor foresees enough of what one stream reads.
inline bool foresees_streams() { return kBytesAhead == 0; }

/// The most bytes of B that a product packs at a time, which stay in the second cache while A goes by; 0 for
/// all of a task's columns, which come from the cache behind it. That takes 9 bytes a cycle where two vectors
/// are multiplied in each, more than Intel's cores get there: two of an Emerald Rapids server multiply
/// matrices of 2048 in 0.70 to 0.85 of the time with pieces. Zen 4, which needs half of that, takes 5 to 7
/// percent longer with them.
extern const int64_t kPanelBytes;

/// The most bytes of columns' results that stay near enough beside rows that stream past them, so that two
/// streams, which processors foresee, are faster than eight rows at a time. Two cores of a Zen 5, whose first
/// cache has 48 KiB, find the largest of each of 4096 columns of f32 at 0.88 to 1.02 of the speed of reading
/// so, where eight rows at a time reach 0.67 to 0.81, and of f64 at 0.84 to 0.98 and 0.68 to 0.83. Their
/// places, of f64, with four streams at 0.89 to 0.95, with eight at 0.74 to 0.80.
extern const int64_t kResultsKept;
/// The same for places of the largest of 16-bit elements. Where vectors of 64 bytes are compared in halves,
/// as Zen 4 does, comparing takes longer than few streams save. Two cores of a Zen 5 find the places of f16
/// in 4096 columns at 0.85 to 1.00 of the speed of reading with two streams, at 0.74 to 0.80 with eight.
extern const int64_t kShortPlacesKept;

/// The most long rows that norms take together, which then share what they read of the weights. Two cores of
/// a Zen 5 subtract means and scale rows of 4096 (layer norm) at 0.81 of the speed of copying four together
/// and at 0.83 two, in f64 at 0.78 to 0.80 and at 0.82.
extern const int64_t kRowsTogether;

}  // namespace beeswax::cpu
