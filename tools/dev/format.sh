# SPDX-License-Identifier: Apache-2.0
source tools/dev/checks.sh

help_format() {
  cat <<HELP
usage: ./dev format [--check] [FILE...]

Rewrites the C++ sources (all of them, or the named ones) with clang-format-19 and the repository's
.clang-format, and docs/operations.md from the tables.

  --check   change nothing; fail and name what is not as it should be

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
  need_packages build lint
  [ ${#files[@]} -gt 0 ] || mapfile -t files < <(formatted_files)
  if [ $check = yes ]; then
    check_format "${files[@]}"
    step_docs
  else
    clang-format-19 -i "${files[@]}"
    python3 tools/docs_tables.py
    say "formatted ${#files[@]} files"
  fi
}
