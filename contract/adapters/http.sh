#!/bin/sh
# Requests by curl for the adapters whose server speaks HTTP. A login travels on stdin, never on a command line.
# shellcheck source=contract/adapters/common.sh
. "$PENV_ADAPTERS/common.sh"

# penv_quote TEXT: TEXT between double quotes, as curl's configuration reads it (JSON's escapes are the same).
penv_quote() (
  printf '"%s"' "$(printf '%s' "$1" | sed 's/[\\"]/\\&/g')"
)

# penv_http GOAL METHOD URL [BODY] <LOGIN: the body of the answer. LOGIN is lines of curl's configuration.
# Status 0 for an answer of 200 to 299, 4 for 404 without a word, 7 where nothing listens, else 1 with a message.
penv_http() (
  penv_need curl 'install curl: apt-get install curl, or brew install curl' >/dev/null || exit 1
  _goal=$1 _status=0
  _address=${3#*://}
  _address=${_address%%/*}
  _answer=$({
    cat
    printf 'request = %s\nurl = %s\n' "$(penv_quote "$2")" "$(penv_quote "$3")"
    [ -z "${4:-}" ] || printf 'header = "content-type: application/json"\ndata-raw = %s\n' "$(penv_quote "$4")"
  } | curl -q -sS -g --connect-timeout 5 --max-time 60 -w '\n%{http_code}' -K - 2>&1) || _status=$?
  _code=${_answer##*
}
  _answer=${_answer%
*}
  case $_status$_code in
    02??) [ -z "$_answer" ] || printf '%s\n' "$_answer" ;;
    0404) exit 4 ;;
    0401) penv_fail "cannot $_goal on $_address: the server refuses the login (HTTP 401): $(_penv_brief "$_answer")" ;;
    0403) penv_fail "cannot $_goal on $_address: access denied (HTTP 403): $(_penv_brief "$_answer")" ;;
    0*) penv_fail "cannot $_goal on $_address: HTTP $_code: $(_penv_brief "$_answer")" ;;
    7*) penv_fail "cannot $_goal on $_address: $(_penv_brief "$_answer")" || exit 7 ;;
    *) penv_fail "cannot $_goal on $_address: $(_penv_brief "$_answer")" ;;
  esac
)

# The first words of an answer, on one line, without the number that curl puts before its own.
_penv_brief() (
  printf '%s' "$1" | tr '\n\r\t' '   ' | sed -e 's/^curl: ([0-9]*) //' -e 's/  */ /g' -e 's/^\(.\{300\}\).*/\1 …/' -e 's/ $//'
)

# penv_url_base URL: without the login and the last slash.
penv_url_base() (
  _rest=${1#*://}
  _host=${_rest%%/*}
  printf '%s://%s%s\n' "${1%%://*}" "${_host##*@}" "$(printf '%s' "${_rest#"$_host"}" | sed 's,/*$,,')"
)

# penv_url_user URL, penv_url_password URL: decoded; empty where the URL has none.
penv_url_user() (
  _login=$(_penv_url_login "$1")
  penv_decode "${_login%%:*}"
)

penv_url_password() (
  _login=$(_penv_url_login "$1")
  case $_login in
    *:*) penv_decode "${_login#*:}" ;;
  esac
)

_penv_url_login() (
  _host=${1#*://}
  _host=${_host%%/*}
  case $_host in
    *@*) printf '%s' "${_host%@*}" ;;
  esac
)

# penv_login USER PASSWORD: the LOGIN for penv_http; nothing without a user.
penv_login() (
  [ -z "$1" ] || printf 'user = %s\n' "$(penv_quote "$1:$2")"
)
