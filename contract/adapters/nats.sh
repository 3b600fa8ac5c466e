#!/bin/sh
# nats: one stream and subject prefix for each environment on a shared NATS server, with JetStream or without.
#   . "$PENV_ADAPTERS/nats.sh"; nats_create NAME; nats_verify|drop|url NAME; nats_list
# The app names streams and buckets NAME-orders, and subjects NAME.orders.created: a subject without NAME is main's.
# Uses the nats command line, which reads NATS_URL (nats://localhost:4222) and NATS_USER, NATS_PASSWORD, NATS_TOKEN,
# NATS_CREDS, NATS_NKEY, NATS_CONTEXT … by itself. Where it is missing, curl and the monitoring port at NATS_MONITOR_URL
# (http://HOST:8222 of NATS_URL), which can look and not change: enough to verify, to list, and to drop what is empty.
# The marker is the stream NAME-penv on the subject penv.NAME. Without JetStream there is nothing to create or list.
# shellcheck source=contract/adapters/http.sh
. "$PENV_ADAPTERS/http.sh"
# shellcheck source=contract/adapters/prefix.sh
. "$PENV_ADAPTERS/prefix.sh"

# _nats_address: host:port of NATS_URL, without a login.
_nats_address() (
  _url=${NATS_URL:-localhost:4222}
  _url=${_url#*://}
  _url=${_url##*@}
  printf '%s' "${_url%%/*}"
)

# _nats GOAL ARGUMENT ...: status 5 without a word where the server has no JetStream.
_nats() (
  _goal=$1 _status=0
  shift
  { _why=$(NATS_URL=${NATS_URL:-localhost:4222} nats "$@" 2>&1 >&3 3>&-) || _status=1; } 3>&1
  case $_status$_why in
    0*) ;;
    *'no responders available'* | *'JetStream not enabled'*) exit 5 ;;
    *) penv_fail "cannot $_goal on $(_nats_address): $(printf '%s' "$_why" | sed 's/^nats: error: //')" ;;
  esac
)

_nats_client() {
  penv_need 'nats curl' 'install the nats command line: go install github.com/nats-io/natscli/nats@latest, or brew install nats-io/nats-tools/nats'
}

# _nats_change GOAL: fails where there is only the monitoring port.
_nats_change() {
  command -v nats >/dev/null 2>&1 || penv_fail "cannot $1 on $(_nats_address): the monitoring port can only look
  To get it done, install the nats command line: go install github.com/nats-io/natscli/nats@latest"
}

# _nats_streams GOAL: the names of all streams, those of buckets too; status 5 without JetStream.
_nats_streams() (
  _client=$(_nats_client) || exit 1
  if [ "$_client" = nats ]; then
    _nats "$1" stream ls --names --all
    exit
  fi
  _monitor=$(_nats_address)
  _answer=$(penv_http "$1" GET "$(penv_url_base "${NATS_MONITOR_URL:-http://${_monitor%:*}:8222}")/jsz?accounts=1&streams=1" </dev/null) || exit 1
  case $_answer in
    *'"disabled": true'*) exit 5 ;;
  esac
  printf '%s\n' "$_answer" | sed -n 's/^ *"name": "\([^"]*\)",*$/\1/p'
)

# Buckets of keys and of objects are streams whose names begin with KV_ and OBJ_.
_nats_own() {
  awk -v name="$1" '{ bare = $0; sub(/^(KV|OBJ)_/, "", bare) } bare == name || index(bare, name "-") == 1'
}

nats_create() (
  penv_prefix_check "$1" 200 "${2:-}" || exit 1
  _goal="create \"$1\"" _status=0
  _streams=$(_nats_streams "$_goal") || _status=$?
  case $_status in
    0) ! penv_prefix_has "$_streams" "$1-penv" || exit 0 ;;
    5) exit 0 ;;
    *) exit 1 ;;
  esac
  _nats_change "$_goal" || exit 1
  _answer=$(_nats "$_goal" request --raw "\$JS.API.STREAM.CREATE.$1-penv" \
    "{\"name\":\"$1-penv\",\"subjects\":[\"penv.$1\"],\"storage\":\"file\",\"max_msgs\":1,\"description\":\"$(penv_mark "$1")\"}") || exit 1
  case $_answer in
    *'"error"'*) penv_fail "cannot $_goal on $(_nats_address): $(_penv_brief "$_answer")" ;;
  esac
)

# The canary is a message for the marker. A stream across the border keeps messages of ours for main, or the reverse.
nats_verify() (
  penv_prefix_check "$1" 200 || exit 1
  _goal="verify \"$1\"" _status=0 _word=canary$$
  _streams=$(_nats_streams "$_goal") || _status=$?
  if [ "$_status" -eq 5 ]; then
    ! command -v nats >/dev/null 2>&1 || _nats "$_goal" publish "$1.penv" "$_word" >/dev/null
    exit
  fi
  [ "$_status" -eq 0 ] || exit 1
  penv_prefix_has "$_streams" "$1-penv" || penv_fail "cannot $_goal: the server has no stream $1-penv" || exit 1
  printf '%s\n' "$_streams" | penv_prefix_near "$1" stream
  command -v nats >/dev/null 2>&1 || exit 0
  _nats "$_goal" publish "penv.$1" "$_word" >/dev/null &&
    _inside=$(_nats "$_goal" request --raw "\$JS.API.STREAM.MSG.GET.$1-penv" "{\"last_by_subj\":\"penv.$1\"}") &&
    _keepers=$(_nats "$_goal" stream ls --names --all --subject "$1.>") || exit 1
  case $_inside in
    *"\"subject\":\"penv.$1\""*) ;;
    *) penv_fail "cannot $_goal: a message that was published is not in $1-penv: $(_penv_brief "$_inside")" || exit 1 ;;
  esac
  for _stream in $_keepers; do
    [ -n "$(printf '%s\n' "$_stream" | _nats_own "$1")" ] ||
      penv_fail "\"$1\" is not isolated: the stream $_stream keeps messages of $1.>" || exit 1
  done
  printf '%s\n' "$_streams" | penv_prefix_own "$1" | while IFS= read -r _stream; do
    _info=$(_nats "$_goal" request --raw "\$JS.API.STREAM.INFO.$_stream" '' </dev/null) || exit 1
    _foreign=$(printf '%s' "$_info" | tr -d '\n' | sed -n 's/.*"subjects":\[\([^]]*\)\].*/\1/p' | tr ',' '\n' | tr -d '"' |
      awk -v name="$1" '$0 != name && index($0, name ".") != 1 && $0 != "penv." name')
    [ -z "$_foreign" ] || penv_fail "\"$1\" is not isolated: the stream $_stream takes the subject $_foreign" || exit 1
  done
)

nats_drop() (
  penv_prefix_check "$1" 200 || exit 1
  _goal="drop \"$1\"" _status=0
  _streams=$(_nats_streams "$_goal") || _status=$?
  [ "$_status" -ne 5 ] || exit 0
  _own=$(printf '%s\n' "$_streams" | _nats_own "$1")
  [ "$_status" -eq 0 ] || exit 1
  if [ -n "$_own" ]; then
    _nats_change "$_goal" || exit 1
    printf '%s\n' "$_own" | while IFS= read -r _stream; do
      _nats "$_goal" stream rm --force "$_stream" </dev/null || exit 1
    done || exit 1
    _streams=$(_nats_streams "$_goal") || exit 1
    _own=$(printf '%s\n' "$_streams" | _nats_own "$1" | tr '\n' ' ')
    [ -z "$_own" ] || penv_fail "\"$1\" is still there after its drop: $_own" || exit 1
  fi
  printf '%s\n' "$_streams" | penv_prefix_near "$1" stream
)

nats_url() (
  penv_check_name "$1" 200 || exit 1
  _given=${NATS_URL:-localhost:4222}
  case $_given in
    *://*) ;;
    *) _given=nats://$_given ;;
  esac
  case ${NATS_USER:+$_given} in
    '' | *@* | *,*) printf '%s\n' "$_given" ;;
    *)
      _login=$(penv_encode "$NATS_USER"):$(penv_encode "${NATS_PASSWORD:-}")
      printf '%s://%s@%s\n' "${_given%%://*}" "$_login" "${_given#*://}"
      ;;
  esac
)

nats_list() (
  _status=0
  _streams=$(_nats_streams 'list streams') || _status=$?
  case $_status in
    0) printf '%s\n' "$_streams" | penv_prefix_slices ;;
    5) ;;
    *) exit 1 ;;
  esac
)
