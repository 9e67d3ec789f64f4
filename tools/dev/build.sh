# SPDX-License-Identifier: Apache-2.0
source tools/dev/cmake.sh

help_build() {
  cat <<HELP
usage: ./dev build [--preset NAME] [--all] [TARGET...]

Builds the command and the library: build/bin/beeswax and build/bin/libbeeswax.so.

  --preset NAME   release (default), debug, asan or tsan; the others build into build-NAME
  --all           also the tests, the benchmarks and the examples
  TARGET...       only these CMake targets

Examples:
  ./dev build
  ./dev build --preset debug shape_test
HELP
}

run_build() {
  local preset=release targets=()
  while [ $# -gt 0 ]; do
    case $1 in
      --preset) preset=${2:?"--preset needs a name"}; shift ;;
      --all) targets+=(all) ;;
      -*) die 2 "build: unknown option '$1' (see ./dev build --help)" ;;
      *) targets+=("$1") ;;
    esac
    shift
  done
  [ ${#targets[@]} -gt 0 ] || targets=(beeswax_cli)
  need_packages build
  local began=$SECONDS
  build_preset "$preset" "${targets[@]}"
  say "${green}built${plain} in $(clock $((SECONDS - began))): $(build_folder "$preset")/bin"
}
