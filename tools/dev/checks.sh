# SPDX-License-Identifier: Apache-2.0
# The checks that read the sources without building them; shared by lint and test.

# The C++ sources under git's care, new ones included. Table rows (.def) keep their own columns.
formatted_files() {
  local file
  git ls-files --cached --others --exclude-standard '*.h' '*.cc' | while read -r file; do
    if [ -f "$file" ]; then echo "$file"; fi
  done
}

step_format() {
  need_packages lint
  local files
  mapfile -t files < <(formatted_files)
  clang-format-19 --dry-run --Werror "${files[@]}" || {
    warn "run ./dev format"
    return 1
  }
  say "${#files[@]} files are in the format"
}

step_rings() { python3 tools/lint_rings.py; }
step_tree() { python3 tools/lint_tree.py; }
step_headers() { python3 tools/lint_headers.py --jobs "$(jobs_here)"; }
step_docs() { python3 tools/docs_tables.py --check; }
