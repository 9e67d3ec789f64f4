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
  build_preset release beeswax_cli
  exec build/bin/beeswax demo "$@"
}
