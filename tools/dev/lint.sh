# SPDX-License-Identifier: Apache-2.0
source tools/dev/cmake.sh
source tools/dev/checks.sh
source tools/dev/steps.sh

lint_steps=(format rings tree headers docs tidy-changed)

help_lint() {
  cat <<HELP
usage: ./dev lint [--all] [--only STEP]...

Reads the sources without running them: format, include rings, tree rules, header self-containment, the
generated documentation tables, and clang-tidy on the files that differ from the main branch. What was
clean before and has not changed since is not looked at again.

  --all         clang-tidy on every source
  --only STEP   one of: ${lint_steps[*]} tidy

Examples:
  ./dev lint
  ./dev lint --only rings
HELP
}

step_tidy_changed() { need_packages tidy; configure_preset release; python3 tools/lint_tidy.py --jobs "$(jobs_here)"; }

run_lint() {
  local steps=() chosen=("${lint_steps[@]}")
  while [ $# -gt 0 ]; do
    case $1 in
      --all) chosen=("${lint_steps[@]/tidy-changed/tidy}") ;;
      --only)
        case " ${lint_steps[*]} tidy " in
          *" ${2:-} "*) steps+=("$2") ;;
          *) die 2 "lint: --only needs one of: ${lint_steps[*]} tidy" ;;
        esac
        shift
        ;;
      *) die 2 "lint: unknown option '$1' (see ./dev lint --help)" ;;
    esac
    shift
  done
  [ ${#steps[@]} -gt 0 ] || steps=("${chosen[@]}")
  need_packages build lint
  run_steps "$root/build/results" yes "${steps[@]}"
}
