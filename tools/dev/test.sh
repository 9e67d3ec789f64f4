# SPDX-License-Identifier: Apache-2.0
source tools/dev/cmake.sh
source tools/dev/checks.sh
source tools/dev/steps.sh

# What both runs begin with; then --full goes on with what only it runs, for there a change fails that passed ./dev test.
first_steps=(packages format rings tree headers docs release-build)
full_steps=(full-packages tsan-build tsan-test aarch64-build aarch64-test isa-base isa-v3 hip device-full families fuzz-build fuzz mutate
            exhaustive tidy)
quick_steps=(release-test table)
asan_steps=(asan-build asan-test)
# Instead of these: the same tests are among its own.
last_steps=(asan-full)

help_test() {
  cat <<HELP
usage: ./dev test [--full] [--only STEP]... [--fail-fast] [--list]

Runs every check and test that needs no GPU: format, include rings, headers, the release tests, and the
unit and backend tests under the address and undefined-behaviour sanitizers. It goes on after a failed
check, prints a table of the steps' times, and ends with "N passed, N failed" on a line of its own: the
tests of all ctest runs, and one for each other step.

  --full        also clang-tidy on everything, the model and emulator tests and every level of loops under these sanitizers, every
                chip, kernels for every GPU family, the other instruction-set levels, exhaustive math, the thread sanitizer, fuzzing, aarch64 under qemu, and the mutation of every table row
  --only STEP   only this step (may be given again)
  --fail-fast   stop at the first failed step
  --list        name the steps

BEESWAX_JOBS=N sets the number of compile jobs, BEESWAX_FUZZ_SECONDS=N the time of each fuzz target (60).

Examples:
  ./dev test
  ./dev test --only headers --only release-test
  ./dev test --full
HELP
}

run_test() {
  local steps=() full=no keep_going=yes
  while [ $# -gt 0 ]; do
    case $1 in
      --full) full=yes ;;
      --fail-fast) keep_going=no ;;
      --list)
        for step in "${first_steps[@]}" "${quick_steps[@]}" "${asan_steps[@]}"; do printf '%-14s %s\n' "$step" "$(step_about "$step")"; done
        say "with --full also (asan-full instead of asan-build and asan-test):"
        for step in "${full_steps[@]}" "${last_steps[@]}"; do printf '%-14s %s\n' "$step" "$(step_about "$step")"; done
        return 0
        ;;
      --only)
        [ $# -gt 1 ] || die 2 "test: --only needs the name of a step (see ./dev test --list)"
        case " ${first_steps[*]} ${full_steps[*]} ${quick_steps[*]} ${asan_steps[*]} ${last_steps[*]} " in
          *" $2 "*) steps+=("$2") ;;
          *) die 2 "test: no step '$2' (see ./dev test --list)" ;;
        esac
        shift
        ;;
      *) die 2 "test: unknown option '$1' (see ./dev test --help)" ;;
    esac
    shift
  done
  if [ ${#steps[@]} -eq 0 ]; then
    if [ $full = no ]; then
      steps=("${first_steps[@]}" "${quick_steps[@]}" "${asan_steps[@]}")
    else
      steps=("${first_steps[@]}" "${full_steps[@]}" "${quick_steps[@]}" "${last_steps[@]}")
    fi
  fi
  run_steps "$root/build/results" $keep_going "${steps[@]}"
}
