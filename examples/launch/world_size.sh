# To be sourced: par_world_size DIR.par prints the number of ranks that a package was compiled for.
par_world_size() {
  local size
  size=$(sed -n 's/.*"world_size": *\([0-9][0-9]*\).*/\1/p' "$1/manifest.json" 2>/dev/null | head -n 1)
  [ -n "$size" ] || { echo "error: ${1:-}: is no package; give DIR.par first" >&2; return 1; }
  echo "$size"
}
