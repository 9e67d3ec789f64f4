# SPDX-License-Identifier: Apache-2.0
# The distribution packages each command needs; need_packages installs those that are missing. (peers: what ./dev bench
# compares with.)
package_groups() {
  case $1 in
    build) echo g++ cmake ninja-build ccache python3 binutils libcli11-dev nlohmann-json3-dev libpcre2-dev libgtest-dev \
      clang-19 clang-tools-19 lld-19 llvm-19-dev zstd libzstd-dev ;;
    lint) echo clang-format-19 ;;
    tidy) echo clang-tidy-19 ;;
    fuzz) echo clang-19 libclang-rt-19-dev ;;
    hip) echo hipcc libamdhip64-dev libamdhip64-5 libhiprtc-builtins5 libamd-comgr2 ;;
    aarch64) echo qemu-user g++-aarch64-linux-gnu googletest ;;
    peers) echo libopenblas0-pthread python3-numpy ;;
    *) die 2 "no package group '$1'" ;;
  esac
}

# What ./dev test needs, and what ./dev test --full needs besides.
test_groups=(build lint)
full_groups=(tidy fuzz hip aarch64)

# The program that proves a package is there, for machines without dpkg. CMake or the compiler complains about
# the missing ones that hold no program.
package_program() {
  case $1 in
    clang-tools-19) echo clang-offload-bundler-19 ;;
    g++ | cmake | ccache | python3 | clang-* | hipcc) echo "$1" ;;
    ninja-build) echo ninja ;;
    binutils) echo nm ;;
    lld-19) echo ld.lld-19 ;;
    qemu-user) echo qemu-aarch64 ;;
    g++-aarch64-linux-gnu) echo aarch64-linux-gnu-g++ ;;
  esac
}

has_package() {
  if command -v dpkg-query >/dev/null; then
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
  else
    local program
    program=$(package_program "$1")
    [ -z "$program" ] || command -v "$program" >/dev/null
  fi
}

# need_packages GROUP...: returns at once when everything is there; else one apt-get update and one install.
need_packages() {
  local group package missing=()
  for group in "$@"; do
    for package in $(package_groups "$group"); do
      has_package "$package" || missing+=("$package")
    done
  done
  [ ${#missing[@]} -eq 0 ] && return 0
  if [ "${BEESWAX_NO_INSTALL:-0}" = 1 ] || ! command -v apt-get >/dev/null; then
    # Everything but the compiler cache is needed.
    [ "${missing[*]}" = ccache ] && return 0
    die 3 "missing: ${missing[*]} (install these packages, or what holds the same programs)"
  fi
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || die 3 "missing: ${missing[*]}; not root and no sudo: install them as root"
    as_root=(sudo)
  fi
  say "installing ${missing[*]}"
  local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300)
  "${apt[@]}" update || warn "apt-get update failed; trying with the lists that are there"
  "${apt[@]}" install -y --no-install-recommends "${missing[@]}" ||
    die 3 "could not install: ${missing[*]} (Debian 12 and Ubuntu 24.04 with universe have them all)"
}
