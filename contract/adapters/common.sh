#!/bin/sh
# What every adapter needs: messages, names that are this environment's, percent-encoding. Source an adapter, not this.
# Verbs run in scripts under `set -eu`, and inside `if` and `||`, where errexit is off: check each step, never rely on it.

# penv_fail MESSAGE: one line on stderr, status 1.
penv_fail() {
  printf 'penv: %s\n' "$1" >&2
  return 1
}

# penv_need "CLIENT [CLIENT...]" HOW: prints the first client that is on PATH, or says how to get one.
penv_need() (
  for _client in $1; do
    if command -v "$_client" >/dev/null 2>&1; then
      printf '%s\n' "$_client"
      exit 0
    fi
  done
  penv_fail "no client for this server: $1 not found
  To get it, $2"
)

# penv_check_name NAME MAX: lower case, digits and _, starting with a letter, at most MAX bytes: no server changes such a name.
# In C's locale, since a-z holds capitals in others.
penv_check_name() (
  LC_ALL=C
  case $1 in
    '' | [!a-z]* | *[!a-z0-9_]*)
      penv_fail "\"$1\" is not a name: use a-z, 0-9 and _, starting with a letter" || exit 1
      ;;
  esac
  [ "${#1}" -le "$2" ] || penv_fail "the name \"$1\" has ${#1} bytes: the server takes $2"
)

# penv_is_own NAME: the name carries this environment's id, as a whole word between _, - or . or the ends.
penv_is_own() (
  [ -n "${PENV_ID:-}" ] || exit 1
  case _$(printf '%s' "$1" | tr '.-' '__')_ in
    *"_${PENV_ID}_"*) exit 0 ;;
  esac
  exit 1
)

# penv_check_own NAME: says so when it is not.
penv_check_own() {
  penv_is_own "$1" ||
    penv_fail "\"$1\" is not this environment's: it does not carry the id ${PENV_ID:-(PENV_ID is not set)}"
}

# penv_mark NAME: what an adapter writes on the slice so that list knows it; empty for a name that is neither.
penv_mark() {
  case $1 in
    penv_tpl_?*) printf 'penv template\n' ;;
    *) if penv_is_own "$1"; then printf 'penv %s\n' "$PENV_ID"; fi ;;
  esac
}

# penv_check_template NAME: drop_template takes nothing else.
penv_check_template() {
  case $1 in
    penv_tpl_?*) penv_check_name "$1" 63 ;;
    *) penv_fail "\"$1\" is not a template: templates are named penv_tpl_…" ;;
  esac
}

# penv_encode VALUE: percent-encoded for any part of a URL.
penv_encode() (
  printf '%s' "$1" | LC_ALL=C od -An -v -tx1 | LC_ALL=C awk '
    { for (i = 1; i <= NF; i++) {
        hex = toupper($i)
        code = (index("0123456789ABCDEF", substr(hex, 1, 1)) - 1) * 16 + index("0123456789ABCDEF", substr(hex, 2, 1)) - 1
        char = sprintf("%c", code)
        printf "%s", char ~ /[A-Za-z0-9._~-]/ ? char : "%" hex
      } }'
)

# penv_decode VALUE: the reverse.
penv_decode() (
  printf '%s' "$1" | LC_ALL=C awk '
    { rest = $0
      while ((at = index(rest, "%")) > 0 && length(rest) >= at + 2) {
        hex = toupper(substr(rest, at + 1, 2))
        code = (index("0123456789ABCDEF", substr(hex, 1, 1)) - 1) * 16 + index("0123456789ABCDEF", substr(hex, 2, 1)) - 1
        printf "%s%c", substr(rest, 1, at - 1), code
        rest = substr(rest, at + 3)
      }
      printf "%s", rest }'
)
