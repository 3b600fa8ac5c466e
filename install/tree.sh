# shellcheck shell=sh disable=SC2034
# What install.sh makes below a prefix and uninstall.sh takes away again. Sourced by both; changes nothing by itself.
#
#   bin/penv bin/git-penv        launchers
#   lib/penv/manifest            written before anything that it names: lines "bin", "shown", "dir", "rc"
#   lib/penv/versions/<v>.<pid>  one whole copy of penv, with the list of its files in .files
#   lib/penv/current             symlink to one of them: renaming it is the moment at which an install happens
#   lib/penv/previous            symlink to the one before, which stays: a penv that is still running may be from there
#   lib/penv/dist contract ...   symlinks through current, so that no path changes with the version

manifest_header='penv-manifest 1'
launcher_mark='# penv launcher, made by install.sh; uninstall.sh removes it.'

# fail MESSAGE [HINT]: nothing more is done.
fail() {
  printf 'penv: %s\n' "$1" >&2
  [ -z "${2:-}" ] || printf '  %s\n' "$2" >&2
  exit 1
}

usage() {
  printf 'penv: %s\n  To see the options, run: sh %s --help\n' "$1" "$0" >&2
  exit 2
}

# The help is the comment that a script begins with.
print_help() { sed -n -e '2,/^[^#]/{' -e '/^[^#]/d' -e 's/^# \{0,1\}//p' -e '}' "$0"; }

report() { printf '%-10s%s\n' "$1" "$2"; }

# show PATH: as people write it, with ~ for the home directory.
show() {
  case ${home:-} in
    '' | /) printf '%s\n' "$1" ;;
    *) case $1 in "$home"/*) printf '~%s\n' "${1#"$home"}" ;; *) printf '%s\n' "$1" ;; esac ;;
  esac
}

# has_manifest LIB: install.sh made this directory.
has_manifest() { [ -f "$1/manifest" ] && [ "$(head -n 1 "$1/manifest")" = "$manifest_header" ]; }

# is_free LIB: nothing is there, or only what an install left that was killed before its manifest stood.
is_free() {
  [ -e "$1" ] || [ -L "$1" ] || return 0
  [ -d "$1" ] && [ -z "$(find "$1/." ! -name . ! -name '.manifest.[0-9]*' | head -n 1)" ]
}

is_launcher() { [ -f "$1" ] && sed -n 2p "$1" | grep -Fx -e "$launcher_mark" >/dev/null; }

# is_left_behind PATH: the process whose id PATH ends in is gone, or is this one.
is_left_behind() {
  case ${1##*.} in '' | *[!0-9]*) return 1 ;; esac
  [ "${1##*.}" = "$$" ] || ! kill -0 "${1##*.}" 2>/dev/null
}

# remove_version DIR: the files that were installed there; what else is in it stays.
remove_version() {
  if [ -f "$1/.files" ]; then
    while IFS= read -r file; do rm -f "$1/$file"; done <"$1/.files"
    rm -f "$1/.files"
  fi
  find "$1" -depth -type d -exec rmdir {} \; 2>/dev/null || :
}

# find_top_missing DIR: the topmost directory that has to be made for it, or nothing.
find_top_missing() {
  top='' dir=$1
  while [ -n "$dir" ] && [ ! -d "$dir" ]; do top=$dir dir=${dir%/*}; done
  printf '%s\n' "$top"
}

# remove_unplaced FRAME: directories with a manifest in them that were not put in place.
remove_unplaced() {
  find "$1" -type f -name manifest -exec rm -f {} +
  find "$1" -depth -type d -exec rmdir {} +
}

# remove_unplaced_frames LIB: of installs that were interrupted before there was a LIB.
remove_unplaced_frames() {
  for left in "$(find_top_missing "$1")".penv.*; do
    if [ -d "$left" ] && is_left_behind "$left"; then remove_unplaced "$left"; fi
  done
}

# remove_leftovers LIB BIN: of installs that were interrupted, and versions that were replaced.
remove_leftovers() {
  used=" $(readlink "$1/current" || :) $(readlink "$1/previous" || :) "
  for left in "$1"/.manifest.* "$1"/.current.* "$1"/.previous.* "$2"/.penv.* "$1"/versions/*.*; do
    is_left_behind "$left" || continue
    if [ -L "$left" ] || [ -f "$left" ]; then
      rm -f "$left"
    elif [ -d "$left" ]; then
      case $used in *" versions/${left##*/} "*) ;; *) remove_version "$left" ;; esac
    fi
  done
}

# remove_frame LIB: the manifest, and the directories that were made, where they hold nothing else. The last ones go
# in one step, by leaving their place together with the manifest.
# shellcheck disable=SC2012 # how many entries, not which
remove_frame() {
  rmdir "$1/versions" 2>/dev/null || :
  made=$(sed -n 's/^dir //p' "$1/manifest" | sort -r)
  while IFS= read -r dir; do
    case $1/ in "$dir"/*) ;; *) rmdir "$dir" 2>/dev/null || : ;; esac
  done <<DIRS
$made
DIRS
  top='' dir=$1
  while [ "$(($(ls -A "$dir" | wc -l)))" -eq 1 ] && printf '%s\n' "$made" | grep -Fx -e "$dir" >/dev/null; do
    top=$dir dir=${dir%/*}
  done
  if [ -z "$top" ]; then
    rm -f "$1/manifest"
  else
    mv "$top" "$top.penv.$$"
    remove_unplaced "$top.penv.$$"
  fi
}
