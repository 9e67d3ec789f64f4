# SPDX-License-Identifier: Apache-2.0
# Configure and build one preset, and run its tests.
export NINJA_STATUS='[%f/%t, %es] '

build_folder() { [ "$1" = release ] && echo build || echo "build-$1"; }

# The kernels that the GPUs of this machine need, as BW_GPU_TARGETS takes them.
gpu_targets_here() {
  local targets=() version
  [ -e /dev/nvidiactl ] && targets+=(ptx_80)
  # 110000 is gfx1100, 90010 is gfx90a: major * 10000 + minor * 100 + stepping.
  for version in $(sed -n 's/^gfx_target_version \([1-9][0-9]*\)$/\1/p' /sys/class/kfd/kfd/topology/nodes/*/properties 2>/dev/null | sort -u); do
    targets+=("$(printf 'gfx%d%d%x' $((version / 10000)) $((version / 100 % 100)) $((version % 100)))")
  done
  [ ${#targets[@]} -gt 0 ] || targets=(none)
  (IFS=';' && echo "${targets[*]}")
}

# configure_preset PRESET [OPTION]: once; afterwards ninja configures again by itself when a CMake file changed. A
# folder that was configured for this machine's GPUs alone is configured for the usual ones by everything but the demo.
configure_preset() {
  local folder option=${2:-} narrow
  folder=$(build_folder "$1")
  narrow=$folder/.gpus-of-this-machine
  if [ -f "$folder/build.ninja" ]; then
    [ -f "$narrow" ] && [ -z "$option" ] || return 0
    rm -f "$narrow"
    option=-DBW_GPU_TARGETS=default
  elif [ -n "$option" ]; then
    mkdir -p "$folder" && touch "$narrow"
  fi
  cmake --preset "$1" ${option:+"$option"} >"$folder.configure.log" 2>&1 || {
    cat "$folder.configure.log" >&2
    rm -f "$folder.configure.log"
    die 4 "cmake could not configure the preset $1"
  }
  rm -f "$folder.configure.log"
}

# build_preset PRESET TARGET...
build_preset() {
  local preset=$1
  shift
  configure_preset "$preset"
  cmake --build "$(build_folder "$preset")" -j "$(jobs_here)" --target "$@" || die 4 "the build failed"
}

# ctest_preset PRESET NAME ctest-options...: runs tests, as many at a time as there are compile jobs (much of a test is
# its oracle, which is one thread); the counts go to $BEESWAX_RESULTS/NAME.xml.
ctest_preset() {
  local preset=$1 name=$2
  shift 2
  "${test_launcher[@]}" ctest --test-dir "$(build_folder "$preset")" --output-on-failure --no-tests=error -j "$(jobs_here)" \
    --output-junit "${BEESWAX_RESULTS:-$root/build}/$name.xml" "$@"
}

# The sanitizers of g++ 12 and 13 need addresses that are not randomized too widely; a container may forbid
# asking for that.
test_launcher=()
without_random_addresses() {
  if setarch "$(uname -m)" -R true 2>/dev/null; then test_launcher=(setarch "$(uname -m)" -R); fi
}
