#!/bin/sh
# For servers without rooms of their own: what belongs to NAME is NAME itself and all that begins with NAME- or NAME. —
# never NAME_, since an environment may be called login_k3v9xa_b and its names must survive the end of login_k3v9xa.
# NAME-penv is the marker: create makes it, verify writes its canary to it, list shows the slices that have one.
# shellcheck source=contract/adapters/common.sh
. "$PENV_ADAPTERS/common.sh"

# penv_prefix_own NAME <NAMES: those of this slice, one per line.
penv_prefix_own() {
  awk -v name="$1" '$0 == name || index($0, name "-") == 1 || index($0, name ".") == 1'
}

# penv_prefix_slices <NAMES: the slices of penv that have a marker.
penv_prefix_slices() {
  sed -n 's/^\([a-z][a-z0-9_]*_[0-9a-hjkmnp-tv-z]\{6,\}\)-penv$/\1/p' | sort -u
}

# penv_prefix_crossings NAME <PAIRS "referrer thing": those where one side is this slice's and the other is not.
penv_prefix_crossings() {
  awk -v name="$1" '
    function own(thing) { return thing == name || index(thing, name "-") == 1 || index(thing, name ".") == 1 }
    NF == 2 && own($1) != own($2) { print $1 " -> " $2 }'
}

# penv_prefix_near NAME KIND <NAMES: names those that go on with _ and are left alone, because they may be somebody else's.
penv_prefix_near() (
  _near=$(awk -v name="$1" 'index($0, name "_") == 1')
  [ -z "$_near" ] || printf 'penv: left alone, since "_" may continue another id: %s %s\n  names of this environment begin with %s- or %s.\n' \
    "$2" "$(printf '%s' "$_near" | tr '\n' ' ')" "$1" "$1" >&2
)

# penv_prefix_check NAME MAX [TEMPLATE]: what every verb that changes something asks first.
penv_prefix_check() {
  penv_check_name "$1" "$2" && penv_check_own "$1" || return
  [ -z "${3:-}" ] || penv_fail "cannot create \"$1\" from \"$3\": a prefix has no templates"
}

# penv_prefix_has NAMES NAME: whether NAME is a line of NAMES.
penv_prefix_has() {
  case "
$1
" in
    *"
$2
"*) ;;
    *) return 1 ;;
  esac
}
