# SPDX-License-Identifier: Apache-2.0
source tools/dev/cmake.sh

help_bench() {
  cat <<HELP
usage: ./dev bench [--peers | --no-peers] [OPTIONS OF bw_bench]

Builds the benchmarks and runs them: each case beside the ceiling measured in the same run. Then other
libraries in turn with ours, in two more tables: matrix products of OpenBLAS, by the kernels that it
chooses and by the best of those that suit this processor (by OPENBLAS_CORETYPE alone where that is
set), and sorting of NumPy, whose stable sort ours may take at most 1.2 times as long as. They are
installed first; one that is not there then is named and left out.
The other options go to build/bin/bw_bench; ./dev bench -- --help lists them.

  --no-peers    without the other libraries, which --quick, --filter and --group leave out too
  --peers       with them all the same; with --quick, 3 rounds of each
  --threads N   threads of ours and of OpenBLAS
  --json FILE   also write the results as JSON: NAME.json, and those beside the other libraries to
                NAME-openblas.json and NAME-sort-numpy.json; where FILE is -, all to standard output,
                one after the other, and the tables to standard error

Exit status: that of bw_bench; 1 too where a sort takes longer than that; else that of a comparison that
failed.

Examples:
  ./dev bench
  ./dev bench --json bench/results/mine.json
  ./dev bench --quick --group matmul
  ./dev bench --peers --quick --group sort --group matmul
HELP
}

# The first Python that has NumPy. Debian's is for Debian's own Python, which need not be the first one.
pythons=(python3 /usr/bin/python3)
numpy_python() {
  local python
  for python in "${pythons[@]}"; do
    if "$python" -c 'import numpy' 2>/dev/null; then
      echo "$python"
      return 0
    fi
  done
  return 1
}

# Whether both libraries are there, from wherever they come.
has_peers() {
  numpy_python >/dev/null && python3 -c 'import ctypes; ctypes.CDLL("libopenblas.so.0")' 2>/dev/null
}

# run_peers ROUNDS THREADS JSON, each of which may be empty: tables of other libraries' times beside ours; a library
# that is not there is named.
run_peers() {
  local status=0 code=0 out=1 python both=() gemm=() sort=()
  [ -z "$1" ] || both+=(--rounds "$1")
  [ -z "$2" ] || both+=(--threads "$2")
  case $3 in
    '') ;;
    -) out=2 gemm=(--json -) sort=(--json -) ;;
    *) gemm=(--json "${3%.json}-openblas.json") sort=(--json "${3%.json}-sort-numpy.json") ;;
  esac
  printf '\nmatrix products beside OpenBLAS\n' >&$out
  python3 bench/peers/gemm_openblas.py "${both[@]}" "${gemm[@]}" || code=$?
  # 3: it found no OpenBLAS and said so. Only opening a library tells whether it is there.
  [ $code -eq 3 ] || status=$code
  printf '\nsorting beside NumPy\n' >&$out
  if python=$(numpy_python); then
    "$python" bench/peers/sort_numpy.py "${both[@]}" "${sort[@]}" || status=$?
  else
    printf 'NumPy is not installed (package python3-numpy)\n' >&$out
  fi
  return $status
}

run_bench() {
  local peers= part= lists= rounds= threads= json= before= argument options=() status=0 out=1
  for argument in "$@"; do
    case $argument in
      --peers | --no-peers)
        peers=$argument
        continue
        ;;
      --quick) part=1 rounds=3 ;;
      --filter | --filter=* | --group | --group=*) part=1 ;;
      --list | --help | -h) lists=1 ;;
      --threads=*) threads=${argument#*=} ;;
      --json=*) json=${argument#*=} ;;
    esac
    case $before in
      --threads) threads=$argument ;;
      --json) json=$argument ;;
    esac
    before=$argument
    options+=("$argument")
  done
  [ -n "$peers$part" ] || peers=--peers
  [ -z "$lists" ] && [ "$peers" = --peers ] || peers=
  [ "$json" != - ] || out=2
  {
    need_packages build
    # What is missing afterwards is left out, so not being able to install it is no failure.
    [ -z "$peers" ] || has_peers || (need_packages peers) || true
    build_preset release bw_bench ${peers:+peer_gemm}
  } >&$out
  [ "${options[0]:-}" = -- ] && options=("${options[@]:1}")
  # The results name the commit they belong to, with -dirty if the tree has changes.
  BEESWAX_COMMIT=$(git rev-parse --short HEAD 2>/dev/null || echo unknown)
  [ -z "$(git status --porcelain 2>/dev/null)" ] || BEESWAX_COMMIT+=-dirty
  export BEESWAX_COMMIT
  [ -n "$peers" ] || exec build/bin/bw_bench "${options[@]}"
  build/bin/bw_bench "${options[@]}" || status=$?
  # More than 1: a mistake on the command line, or nothing could be measured or written.
  [ $status -le 1 ] || return $status
  run_peers "$rounds" "$threads" "$json" || status=$?
  return $status
}
