#!/bin/sh
# rabbitmq: one virtual host for each environment on a shared RabbitMQ broker (3.8 or newer).
#   . "$PENV_ADAPTERS/rabbitmq.sh"; rabbitmq_create NAME; rabbitmq_verify|drop|url NAME; rabbitmq_list
# Connects as RABBITMQ_USER (or RABBITMQ_USERNAME, RABBITMQ_DEFAULT_USER; guest) with RABBITMQ_PASSWORD (or RABBITMQ_PASS,
# RABBITMQ_DEFAULT_PASS; guest) to RABBITMQ_HOST (localhost), RABBITMQ_PORT (5672); what is not set is taken from
# RABBITMQ_URL (amqp://user:password@host:port). That user gets all rights in the virtual host.
# Works by curl through the management API at RABBITMQ_MANAGEMENT_URL (http://RABBITMQ_HOST:15672). Where that is not to
# be had, by rabbitmqctl: on the node RABBITMQ_NODENAME, or on this machine's own where nothing above says otherwise.
# Virtual hosts carry the description "penv <id>"; list shows those that do.
# shellcheck source=contract/adapters/http.sh
. "$PENV_ADAPTERS/http.sh"

# _rabbitmq_settings: sets _scheme _user _password _host _port _api. For subshells.
_rabbitmq_settings() {
  _given=${RABBITMQ_URL:-amqp://}
  _scheme=${_given%%://*}
  _at=$(penv_url_base "$_given" | sed -e 's,^[^:]*://,,' -e 's,/.*,,')
  _user=${RABBITMQ_USER:-${RABBITMQ_USERNAME:-${RABBITMQ_DEFAULT_USER:-$(penv_url_user "$_given")}}}
  _password=${RABBITMQ_PASSWORD:-${RABBITMQ_PASS:-${RABBITMQ_DEFAULT_PASS:-$(penv_url_password "$_given")}}}
  _user=${_user:-guest} _password=${_password:-guest}
  _host=${RABBITMQ_HOST:-$(printf '%s' "$_at" | sed 's/:[0-9]*$//')}
  _port=${RABBITMQ_PORT:-$(printf '%s' "$_at" | sed -n 's/.*:\([0-9][0-9]*\)$/\1/p')}
  _host=${_host:-localhost} _port=${_port:-5672}
  _api=$(penv_url_base "${RABBITMQ_MANAGEMENT_URL:-http://$_host:15672}")/api
}

# _rabbitmq GOAL METHOD PATH [BODY]: one request to the management API.
_rabbitmq() (
  _rabbitmq_settings
  penv_login "$_user" "$_password" | penv_http "$1" "$2" "$_api/$3" "${4:-}"
)

# _rabbitmq_way GOAL: prints api or ctl, or says why there is neither.
_rabbitmq_way() (
  _rabbitmq_settings
  _first=$(penv_need 'curl rabbitmqctl' 'install curl: apt-get install curl, or brew install curl') || exit 1
  _why='curl is not installed' _status=7
  if [ "$_first" = curl ]; then
    _status=0
    _why=$(_rabbitmq "$1" GET whoami 2>&1) || _status=$?
    [ "$_status" -ne 0 ] || { printf 'api\n' && exit 0; }
  fi
  case $_status:${RABBITMQ_NODENAME:+node}:${RABBITMQ_MANAGEMENT_URL:+url}:$_host:$_port in
    7:node:* | 7:::localhost:5672 | 7:::127.0.0.1:5672)
      ! command -v rabbitmqctl >/dev/null 2>&1 || { printf 'ctl\n' && exit 0; }
      ;;
    4:*) _why="penv: cannot $1: no management API at $_api" ;;
  esac
  printf '%s\n  To have a management API, run: rabbitmq-plugins enable rabbitmq_management\n' "$_why" >&2
  exit 1
)

# _rabbitmqctl GOAL ARGUMENT ...
_rabbitmqctl() (
  _rabbitmq_settings
  _goal=$1 _status=0
  shift
  { _why=$(rabbitmqctl -q "$@" 2>&1 >&3 3>&-) || _status=1; } 3>&1
  [ "$_status" -eq 0 ] || penv_fail "cannot $_goal on $_host:$_port with rabbitmqctl: $(_penv_brief "$_why")"
)

# _rabbitmq_hosts GOAL WAY: a line for each virtual host: name, tab, description; unusual names are of no interest.
_rabbitmq_hosts() (
  if [ "$2" = ctl ]; then
    _rabbitmqctl "$1" list_vhosts --no-table-headers name description
  else
    _answer=$(_rabbitmq "$1" GET 'vhosts?columns=name,description') || exit 1
    printf '%s\n' "$_answer" | tr '{}' '[\n*]' | sed -n \
      -e 's/^"description":"\([^"\\]*\)","name":"\([^"\\]*\)"$/\2	\1/p' \
      -e 's/^"name":"\([^"\\]*\)","description":"\([^"\\]*\)"$/\1	\2/p' -e 's/^"name":"\([^"\\]*\)"$/\1	/p'
  fi
)

# _rabbitmq_find GOAL WAY NAME: prints "there" and its description, or nothing.
_rabbitmq_find() (
  _hosts=$(_rabbitmq_hosts "$1" "$2") || exit 1
  printf '%s\n' "$_hosts" | awk -F '\t' -v name="$3" '$1 == name { print "there " $2 }'
)

rabbitmq_create() (
  penv_check_name "$1" 200 && penv_check_own "$1" || exit 1
  [ -z "${2:-}" ] || penv_fail "cannot create virtual host \"$1\" from \"$2\": RabbitMQ has no templates" || exit 1
  _goal="create virtual host \"$1\""
  _way=$(_rabbitmq_way "$_goal") || exit 1
  _rabbitmq_settings
  if [ "$_way" = api ]; then
    _rabbitmq "$_goal" PUT "vhosts/$1" "{\"description\":\"$(penv_mark "$1")\"}" &&
      _rabbitmq "$_goal" PUT "permissions/$1/$(penv_encode "$_user")" '{"configure":".*","write":".*","read":".*"}'
    exit
  fi
  _there=$(_rabbitmq_find "$_goal" ctl "$1") || exit 1
  [ -n "$_there" ] || _rabbitmqctl "$_goal" add_vhost "$1" --description "$(penv_mark "$1")" || exit 1
  _rabbitmqctl "$_goal" set_permissions -p "$1" "$_user" '.*' '.*' '.*'
)

# The canary is a queue: it must be in NAME, and not in the default virtual host.
rabbitmq_verify() (
  penv_check_name "$1" 200 && penv_check_own "$1" || exit 1
  _goal="verify virtual host \"$1\""
  _way=$(_rabbitmq_way "$_goal") || exit 1
  _there=$(_rabbitmq_find "$_goal" "$_way" "$1") || exit 1
  case $_there in
    '') penv_fail "cannot $_goal: the broker has no such virtual host" || exit 1 ;;
    "there $(penv_mark "$1")" | 'there ') ;;
    *) penv_fail "cannot $_goal: it is marked \"${_there#there }\", not \"$(penv_mark "$1")\"" || exit 1 ;;
  esac
  if [ "$_way" = ctl ]; then
    _rabbitmqctl "$_goal" list_queues -p "$1" name >/dev/null
    exit
  fi
  _canary=penv_canary_$$
  _rabbitmq "$_goal" PUT "queues/$1/$_canary" '{"auto_delete":true,"durable":false}' &&
    _rabbitmq "$_goal" GET "queues/$1/$_canary?columns=name" >/dev/null || exit 1
  _status=0
  _seen=$(_rabbitmq "$_goal" GET "queues/%2F/$_canary?columns=name" 2>&1) || _status=$?
  _rabbitmq "$_goal" DELETE "queues/$1/$_canary" || exit 1
  [ "$_status" -ne 0 ] || penv_fail "virtual host \"$1\" is not isolated: its queues show in \"/\""
)

rabbitmq_drop() (
  penv_check_name "$1" 200 && penv_check_own "$1" || exit 1
  _goal="drop virtual host \"$1\""
  _way=$(_rabbitmq_way "$_goal") || exit 1
  _there=$(_rabbitmq_find "$_goal" "$_way" "$1") || exit 1
  [ -n "$_there" ] || exit 0
  if [ "$_way" = ctl ]; then
    _rabbitmqctl "$_goal" delete_vhost "$1" || exit 1
  else
    _rabbitmq "$_goal" DELETE "vhosts/$1" || [ $? -eq 4 ] || exit 1
  fi
  _there=$(_rabbitmq_find "$_goal" "$_way" "$1") || exit 1
  [ -z "$_there" ] || penv_fail "virtual host \"$1\" is still there after its drop"
)

rabbitmq_url() (
  penv_check_name "$1" 200 || exit 1
  _rabbitmq_settings
  printf '%s://%s:%s@%s:%s/%s\n' "$_scheme" "$(penv_encode "$_user")" "$(penv_encode "$_password")" "$_host" "$_port" "$1"
)

rabbitmq_list() (
  _way=$(_rabbitmq_way 'list virtual hosts') || exit 1
  _hosts=$(_rabbitmq_hosts 'list virtual hosts' "$_way") || exit 1
  printf '%s\n' "$_hosts" | sed -n 's/^\([a-z0-9_]*\)	penv .*/\1/p' | sort
)
