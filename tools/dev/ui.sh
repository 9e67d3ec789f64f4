# SPDX-License-Identifier: Apache-2.0
# What ./dev says: messages, colour (on a terminal only), numbered steps with elapsed time, and the table at
# the end. Steps are functions step_<name>; each line of $step_record is "name<TAB>seconds<TAB>status".
if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then
  bold=$'\e[1m' red=$'\e[31m' green=$'\e[32m' dim=$'\e[2m' plain=$'\e[0m'
else
  bold='' red='' green='' dim='' plain=''
fi

say() { printf '%s\n' "$*"; }
warn() { printf '%s\n' "${red}dev: $*${plain}" >&2; }
die() {
  local code=$1
  shift
  warn "$*"
  exit "$code"
}

# 75 -> 1:15
clock() { printf '%d:%02d' $(($1 / 60)) $(($1 % 60)); }

# The number of compile jobs: one for each core this process may use, less where memory is short.
jobs_here() {
  local cores memory_gib
  cores=$(nproc)
  memory_gib=$(awk '/MemAvailable/ {print int($2 / 1048576)}' /proc/meminfo 2>/dev/null || echo 8)
  local by_memory=$((memory_gib > 1 ? memory_gib : 1))
  printf '%s' "${BEESWAX_JOBS:-$((cores < by_memory ? cores : by_memory))}"
}

# run_steps RESULTS KEEP_GOING step...: runs the steps in order and prints the table. RESULTS is a folder for
# the steps' records. Returns 1 if any step failed, 3 or 4 if one ended the run so. step_about gives one line on each step.
run_steps() {
  local results=$1 keep_going=$2
  shift 2
  local total=$# number=0 began=$SECONDS failed=0
  rm -rf "$results"
  mkdir -p "$results"
  local step_record=$results/steps.tsv
  : >"$step_record"
  export BEESWAX_RESULTS=$results
  for step in "$@"; do
    number=$((number + 1))
    say "${bold}[$number/$total] $step${plain}: $(step_about "$step") ${dim}($(clock $((SECONDS - began))) so far)${plain}"
    local step_began=$SECONDS status=ok
    # Not inside a condition: bash would then ignore `set -e` in the step.
    set +e
    (
      set -e
      "step_${step//-/_}"
    )
    local code=$?
    set -e
    if [ $code -ne 0 ]; then
      status=FAILED
      failed=1
      warn "step $step failed (exit status $code); again alone: ./dev $command --only $step"
    fi
    printf '%s\t%s\t%s\n' "$step" $((SECONDS - step_began)) $status >>"$step_record"
    if [ $failed -ne 0 ] && [ "$keep_going" = no ]; then break; fi
    # Without the packages or the program there is nothing to go on with.
    if [ $code -eq 3 ] || [ $code -eq 4 ]; then
      failed=$code
      break
    fi
  done
  python3 tools/dev/summary.py "$results" || failed=$((failed > 1 ? failed : 1))
  return $failed
}
