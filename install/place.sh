# shellcheck shell=sh disable=SC2154
# The writing steps of install.sh, in the order in which they are taken. Each can be interrupted at any point: what
# runs next to it sees the old penv or the new one, whole. Needs tree.sh, rc.sh, and the variables that install.sh
# sets: source lib bin home node shell rc_list scratch.

# Notes what uninstall.sh has to undo, before it is done; then makes the directories.
write_manifest() {
  missing=''
  while IFS= read -r dir; do
    while [ -n "$dir" ] && [ ! -d "$dir" ]; do
      missing="${missing}dir $dir
"
      dir=${dir%/*}
    done
  done <<DIRS
$bin
$lib
$(print_rc_directories)
DIRS
  {
    printf '%s\n' "$manifest_header"
    {
      if [ -f "$lib/manifest" ]; then sed -e 1d -e '/^shown /d' -e '/^bin /d' "$lib/manifest"; fi
      printf 'shown %s\nbin %s\n%s' "$(show "$lib")" "$bin" "$missing"
      printf '%s\n' "$rc_list" | sed -n 's/^./rc &/p'
    } | sort -u
  } >"$scratch/manifest"
  if ! cmp -s "$scratch/manifest" "$lib/manifest"; then place_manifest; fi
  mkdir -p "$bin" "$lib/versions"
}

# The topmost of the missing directories comes into being with the manifest in it.
place_manifest() {
  top=$(find_top_missing "$lib")
  if [ -z "$top" ]; then
    cp "$scratch/manifest" "$lib/.manifest.$$"
    mv -f "$lib/.manifest.$$" "$lib/manifest"
    return 0
  fi
  frame=$top.penv.$$
  mkdir -p "$frame${lib#"$top"}" || fail "cannot make $lib"
  cp "$scratch/manifest" "$frame${lib#"$top"}/manifest"
  if rename "$frame" "$top" 2>/dev/null; then
    frame=''
    return 0
  fi
  # Another install was first: what it has noted stays noted.
  remove_unplaced "$frame"
  frame=''
  has_manifest "$lib" || fail "cannot make $lib"
  write_manifest
}

# rename FROM TO: where TO is a directory or a link to one, mv would move FROM into it.
rename() { node -e 'fs.renameSync(process.argv[1], process.argv[2])' -- "$1" "$2"; }

print_rc_directories() {
  while IFS= read -r rc; do
    if [ -n "$rc" ]; then dirname "$(rc_target "$rc")"; fi
  done <<LIST
$rc_list
LIST
}

list_files() (cd "$1" && shift && find "$@" -type f | sort)
list_sums() (cd "$1" && shift && find "$@" -type f -exec cksum {} + | sort)

# is_current PART...: the version in place has the files of $scratch/files with the content of $scratch/sums.
is_current() {
  [ -f "$lib/current/.files" ] && cmp -s "$scratch/files" "$lib/current/.files" &&
    list_sums "$lib/current" "$@" >"$scratch/sums-there" 2>/dev/null &&
    [ -z "$(comm -23 "$scratch/sums" "$scratch/sums-there")" ]
}

# place_version PART...: copies the parts to a directory of their own, then lets current point at it.
place_version() {
  version=$(node -p 'require(process.argv[1]).version' -- "$source/package.json")
  list_files "$source" "$@" >"$scratch/files"
  list_sums "$source" "$@" >"$scratch/sums"
  if is_current "$@"; then
    report already "$(show "$lib") (penv $version)"
    return 0
  fi
  node --check "$source/dist/penv.cjs" ||
    fail "$source/dist/penv.cjs is damaged" 'To build it anew, run: npm ci && npm run build'
  stage=$lib/versions/$version.$$ again=0
  while ! mkdir "$stage" 2>/dev/null; do
    [ -d "$stage" ] || fail "cannot write to $lib/versions"
    again=$((again + 1)) stage=$lib/versions/$version.$again.$$
  done
  cp "$scratch/files" "$stage/.files"
  for part in "$@"; do cp -R "$source/$part" "$stage/$part"; done
  chmod -R u=rwX,go=rX "$stage"
  chmod 755 "$stage/dist/penv.cjs"
  list_sums "$stage" "$@" >"$scratch/sums-there"
  cmp -s "$scratch/sums" "$scratch/sums-there" || fail "the copy in $stage is not complete"
  if [ -L "$lib/current" ]; then
    ln -s "$(readlink "$lib/current")" "$lib/.previous.$$"
    rename "$lib/.previous.$$" "$lib/previous"
  fi
  ln -s "versions/${stage##*/}" "$lib/.current.$$"
  rename "$lib/.current.$$" "$lib/current"
  stage=''
  report installed "$(show "$lib") (penv $version)"
}

# place_links PART...
place_links() {
  for part in "$@"; do
    # -n: another install may just have made it, and then ln would make one inside.
    [ -L "$lib/$part" ] || ln -sn "current/$part" "$lib/$part" 2>/dev/null || [ -L "$lib/$part" ] ||
      fail "cannot make $lib/$part"
  done
}

# place_launcher NAME
place_launcher() {
  quoted_node=$(rc_word sh "$node")
  quoted_main=$(rc_word sh "$lib/dist/penv.cjs")
  cat >"$scratch/launcher" <<LAUNCHER
#!/bin/sh
$launcher_mark
# Starts it with the Node that installed it, so that an older one of a project does not; else with the one on PATH.
node=$quoted_node
[ -x "\$node" ] || node=node
exec "\$node" --preserve-symlinks-main $quoted_main "\$@"
LAUNCHER
  if [ -x "$bin/$1" ] && cmp -s "$scratch/launcher" "$bin/$1"; then
    report already "$(show "$bin/$1")"
    return 0
  fi
  cp "$scratch/launcher" "$bin/.penv.$$"
  chmod 755 "$bin/.penv.$$"
  mv -f "$bin/.penv.$$" "$bin/$1"
  report installed "$(show "$bin/$1")"
}

# place_block RC
place_block() {
  mkdir -p "$(dirname "$(rc_target "$1")")"
  rc_put "$1" "$shell" "$(rc_word "$shell" "$bin" "$home")" "$(show "$lib")" "$scratch" ||
    fail "cannot write $1; penv itself is installed"
  case $rc_outcome in
    already) report already "$(show "$1") puts $(show "$bin") on PATH" ;;
    *) report "$rc_outcome" "a block in $(show "$1") that puts $(show "$bin") on PATH" ;;
  esac
}
