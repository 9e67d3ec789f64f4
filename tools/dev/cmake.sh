# SPDX-License-Identifier: Apache-2.0
# Configure and build one preset, and run its tests.
export NINJA_STATUS='[%f/%t, %es] '

build_folder() { [ "$1" = release ] && echo build || echo "build-$1"; }

# configure_preset PRESET: once; afterwards ninja configures again by itself when a CMake file changed.
configure_preset() {
  local folder
  folder=$(build_folder "$1")
  [ -f "$folder/build.ninja" ] && return 0
  cmake --preset "$1" >"$folder.configure.log" 2>&1 || {
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

# ctest_preset PRESET NAME ctest-options...: runs tests; the counts go to $BEESWAX_RESULTS/NAME.xml.
ctest_preset() {
  local preset=$1 name=$2
  shift 2
  "${test_launcher[@]}" ctest --test-dir "$(build_folder "$preset")" --output-on-failure --no-tests=error \
    --output-junit "${BEESWAX_RESULTS:-$root/build}/$name.xml" "$@"
}

# The sanitizers of g++ 12 and 13 need addresses that are not randomized too widely; a container may forbid
# asking for that.
test_launcher=()
without_random_addresses() {
  if setarch "$(uname -m)" -R true 2>/dev/null; then test_launcher=(setarch "$(uname -m)" -R); fi
}
