# Shell functions that the README's two commands share: Debian packages, then a build into build/.
# To be sourced by bash with `root` set to the project's folder.

# What the build and the tests need on Debian 12 and 13.
par_packages=(clang-19 lld-19 llvm-19-dev llvm-19-tools libmlir-19-dev mlir-19-tools libclang-rt-19-dev cmake ninja-build ccache
  libgtest-dev libdnnl-dev libopenmpi-dev openmpi-bin nlohmann-json3-dev libcli11-dev libtomlplusplus-dev libpcre2-dev libutf8proc-dev coinor-libcbc-dev python3)

par_say() { printf '== %s\n' "$*"; }
par_fail() { printf 'error: %s\n' "$*" >&2; exit 1; }

# Prints the packages that are not installed.
par_missing_packages() {
  local package
  for package in "${par_packages[@]}"; do
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || echo "$package"
  done
}

# Installs what is missing; apt is not touched when nothing is.
par_install_packages() {
  command -v dpkg-query >/dev/null || par_fail "no dpkg-query here: packages are installed with apt; use Debian 12 or 13"
  local missing as_root=(env DEBIAN_FRONTEND=noninteractive)
  mapfile -t missing < <(par_missing_packages)
  [ ${#missing[@]} -gt 0 ] || return 0
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null ||
      par_fail "Debian packages are missing and this user is not root and has no sudo; let root run: apt-get install ${missing[*]}"
    as_root=(sudo "${as_root[@]}")
  fi
  par_say "installing ${#missing[@]} Debian packages: ${missing[*]}"
  "${as_root[@]}" apt-get update -q ||
    par_fail "apt-get update failed (its message is above); repair the package sources and run again"
  "${as_root[@]}" apt-get install -qy --no-install-recommends "${missing[@]}" ||
    par_fail "apt-get install failed (its message is above); par needs Debian 12 or 13 with: ${missing[*]}"
}

# par_build [target...]: configures build/ and builds the targets (default: everything).
par_build() {
  local log=$root/build/build.log
  mkdir -p "$root/build"
  par_say "configuring build/"
  "$root/test/configure.sh" "$root/build" >"$log" 2>&1 ||
    { tail -n 20 "$log" >&2; par_fail "cmake failed; its whole output is in $log"; }
  export CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime CCACHE_BASEDIR=$root
  par_say "building into build/ (a clean build takes some minutes)"
  if ! NINJA_STATUS='[%f/%t] ' ninja -C "$root/build" "$@" 2>&1 | par_progress "$log"; then
    grep -A8 -E 'error:|FAILED' "$log" | head -n 40 >&2
    par_fail "the build failed; its whole output is in $log"
  fi
}

# Copies ninja's output to the log $1 and shows every tenth part of it.
par_progress() {
  awk -v log_file="$1" '
    { print >> log_file }
    match($0, /^\[[0-9]+\/[0-9]+\]/) {
      split(substr($0, 2, RLENGTH - 2), step, "/"); part = int(10 * step[1] / step[2])
      if (part != shown) { printf "   %d of %d\n", step[1], step[2]; fflush(); shown = part }
    }'
}
