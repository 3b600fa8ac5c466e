#!/bin/sh
# clickhouse: one database for each environment on a shared ClickHouse server, with clickhouse-client, else by HTTP with curl.
#   . "$PENV_ADAPTERS/clickhouse.sh"; clickhouse_create NAME; clickhouse_verify|drop|url NAME; clickhouse_list
# Connects as CLICKHOUSE_USER (default) with CLICKHOUSE_PASSWORD to CLICKHOUSE_HOST (127.0.0.1), CLICKHOUSE_PORT (9000).
# CLICKHOUSE_PROTOCOL=http (or https) takes curl and CLICKHOUSE_HTTP_PORT (8123, 8443) for the verbs and for the URL.
# The mark of a database is its view penv_owner, whose one row is "penv <id>": list needs it. Nothing is cloned: a template
# is passed over, clickhouse_cloned stays empty and every migration runs. Run against ClickHouse 18.16.
# shellcheck source=contract/adapters/common.sh
. "$PENV_ADAPTERS/common.sh"

# _clickhouse_at PROTOCOL: sets _protocol _host _port; call it in a subshell.
_clickhouse_at() {
  _protocol=$1 _host=${CLICKHOUSE_HOST:-127.0.0.1}
  case $_host in *:*) _host="[$_host]" ;; esac
  case $_protocol in
    native) _port=${CLICKHOUSE_PORT:-9000} ;;
    http) _port=${CLICKHOUSE_HTTP_PORT:-8123} ;;
    https) _port=${CLICKHOUSE_HTTP_PORT:-8443} ;;
    *) penv_fail "CLICKHOUSE_PROTOCOL is \"$_protocol\": use native, http or https" ;;
  esac
}

# _clickhouse GOAL SQL [DATABASE]: one statement, rows on stdout; a failure is one message in the server's words.
_clickhouse() (
  _status=0 _wanted=${CLICKHOUSE_PROTOCOL:-native}
  command -v clickhouse-client >/dev/null 2>&1 || [ "$_wanted" != native ] || _wanted=http
  _clickhouse_at "$_wanted" || exit 1
  if [ "$_protocol" = native ]; then
    _said=$(_clickhouse_native "$2" "${3:-default}" 2>&1) || _status=1
  else
    penv_need curl 'install it, or clickhouse-client: apt-get install curl' >/dev/null || exit 1
    _said=$(_clickhouse_http "$2" "${3:-default}" 2>&1) || _status=1
    # Its last line is the status of HTTP, and only with 200 comes an answer.
    case $_said in *'
200') ;; *) _status=1 ;; esac
    _said=$(printf '%s\n' "$_said" | sed -e '$d')
  fi
  [ "$_status" -eq 0 ] || penv_fail "cannot $1 on $_host:$_port: $_said" || exit 1
  [ -z "$_said" ] || printf '%s\n' "$_said"
)

# _clickhouse_native SQL DATABASE: the password goes by a file that only we can read: older clients know no variable for it.
_clickhouse_native() (
  _config=$(mktemp "${TMPDIR:-/tmp}/penv-clickhouse-XXXXXX") || exit 1
  trap 'rm -f "$_config"' EXIT
  _escaped=$(printf '%s' "${CLICKHOUSE_PASSWORD:-}" | sed -e 's/&/\&amp;/g' -e 's/</\&lt;/g' -e 's/>/\&gt;/g')
  printf '<config><password>%s</password></config>\n' "$_escaped" >"$_config"
  _bare=${_host#[}
  clickhouse-client --config-file "$_config" --host "${_bare%]}" --port "$_port" --user "${CLICKHOUSE_USER:-default}" \
    --database "$2" --query "$1" </dev/null
)

# _clickhouse_http SQL DATABASE: the password goes by curl's configuration on stdin.
_clickhouse_http() (
  _escaped=$(printf '%s:%s' "${CLICKHOUSE_USER:-default}" "${CLICKHOUSE_PASSWORD:-}" | sed -e 's/\\/\\\\/g' -e 's/"/\\"/g')
  printf 'user = "%s"\n' "$_escaped" |
    curl -q --silent --show-error --connect-timeout 10 --write-out '\n%{http_code}' -K - --data-binary "$1" \
      "$_protocol://$_host:$_port/?database=$2"
)

# _clickhouse_find NAME: "none", or "there " and the mark.
_clickhouse_find() (
  _found=$(_clickhouse "look for database \"$1\"" "select count() from system.databases where name = '$1'") || exit 1
  [ "$_found" != 0 ] || { printf 'none\n' && exit; }
  _found=$(_clickhouse "look for database \"$1\"" "select count() from system.tables where database = '$1' and name = 'penv_owner'") || exit 1
  [ "$_found" = 0 ] || _found=$(_clickhouse "look for database \"$1\"" "select mark from $1.penv_owner") || exit 1
  printf 'there %s\n' "${_found#0}"
)

# shellcheck disable=SC2034 # clickhouse_cloned is for the script that sources this
clickhouse_create() {
  clickhouse_cloned=''
  penv_check_name "$1" 63 || return
  _clickhouse_state=$(_clickhouse_find "$1") || return
  _clickhouse_mark=$(penv_mark "$1")
  case $_clickhouse_state in
    none) _clickhouse "create database \"$1\"" "create database if not exists $1" || return ;;
    "there $_clickhouse_mark") return ;;
    'there ') ;;
    *) penv_fail "cannot create database \"$1\": ${_clickhouse_state#there penv } owns it" || return ;;
  esac
  [ -z "$_clickhouse_mark" ] ||
    _clickhouse "mark database \"$1\"" "create view if not exists $1.penv_owner as select '$_clickhouse_mark' as mark"
}

clickhouse_verify() (
  penv_check_name "$1" 63 && penv_check_own "$1" || exit 1
  _state=$(_clickhouse_find "$1") || exit 1
  case $_state in
    'there ' | "there $(penv_mark "$1")") ;;
    *) penv_fail "cannot verify database \"$1\": the server answers \"$_state\", not ours" || exit 1 ;;
  esac
  _goal="verify database \"$1\"" _canary=penv_canary_$$
  _clickhouse "$_goal" "create table $_canary (value UInt8) engine = Memory" "$1" || exit 1
  _seen=$(_clickhouse "$_goal" "select database from system.tables where name = '$_canary' and database != '$1'") || exit 1
  _clickhouse "$_goal" "drop table $1.$_canary" || exit 1
  [ -z "$_seen" ] || penv_fail "database \"$1\" is not isolated: what is written to it shows in $_seen"
)

# A drop can wait for queries on its tables: newer servers end those by the database, of others the drop itself tells.
clickhouse_drop() (
  penv_check_name "$1" 63 && penv_check_own "$1" || exit 1
  _goal="drop database \"$1\""
  _version=$(_clickhouse "$_goal" 'select version()') || exit 1
  _now=''
  if [ "${_version%%.*}" -ge 21 ]; then
    _now=' sync'
    _clickhouse "$_goal" "kill query where current_database = '$1' sync" >/dev/null || exit 1
  fi
  _clickhouse "$_goal" "drop database if exists $1$_now" || exit 1
  [ "$(_clickhouse_find "$1")" = none ] || penv_fail "database \"$1\" is still there after its drop"
)

clickhouse_url() (
  penv_check_name "$1" 63 && _clickhouse_at "${CLICKHOUSE_PROTOCOL:-native}" || exit 1
  _user=$(penv_encode "${CLICKHOUSE_USER:-default}")
  [ -z "${CLICKHOUSE_PASSWORD:-}" ] || _user=$_user:$(penv_encode "$CLICKHOUSE_PASSWORD")
  case $_protocol in native) _protocol=clickhouse ;; esac
  printf '%s://%s@%s:%s/%s\n' "$_protocol" "$_user" "$_host" "$_port" "$1"
)

clickhouse_list() (
  _clickhouse 'list databases' "select database from system.tables where name = 'penv_owner' and engine = 'View'
    and not match(database, '^penv_tpl_') order by database"
)
