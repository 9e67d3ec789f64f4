# SPDX-License-Identifier: Apache-2.0
source tools/dev/cmake.sh

help_bench() {
  cat <<HELP
usage: ./dev bench [--peers] [OPTIONS OF bw_bench]

Builds the benchmarks and runs them: each case beside the ceiling measured in the same run. The
options go to build/bin/bw_bench; ./dev bench -- --help lists them.

  --peers       then also time, in turn with ours, what other libraries are installed here: matrix
                products of OpenBLAS (OPENBLAS_CORETYPE chooses its kernels) and sorting of NumPy,
                whose stable sort ours may take at most 1.2 times as long as. Two more tables
  --json FILE   also write the results as JSON

Exit status: that of bw_bench; 1 too where a sort takes longer than that.

Examples:
  ./dev bench
  ./dev bench --json bench/results/mine.json
  ./dev bench --peers --quick --group sort --group matmul
HELP
}

# Tables of other libraries' times beside ours; a library that is not installed is named.
run_peers() {
  local status=0
  printf '\nmatrix products beside OpenBLAS\n'
  # 3: it found no OpenBLAS and said so. Only opening a library tells whether it is there.
  build/bin/peer_gemm || { status=$?; [ $status -ne 3 ] || status=0; }
  printf '\nsorting beside NumPy\n'
  if python3 -c 'import numpy' 2>/dev/null; then
    python3 bench/peers/sort_numpy.py || status=$?
  else
    printf 'NumPy is not installed (package python3-numpy)\n'
  fi
  return $status
}

run_bench() {
  local peers= argument options=() status=0
  for argument in "$@"; do
    if [ "$argument" = --peers ]; then peers=1; else options+=("$argument"); fi
  done
  need_packages build
  build_preset release bw_bench ${peers:+peer_gemm}
  [ "${options[0]:-}" = -- ] && options=("${options[@]:1}")
  # The results name the commit they belong to, with -dirty if the tree has changes.
  BEESWAX_COMMIT=$(git rev-parse --short HEAD 2>/dev/null || echo unknown)
  [ -z "$(git status --porcelain 2>/dev/null)" ] || BEESWAX_COMMIT+=-dirty
  export BEESWAX_COMMIT
  [ -n "$peers" ] || exec build/bin/bw_bench "${options[@]}"
  build/bin/bw_bench "${options[@]}" || status=$?
  run_peers || status=$?
  return $status
}
