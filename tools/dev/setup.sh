# SPDX-License-Identifier: Apache-2.0
help_setup() {
  cat <<HELP
usage: ./dev setup [--full]

Installs the distribution packages that building and testing need and that are not there yet, with
apt-get (through sudo when you are not root). Nothing else is downloaded.

  --full   also what ./dev test --full needs: clang-19 (fuzzing), clang-tidy-19, hipcc and hiprtc, the
           aarch64 cross compiler and qemu-user

Examples:
  ./dev setup
  BEESWAX_NO_INSTALL=1 ./dev setup    # only say what is missing
HELP
}

run_setup() {
  local groups=("${test_groups[@]}")
  for argument in "$@"; do
    case $argument in
      --full) groups+=("${full_groups[@]}") ;;
      *) die 2 "setup: unknown option '$argument' (see ./dev setup --help)" ;;
    esac
  done
  need_packages "${groups[@]}"
  say "everything is installed: $(g++ --version | head -n 1), $(cmake --version | head -n 1)"
}
