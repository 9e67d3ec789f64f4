# SPDX-License-Identifier: Apache-2.0
# The steps of ./dev test that build and run; step_about names every step's purpose.
step_about() {
  case $1 in
    packages) echo "the packages that are missing" ;;
    format) echo "sources are in the project's format" ;;
    rings) echo "includes keep to the rings" ;;
    tree) echo "licence lines, file lengths, table comments" ;;
    headers) echo "every header compiles alone" ;;
    docs) echo "docs/operations.md is what the tables say" ;;
    release-build) echo "the library, the command and the tests" ;;
    release-test) echo "all tests on the release build" ;;
    table) echo "one row of unary.def makes a whole operation" ;;
    asan-build) echo "the unit and backend tests with the address and undefined-behaviour sanitizers, with this machine's loops" ;;
    asan-test) echo "these tests under the sanitizers, leaks included" ;;
    full-packages) echo "the packages that the full run needs" ;;
    tidy) echo "clang-tidy on every source" ;;
    isa-base) echo "the tests with plain x86-64 loops, the software GPU's too" ;;
    isa-v3) echo "the tests with AVX2 loops, the software GPU's too" ;;
    asan-full) echo "unit, backend, model and emulator tests under the sanitizers, with every level's loops" ;;
    hip) echo "HIP programs and kernels built by the distribution's hipcc and hiprtc, on the software AMD GPU" ;;
    device-full) echo "the long tests on every chip of the software AMD GPU" ;;
    families) echo "GPU kernels for every family, also those that the usual build leaves out" ;;
    exhaustive) echo "math functions over every f32" ;;
    tsan-build) echo "the tests with the thread sanitizer" ;;
    tsan-test) echo "unit, backend and model tests and the software GPU's HIP layer under it" ;;
    fuzz-build) echo "the fuzz targets, with clang" ;;
    fuzz) echo "each fuzz target for ${BEESWAX_FUZZ_SECONDS:-60} seconds" ;;
    aarch64-build) echo "the library and the tests for aarch64" ;;
    aarch64-test) echo "unit, backend and model tests under qemu" ;;
    mutate) echo "a changed constant in any table row fails that row's test" ;;
  esac
}

step_packages() { need_packages "${test_groups[@]}"; }
step_full_packages() { need_packages "${test_groups[@]}" "${full_groups[@]}"; }

step_release_build() { need_packages build; build_preset release all; }
step_release_test() { ctest_preset release release-test -LE 'table|device-full'; }
step_hip() { need_packages hip; ctest_preset release hip -L hip; }
step_device_full() { ctest_preset release device-full -L device-full; }
step_families() { need_packages build; build_preset families bw_check_bundle; }
step_table() { ctest_preset release table -L table; }

# GCC 12's leak checker guesses from the bytes before them where thread-local variables of libraries opened at run time lie,
# and ends on a wrong guess. It does not look there: what only they point to would be called a leak.
asan_settings() {
  export ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1:detect_stack_use_after_return=1:intercept_tls_get_addr=0
  export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
}
step_asan_build() { need_packages build; build_preset asan core_tests; }
step_asan_test() {
  asan_settings
  without_random_addresses
  ctest_preset asan asan-test -L 'unit|backend'
}
step_asan_full() {
  asan_settings
  without_random_addresses
  configure_preset asan
  cmake -DBW_ONE_ISA=OFF build-asan >/dev/null || die 4 "cmake could not configure all levels"
  build_preset asan tests/all
  ctest_preset asan asan-full -L 'unit|backend|model|emu|makers'
}

step_tsan_build() { need_packages build; build_preset tsan tests/all; }
step_tsan_test() {
  export TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1
  without_random_addresses
  # The box's tests ask what a model says, for minutes here; the other models run on the same threads.
  ctest_preset tsan tsan-test -L 'unit|backend|model|threads' -E model/box_test
}

# After a whole build: the sources include generated headers.
step_tidy() { need_packages build tidy; build_preset release all; python3 tools/lint_tidy.py --all --jobs "$(jobs_here)"; }
step_isa_base() { BEESWAX_CPU_ISA=base BEESWAX_EMU_ISA=base ctest_preset release isa-base -L 'unit|backend|model|emu'; }
step_isa_v3() { BEESWAX_CPU_ISA=v3 BEESWAX_EMU_ISA=v3 ctest_preset release isa-v3 -L 'unit|backend|model|emu'; }
step_exhaustive() {
  build_preset release math_bounds_test math_short_test
  python3 tools/math_bounds.py
}

step_fuzz_build() { need_packages build fuzz; build_preset fuzz all; }
step_fuzz() {
  asan_settings
  python3 tools/run_fuzz.py --seconds "${BEESWAX_FUZZ_SECONDS:-60}" --jobs "$(jobs_here)" build-fuzz/fuzz
}

step_aarch64_build() { need_packages build aarch64; build_preset aarch64 all; }
step_aarch64_test() { ctest_preset aarch64 aarch64-test -L 'unit|backend|model'; }

step_mutate() { python3 tools/mutate_rows.py --jobs "$(jobs_here)"; }
