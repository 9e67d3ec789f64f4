# SPDX-License-Identifier: Apache-2.0
source tools/dev/cmake.sh

help_bench() {
  cat <<HELP
usage: ./dev bench [OPTIONS OF bw_bench]

Builds the benchmarks and runs them: each case beside the ceiling measured in the same run. The
options go to build/bin/bw_bench; ./dev bench -- --help lists them.

  --json FILE   also write the results as JSON

Examples:
  ./dev bench
  ./dev bench --json bench/results/mine.json
HELP
}

run_bench() {
  need_packages build
  build_preset release bw_bench
  [ "${1:-}" = -- ] && shift
  # The results name the commit they belong to, with -dirty if the tree has changes.
  BEESWAX_COMMIT=$(git rev-parse --short HEAD 2>/dev/null || echo unknown)
  [ -z "$(git status --porcelain 2>/dev/null)" ] || BEESWAX_COMMIT+=-dirty
  export BEESWAX_COMMIT
  exec build/bin/bw_bench "$@"
}
