#!/bin/sh
# Removes what install.sh installed, and nothing else: sh install/uninstall.sh
#
#   --prefix DIR   the prefix that was given to install.sh (~/.local unless given; the own one when this file
#                  is the installed copy)
#   --help         print this
#
# The rc files are as they were before. The state directory of penv, with its ledger and data, stays.
set -eu
LC_ALL=C && export LC_ALL
unset CDPATH

here=$(cd -P "$(dirname "$0")" && pwd)
# shellcheck source=install/tree.sh
. "$here/tree.sh"
# shellcheck source=install/rc.sh
. "$here/rc.sh"

read_options() {
  prefix=''
  while [ $# -gt 0 ]; do
    case $1 in
      --prefix=*) prefix=${1#*=} && shift ;;
      --prefix)
        [ $# -ge 2 ] || usage "$1 needs a value"
        prefix=$2 && shift 2
        ;;
      -h | --help) print_help && exit 0 ;;
      *) usage "unknown option: $1" ;;
    esac
    [ -n "$prefix" ] || usage '--prefix needs a value'
  done
}

# Sets home and lib.
find_place() {
  case ${HOME:-} in /*) home=${HOME%/} ;; *) home='' ;; esac
  case $prefix in
    '' | /*) ;;
    \~ | \~/*) prefix=$home${prefix#\~} ;;
    *) prefix=$(pwd)/$prefix ;;
  esac
  if [ -n "$prefix" ]; then
    lib=$prefix/lib/penv
  elif has_manifest "${here%/*/*/*}"; then
    lib=${here%/*/*/*}
  else
    [ -n "$home" ] || fail 'HOME is not set: no place to look at' 'To name it, add: --prefix DIR'
    lib=$home/.local/lib/penv
  fi
  # Written as install.sh wrote it: no doubled slashes, symlinks as they are.
  if [ -d "$lib" ]; then lib=$(cd "$lib" && pwd); fi
}

# has_block RC: one of this installation; another prefix may have put its own there since.
has_block() { [ -f "$1" ] && [ -n "$(rc_find "$1" "$(rc_owner "$shown")")" ]; }

# Refuses before anything is removed.
check_rc_files() {
  while IFS= read -r rc; do
    has_block "$rc" || continue
    problem=$(rc_problem "$rc")
    [ -z "$problem" ] || fail "cannot take the block out of $rc: $problem" 'Nothing was removed.'
  done <<LIST
$rc_list
LIST
}

take_blocks() {
  while IFS= read -r rc; do
    [ -n "$rc" ] || continue
    rc_take "$rc" "$shown" "$scratch" || fail "cannot write $rc" 'To go on, run this again.'
    case $rc_outcome in
      already) report already "no block of it in $(show "$rc")" ;;
      deleted) report removed "$(show "$rc"), which was made for its block" ;;
      *) report removed "its block in $(show "$rc")" ;;
    esac
  done <<LIST
$rc_list
LIST
}

remove_launchers() {
  for name in penv git-penv; do
    if is_launcher "$bin/$name"; then
      rm -f "$bin/$name"
      report removed "$(show "$bin/$name")"
    elif [ -e "$bin/$name" ]; then
      report kept "$(show "$bin/$name"), which install.sh did not make"
    fi
  done
}

remove_tree() {
  for link in "$lib"/*; do
    [ -L "$link" ] || continue
    if [ "$(readlink "$link")" = "current/${link##*/}" ]; then rm -f "$link"; fi
  done
  rm -f "$lib/current" "$lib/previous"
  for version in "$lib"/versions/*; do
    if [ -d "$version" ]; then remove_version "$version"; fi
  done
  remove_leftovers "$lib" "$bin"
  remove_frame "$lib"
  if [ -d "$lib" ]; then
    report kept "$(show "$lib"), which holds files that install.sh did not make"
  else
    report removed "$(show "$lib")"
  fi
}

# The same places as the program looks at, DESIGN section 3.
report_state() {
  state=${PENV_HOME:-}
  if [ -z "$state" ]; then
    case ${XDG_STATE_HOME:-} in /*) state=$XDG_STATE_HOME/penv ;; *) state=$home/.local/state/penv ;; esac
  fi
  if [ -d "$state" ]; then
    report kept "$(show "$state"): the ledger, and the data of environments that were not destroyed"
  fi
}

main() {
  read_options "$@"
  find_place
  if ! has_manifest "$lib"; then
    is_free "$lib" || fail "$lib was not made by install.sh"
    remove_unplaced_frames "$lib"
    report already "nothing of penv in $(show "$lib")"
    report_state
    return 0
  fi
  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' EXIT
  trap 'exit 129' HUP
  trap 'exit 130' INT
  trap 'exit 143' TERM
  shown=$(sed -n 's/^shown //p' "$lib/manifest")
  bin=$(sed -n 's/^bin //p' "$lib/manifest")
  rc_list=$(sed -n 's/^rc //p' "$lib/manifest")
  check_rc_files
  take_blocks
  remove_launchers
  remove_tree
  report_state
}

# Read whole before it starts: the file itself may be among what it removes.
main "$@"
