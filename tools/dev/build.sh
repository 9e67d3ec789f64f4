# SPDX-License-Identifier: Apache-2.0
source tools/dev/cmake.sh

build_presets=(release debug asan tsan fuzz aarch64)

help_build() {
  cat <<HELP
usage: ./dev build [--preset NAME] [--all] [TARGET...]

Builds the command and the library: build/bin/beeswax and build/bin/libbeeswax.so.

  --preset NAME   ${build_presets[*]}; release, the default, builds into build,
                  the others into build-NAME
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
      --preset)
        case " ${build_presets[*]} " in
          *" ${2:-} "*) preset=$2 ;;
          *) die 2 "build: --preset needs one of: ${build_presets[*]}" ;;
        esac
        shift
        ;;
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
