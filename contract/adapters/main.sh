#!/bin/sh
# main: what the main checkout says in its env files, for scripts that use the same servers and settings. It only reads.
#   . "$PENV_ADAPTERS/main.sh"; main_reads .env.example .env     of two files that say it, the later one goes first
#   main_value KEY [DEFAULT]     the value, quotes and comment taken off and ${OTHER} looked up
#   main_pairs KEY...            those that are not empty, as lines for penv env
#   main_export KEY...           the same for the programs that this script calls
#   main_server KEY [HOST PORT [USER PASSWORD]]      sets main_host, main_port, main_user, main_password from a URL,
#   main_server_parts HOST_KEY PORT_KEY USER_KEY PASSWORD_KEY [HOST PORT [USER PASSWORD]]      or from a key for each.
#   main_address KEY [DEFAULT]   a URL or host:port as it stands
# The last three take what is given for what main does not say; then examples do not count. They leave out a server on
# another machine, since nobody has said that databases may be made there: main_reaches HOST... says so.
# Without a main checkout (a bare repository) the files of the worktree are read.
# shellcheck source=contract/adapters/http.sh
. "$PENV_ADAPTERS/http.sh"

# Reads as dotenv does: a quoted value may have several lines, and an unquoted one ends at " #".
# shellcheck disable=SC2016 # this is awk
_main_awk='
  { sub(/\r$/, ""); lines[NR] = $0 }
  END {
    for (at = 1; at <= NR; at++) {
      line = lines[at]
      if (line !~ /^[ \t]*(export[ \t]+)?[A-Za-z_][A-Za-z0-9_]*[ \t]*=/) continue
      key = substr(line, 1, index(line, "=") - 1)
      sub(/^[ \t]*(export[ \t]+)?/, "", key); sub(/[ \t]+$/, "", key)
      rest = substr(line, index(line, "=") + 1)
      sub(/^[ \t]+/, "", rest)
      quote = substr(rest, 1, 1)
      if (index("\"`" single, quote) == 0 || rest == "") quote = ""
      if (quote != "") {
        text = substr(rest, 2); upto = at
        while ((close_at = end_of(text, quote)) == 0 && upto < NR) text = text "\n" lines[++upto]
        if (close_at > 0) { rest = substr(text, 1, close_at - 1); at = upto } else quote = ""
      }
      if (quote == "") { sub(/([ \t]+#.*|^#.*|[ \t]+)$/, "", rest) }
      if (quote == "\"") gsub(/\\n/, "\n", rest)
      values[key] = rest; is_plain[key] = quote == single
    }
    count = split(wanted, keys, " ")
    for (n = 1; n <= count; n++) {
      value = expand(keys[n], 5)
      if (form == "value") printf "%s", value
      else if (value != "") {
        quote = index(value, single) > 0 ? "\"" : single
        printf "%s=%s%s%s\n", keys[n], quote, value, quote
      }
    }
  }
  function end_of(text, quote,   from, found) {
    for (from = 0; (found = index(substr(text, from + 1), quote)) > 0; from += found)
      if (substr(text, from + found - 1, 1) != "\\") return from + found
    return 0
  }
  function expand(key, depth,   value, done, name, other, fallback) {
    value = key in values ? values[key] : ENVIRON[key]
    if (is_plain[key]) return value
    if (depth == 0) return ""
    done = ""
    while (match(value, /[$][{][A-Za-z_][A-Za-z0-9_]*(:?-[^}]*)?[}]/)) {
      name = substr(value, RSTART + 2, RLENGTH - 3); fallback = ""
      done = done substr(value, 1, RSTART - 1); value = substr(value, RSTART + RLENGTH)
      if (match(name, /:?-/)) { fallback = substr(name, RSTART + RLENGTH); name = substr(name, 1, RSTART - 1) }
      other = name == key ? "" : expand(name, depth - 1)
      done = done (other == "" ? fallback : other)
    }
    return done value
  }'

# _main_files [real]: those that are there; "real" leaves out examples.
_main_files() (
  cd "${PENV_MAIN:-$PENV_ROOT}" || exit 1
  for _file in ${_main_reads:-.env}; do
    case ${1:-}:${_file##*/} in
      real:*[._-]example | real:*[._-]sample | real:*[._-]template | real:*[._-]dist | real:*[._-]default*) ;;
      real:example[._-]* | real:sample[._-]* | real:template[._-]*) ;;
      *) if [ -f "$_file" ]; then cat "$_file" && echo; fi ;;
    esac
  done
)

# _main_read value|pairs KEYS <FILES
_main_read() {
  LC_ALL=C awk -v form="$1" -v wanted="$2" -v single="'" "$_main_awk"
}

main_reads() {
  _main_reads="$*"
}

main_reaches() {
  _main_reaches=" $* "
}

main_value() (
  _said=$(_main_files | _main_read value "$1")
  printf '%s\n' "${_said:-${2:-}}"
)

main_pairs() (
  _main_files | _main_read pairs "$*"
)

main_export() {
  for _main_key; do
    _main_text=$(_main_said "$_main_key")
    [ -z "$_main_text" ] || export "$_main_key=$_main_text"
  done
}

# _main_said KEY [real]: as main_value, without a default.
_main_said() (
  _main_files "${2:-}" | _main_read value "$1"
)

# shellcheck disable=SC2034 # these are for the script that sources this
_main_set() {
  main_host=$1 main_port=$2 main_user=$3 main_password=$4
}

main_server() {
  _main_url=$(_main_said "$1" "${2:+real}")
  _main_url=${_main_url%%[?#]*}
  _main_at=$(_main_place "$_main_url")
  if _main_is_near "$1" "$_main_at" "${2:-}"; then
    _main_set "$(_main_host "$_main_at")" "$(_main_port "$_main_at")" "$(penv_url_user "$_main_url")" "$(penv_url_password "$_main_url")"
  else
    _main_set "${2:-}" "${3:-}" "${4:-}" "${5:-}"
  fi
}

main_server_parts() {
  _main_at=$(_main_said "$1" "${5:+real}")
  _main_at=${_main_at:-${5:-}}
  if [ -n "$_main_at" ] && ! _main_is_near "$1" "$_main_at" "${5:-}"; then
    _main_set "${5:-}" "${6:-}" "${7:-}" "${8:-}"
    return
  fi
  _main_set "$_main_at" "$(_main_said "$2" "${5:+real}")" "$(_main_said "$3" "${5:+real}")" "$(_main_said "$4" "${5:+real}")"
  _main_set "$main_host" "${main_port:-${6:-}}" "${main_user:-${7:-}}" "${main_password:-${8:-}}"
}

main_address() (
  _url=$(_main_said "$1" "${2:+real}")
  _default=$(_main_place "${2:-}")
  if _main_is_near "$1" "$(_main_place "$_url")" "$(_main_host "$_default")"; then
    printf '%s\n' "$_url"
  else
    printf '%s\n' "${2:-}"
  fi
)

# _main_place URL: host:port of a URL, or of the first of a list.
_main_place() (
  _at=${1%%[?#,]*}
  case $_at in
    *://*) _at=${_at#*://} ;;
  esac
  _at=${_at%%/*}
  printf '%s\n' "${_at##*@}"
)

_main_host() (
  case $1 in
    *']'*) _host=${1%%']'*} && printf '%s\n' "${_host#'['}" ;;
    *) printf '%s\n' "${1%%:*}" ;;
  esac
)

_main_port() (
  case ${1##*']'} in
    *:*) printf '%s\n' "${1##*:}" ;;
  esac
)

# _main_is_near KEY PLACE [HOST]: PLACE is on this machine, or HOST, or one that main_reaches has named.
_main_is_near() (
  _host=$(_main_host "$2")
  case $_host in
    '') exit 1 ;;
    localhost | *.localhost | 127.* | 0.0.0.0 | ::1) exit 0 ;;
  esac
  [ "$_host" != "${3:-}" ] || exit 0
  case ${_main_reaches:-} in
    *" $_host "*) exit 0 ;;
  esac
  # A name without a dot is one inside of a compose project.
  case $_host in
    *.*) printf 'penv: %s of the main checkout leads to %s, which is another machine: not used\n  To use it, write into .preview/servers.sh: main_reaches %s\n' "$1" "$_host" "$_host" >&2 ;;
  esac
  exit 1
)
