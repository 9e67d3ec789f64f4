# SPDX-License-Identifier: Apache-2.0
source tools/dev/cmake.sh

help_demo() {
  cat <<HELP
usage: ./dev demo [OPTIONS OF beeswax demo]

Installs what is missing, builds the command and runs build/bin/beeswax demo on the CPU: tensors at
work, then the small language model in the box with a story and three questions.

Examples:
  ./dev demo
  BEESWAX_THREADS=1 ./dev demo
HELP
}

run_demo() {
  need_packages build
  configure_preset release "-DBW_GPU_TARGETS=$(gpu_targets_here)"
  cmake --build build -j "$(jobs_here)" --target beeswax_cli || die 4 "the build failed"
  exec build/bin/beeswax demo "$@"
}
