# SPDX-License-Identifier: Apache-2.0
# The checks that read the sources without building them; shared by lint and test.

# The C++ sources under git's care, new ones included. Table rows (.def) keep their own columns, and Unicode's tables
# would take minutes.
formatted_files() {
  local file
  git ls-files --cached --others --exclude-standard '*.h' '*.cc' 'src/backends/*.inc' 'src/kernels/*.inc' | while read -r file; do
    if [ -f "$file" ]; then echo "$file"; fi
  done
}

# check_format FILE...: names the first place of each file that is not in the format.
check_format() {
  local complaints
  if complaints=$(clang-format-19 --dry-run --Werror "$@" 2>&1); then
    say "$# files are in the format"
    return 0
  fi
  printf '%s\n' "$complaints" | grep -E '^[^ ]+:[0-9]+:[0-9]+: ' | sort -u -t: -k1,1 | cut -d: -f1-3
  warn "the files above are not in the format: run ./dev format"
  return 1
}

step_format() {
  need_packages lint
  local files
  mapfile -t files < <(formatted_files)
  check_format "${files[@]}"
}

step_rings() { python3 tools/lint_rings.py; }
step_tree() { python3 tools/lint_tree.py; }
step_headers() { python3 tools/lint_headers.py --jobs "$(jobs_here)"; }
step_docs() { python3 tools/docs_tables.py --check; }
