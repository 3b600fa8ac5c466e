#!/bin/sh
# kafka: one topic and group prefix for each environment on a shared Kafka or Redpanda cluster.
#   . "$PENV_ADAPTERS/kafka.sh"; kafka_create NAME; kafka_verify|drop|url NAME; kafka_list
# The app puts NAME and - (or .) before the name of every topic, consumer group and application id: NAME-orders.
# Uses Kafka's own scripts (kafka-topics.sh …, or kafka-topics …), else rpk. Connects to KAFKA_BOOTSTRAP_SERVERS (or
# KAFKA_BROKERS; localhost:9092), with a login as KAFKA_SASL_USERNAME with KAFKA_SASL_PASSWORD by KAFKA_SASL_MECHANISM
# (PLAIN) and KAFKA_SECURITY_PROTOCOL (SASL_PLAINTEXT); the scripts also read the properties file KAFKA_COMMAND_CONFIG.
# The marker is the topic NAME-penv. The scripts are run against Kafka 4.3; rpk has not been run, only its documented output.
# shellcheck disable=SC2030,SC2031 # _dir and _suffix are set and read in the one subshell of _kafka
# shellcheck source=contract/adapters/prefix.sh
. "$PENV_ADAPTERS/prefix.sh"

_kafka_brokers() {
  printf '%s' "${KAFKA_BOOTSTRAP_SERVERS:-${KAFKA_BROKERS:-localhost:9092}}"
}

# _kafka GOAL DEED [TOPIC, or TOPICS or GROUPS one per line]: by the client that is here.
_kafka() (
  _client=$(penv_need 'kafka-topics.sh kafka-topics rpk' 'install Kafka'"'"'s command line: brew install kafka, or bin/ of an archive from kafka.apache.org') || exit 1
  case $_client in
    rpk) _kafka_by_rpk "$@" ;;
    *)
      _suffix=${_client#kafka-topics}
      _dir=$(mktemp -d) || exit 1
      trap 'rm -rf "$_dir"' EXIT
      trap 'exit 130' INT
      trap 'exit 143' TERM
      (umask 077 && _kafka_properties >"$_dir/properties") || exit 1
      _kafka_by_scripts "$@"
      ;;
  esac
)

# The login goes by a file that only its owner can read. A server that is away is given up on in time.
_kafka_properties() (
  printf '%s\n' default.api.timeout.ms=8000 request.timeout.ms=5000 max.block.ms=8000 delivery.timeout.ms=8000
  if [ -n "${KAFKA_SASL_USERNAME:-}" ]; then
    case ${KAFKA_SASL_MECHANISM:-PLAIN} in
      PLAIN) _module=plain.PlainLoginModule ;;
      *) _module=scram.ScramLoginModule ;;
    esac
    printf 'security.protocol=%s\nsasl.mechanism=%s\n' "${KAFKA_SECURITY_PROTOCOL:-SASL_PLAINTEXT}" "${KAFKA_SASL_MECHANISM:-PLAIN}"
    printf 'sasl.jaas.config=org.apache.kafka.common.security.%s required username="%s" password="%s";\n' "$_module" \
      "$(_kafka_quote "$KAFKA_SASL_USERNAME")" "$(_kafka_quote "${KAFKA_SASL_PASSWORD:-}")"
  elif [ -n "${KAFKA_SECURITY_PROTOCOL:-}" ]; then
    printf 'security.protocol=%s\n' "$KAFKA_SECURITY_PROTOCOL"
  fi
  [ -z "${KAFKA_COMMAND_CONFIG:-}" ] || cat "$KAFKA_COMMAND_CONFIG"
)

# Escaped for the quoted string, and then again for the properties file.
_kafka_quote() (
  printf '%s' "$1" | sed -e 's/[\\"]/\\&/g' -e 's/\\/\\\\/g'
)

_kafka_fail() {
  penv_fail "cannot $1 on $(_kafka_brokers): $(printf '%s\n' "$2" | awk '
    /Authentication failed|[Aa]uthorized|^[*] / { best = $0; exit } /Error|ERROR|Exception/ && best == "" { best = $0 } first == "" { first = $0 }
    END { if (best == "") best = first; sub(/^.*(Error while executing [a-z ]*:|Exception:|Error:) */, "", best); print best }')"
}

# _kafka_tool GOAL TOOL ARGUMENT ...: the tools end with 0 on some failures, so their words count too.
_kafka_tool() (
  _goal=$1 _tool=kafka-$2$_suffix _status=0
  shift 2
  _out=$("$_tool" --bootstrap-server "$(_kafka_brokers)" --command-config "$_dir/properties" "$@" 2>"$_dir/said") || _status=1
  case $_status$_out in
    0Error:* | 0*'
Error: '* | 1*)
      _kafka_fail "$_goal" "$_out
$(cat "$_dir/said")"
      ;;
    *) [ -z "$_out" ] || printf '%s\n' "$_out" ;;
  esac
)

_kafka_by_scripts() (
  case $2 in
    topics) _kafka_tool "$1" topics --list ;;
    make) _kafka_tool "$1" topics --create --if-not-exists --topic "$3" --partitions 1 >/dev/null ;;
    unmake) # --topic is a regular expression, in which a dot would stand for any character
      _kafka_tool "$1" topics --delete --if-exists --topic "$(printf '%s' "$3" | sed 's/\./[.]/g' | tr '\n' ',')"
      ;;
    send)
      for _option in --producer.config --command-config; do
        _said=$(printf 'canary\n' | "kafka-console-producer$_suffix" --bootstrap-server "$(_kafka_brokers)" "$_option" "$_dir/properties" --topic "$3" 2>&1) || _said="ERROR $_said"
        case $_said in *'not a recognized option'*) ;; *) break ;; esac
      done
      case $_said in *ERROR* | *Exception*) _kafka_fail "$1" "$_said" ;; esac
      ;;
    groups) _kafka_tool "$1" consumer-groups --list ;;
    forget)
      _goal=$1 _groups=$3
      set --
      while IFS= read -r _group; do set -- "$@" --group "$_group"; done <<EOF
$_groups
EOF
      _kafka_tool "$_goal" consumer-groups --delete "$@" >/dev/null
      ;;
    readers)
      _described=$(_kafka_tool "$1" consumer-groups --describe --all-groups) || exit 1
      printf '%s\n' "$_described" | awk '$3 ~ /^[0-9]+$/ { print $1 " " $2 }' | sort -u
      ;;
  esac
)

_kafka_rpk() (
  _goal=$1 _status=0
  shift
  RPK_BROKERS=$(_kafka_brokers)
  export RPK_BROKERS
  if [ -n "${KAFKA_SASL_USERNAME:-}" ]; then
    RPK_USER=$KAFKA_SASL_USERNAME RPK_PASS=${KAFKA_SASL_PASSWORD:-} RPK_SASL_MECHANISM=${KAFKA_SASL_MECHANISM:-PLAIN}
    export RPK_USER RPK_PASS RPK_SASL_MECHANISM
  fi
  _out=$(rpk "$@" 2>&1) || _status=1
  [ "$_status" -eq 0 ] || _kafka_fail "$_goal" "$_out" || exit 1
  printf '%s\n' "$_out"
)

_kafka_rpk_each() (
  while IFS= read -r _name; do
    _kafka_rpk "$@" "$_name" </dev/null >/dev/null || exit 1
  done
)

_kafka_by_rpk() (
  case $2 in
    topics) _out=$(_kafka_rpk "$1" topic list) && printf '%s\n' "$_out" | awk 'NR > 1 { print $1 }' ;;
    make)
      _topics=$(_kafka_by_rpk "$1" topics) || exit 1
      penv_prefix_has "$_topics" "$3" || _kafka_rpk "$1" topic create "$3" --partitions 1 >/dev/null
      ;;
    unmake) printf '%s\n' "$3" | _kafka_rpk_each "$1" topic delete ;;
    send) printf 'canary\n' | _kafka_rpk "$1" topic produce "$3" >/dev/null ;;
    groups) _out=$(_kafka_rpk "$1" group list) && printf '%s\n' "$_out" | awk 'NR > 1 { print $2 }' ;;
    forget) printf '%s\n' "$3" | _kafka_rpk_each "$1" group delete ;;
    readers)
      _groups=$(_kafka_by_rpk "$1" groups) || exit 1
      _described=$(printf '%s\n' "$_groups" | while IFS= read -r _group; do
        [ -z "$_group" ] || _kafka_rpk "$1" group describe "$_group" </dev/null || exit 1
      done) || exit 1
      printf '%s\n' "$_described" | awk '$1 == "GROUP" { group = $2 } $2 ~ /^[0-9]+$/ { print group " " $1 }' | sort -u
      ;;
  esac
)

kafka_create() (
  penv_prefix_check "$1" 200 "${2:-}" && _kafka "create \"$1\"" make "$1-penv"
)

# The canary is a record in the marker. A group across the border reads for main what is ours, or the reverse.
kafka_verify() (
  penv_prefix_check "$1" 200 || exit 1
  _goal="verify \"$1\""
  _topics=$(_kafka "$_goal" topics) || exit 1
  penv_prefix_has "$_topics" "$1-penv" || penv_fail "cannot $_goal: the cluster has no topic $1-penv" || exit 1
  printf '%s\n' "$_topics" | penv_prefix_near "$1" topic
  _kafka "$_goal" send "$1-penv" && _readers=$(_kafka "$_goal" readers) || exit 1
  _crossings=$(printf '%s\n' "$_readers" | sed '/^console-consumer-/d' | penv_prefix_crossings "$1")
  [ -z "$_crossings" ] || penv_fail "\"$1\" is not isolated: a group reads across its border: $_crossings"
)

# A consumer that is still connected may make its topic anew: what comes back is dropped again, and at last named.
kafka_drop() (
  penv_prefix_check "$1" 200 || exit 1
  _goal="drop \"$1\""
  for _round in 1 2 3 4; do
    _topics=$(_kafka "$_goal" topics) || exit 1
    _left=$(printf '%s\n' "$_topics" | penv_prefix_own "$1")
    [ -n "$_left" ] || break
    [ "$_round" -eq 4 ] || _kafka "$_goal" unmake "$_left" >/dev/null || exit 1
  done
  _groups=$(_kafka "$_goal" groups) && _groups=$(printf '%s\n' "$_groups" | penv_prefix_own "$1") || exit 1
  if [ -n "$_groups" ]; then
    _why=$(_kafka "$_goal" forget "$_groups" 2>&1) || :
    _groups=$(_kafka "$_goal" groups) && _groups=$(printf '%s\n' "$_groups" | penv_prefix_own "$1") || exit 1
    case ${_groups:+$_why} in
      '') ;;
      *'not empty'* | *NON_EMPTY_GROUP*)
        printf 'penv: consumers are still connected; their group holds no offsets and ends with them: %s\n' "$_groups" >&2
        ;;
      *) printf '%s\n' "$_why" >&2 && exit 1 ;;
    esac
  fi
  [ -z "$_left" ] || penv_fail "\"$1\" is still there after its drop, since something connected makes it anew: $(printf '%s' "$_left" | tr '\n' ' ')
  To end it, stop the consumers and producers of this environment" || exit 1
  printf '%s\n' "$_topics" | penv_prefix_near "$1" topic
)

kafka_url() (
  penv_check_name "$1" 200 && _kafka_brokers && printf '\n'
)

kafka_list() (
  _topics=$(_kafka 'list topics' topics) || exit 1
  printf '%s\n' "$_topics" | penv_prefix_slices
)
