# SPDX-License-Identifier: Apache-2.0
source tools/dev/checks.sh

help_format() {
  cat <<HELP
usage: ./dev format [--check] [FILE...]

Rewrites the C++ sources (all of them, or the named ones) with clang-format-19 and the repository's
.clang-format.

  --check   change nothing; fail and name the files that are not in the format

Examples:
  ./dev format
  ./dev format --check
HELP
}

run_format() {
  local check=no files=()
  for argument in "$@"; do
    case $argument in
      --check) check=yes ;;
      -*) die 2 "format: unknown option '$argument' (see ./dev format --help)" ;;
      *) files+=("$argument") ;;
    esac
  done
  need_packages lint
  [ ${#files[@]} -gt 0 ] || mapfile -t files < <(formatted_files)
  if [ $check = yes ]; then
    clang-format-19 --dry-run --Werror "${files[@]}" || die 1 "run ./dev format"
    say "${#files[@]} files are in the format"
  else
    clang-format-19 -i "${files[@]}"
    say "formatted ${#files[@]} files"
  fi
}
