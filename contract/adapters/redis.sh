#!/bin/sh
# redis: one database index for each environment on a shared Redis or Valkey server, with redis-cli or valkey-cli.
#   . "$PENV_ADAPTERS/redis.sh"; redis_create|verify|drop|url INDEX; redis_list     INDEX=$(penv get index redis 1-15)
# A server with one database only (a cluster) takes a key prefix instead: NAME=$(penv get name preview), keys "NAME:…" or
# "{NAME}:…". Connects to REDIS_URL, whose database is ignored, else to REDIS_HOST (127.0.0.1), REDIS_PORT (6379) with
# REDIS_USERNAME and REDISCLI_AUTH. The key penv:owner tells whose an index is. Every access selects and acts in one EVAL:
# redis-cli that fails to select stays on database 0 and exits 0. A client that writes after the drop is not stopped; what it
# writes is nobody's, and the next create of that index refuses it.
# shellcheck source=contract/adapters/common.sh
. "$PENV_ADAPTERS/common.sh"

# _redis_connection: sets _scheme _host _port _user _password; call it in a subshell.
_redis_connection() {
  _scheme=redis _host=${REDIS_HOST:-127.0.0.1} _port=${REDIS_PORT:-6379} _user=${REDIS_USERNAME:-} _password=${REDISCLI_AUTH:-}
  case ${REDIS_URL:-} in
    '') return ;;
    redis://* | rediss://* | valkey://* | valkeys://*) _scheme=${REDIS_URL%%:*} ;;
    *) penv_fail 'REDIS_URL is not a URL that starts with redis:// or rediss://' || return ;;
  esac
  _rest=${REDIS_URL#*://} _port=6379
  _rest=${_rest%%[/?#]*}
  case $_rest in
    *@*)
      _user=${_rest%@*} _rest=${_rest##*@}
      case $_user in *:*) _password=$(penv_decode "${_user#*:}") ;; esac
      _user=$(penv_decode "${_user%%:*}")
      ;;
  esac
  case $_rest in
    '['*) _host=${_rest#?} && _host=${_host%%]*} ;;
    *) _host=${_rest%%:*} ;;
  esac
  case ${_rest##*]} in *:*) _port=${_rest##*:} ;; esac
}

# _redis_cli NODE ARGUMENT ...: NODE is host:port, or empty for the connection's own. The password goes by the environment.
_redis_cli() (
  _node=$1
  shift
  _client=$(penv_need 'redis-cli valkey-cli' 'install it: apt-get install redis-tools, or brew install redis') || exit 1
  _redis_connection || exit 1
  _node=${_node:-$_host:$_port}
  case $_scheme in rediss | valkeys) set -- --tls "$@" ;; esac
  [ -z "$_user" ] || set -- --user "$_user" "$@"
  # The client takes an empty one for a password, too.
  unset REDISCLI_AUTH VALKEYCLI_AUTH
  [ -z "$_password" ] || { REDISCLI_AUTH=$_password && VALKEYCLI_AUTH=$_password && export REDISCLI_AUTH VALKEYCLI_AUTH; }
  "$_client" --no-auth-warning -h "${_node%:*}" -p "${_node##*:}" "$@" 2>&1
)

# _redis GOAL NODE LUA [ARGUMENT ...]: runs LUA in one go; it answers OK and rows, which are printed, or it has failed.
_redis() (
  _goal=$1 _node=$2 _lua=$3
  shift 3
  _redis_connection || exit 1
  _said=$(_redis_cli "$_node" EVAL "$_lua" 0 "$@") || :
  case $_said in
    OK) ;;
    OK?*) printf '%s\n' "$_said" | sed 1d ;;
    *) penv_fail "cannot $_goal on ${_node:-$_host:$_port}: $(printf '%s\n' "$_said" | sed -e 's/ script: .*//' -e '2,$s/^/  /')" ;;
  esac
)

# _redis_kind NAME: prints "index" or "prefix". 0 is the main checkout's, and redis-cli takes nonsense for 0.
_redis_kind() (
  [ -n "${PENV_ID:-}" ] || penv_fail "\"$1\" cannot be told ours: PENV_ID is not set" || exit 1
  case $1 in
    [a-z]*) penv_check_name "$1" 63 && penv_check_own "$1" && printf 'prefix\n' ;;
    '' | 0* | *[!0-9]*) penv_fail "\"$1\" is no index of an environment: those are 1 and higher, and 0 is the main checkout's" ;;
    *) printf 'index\n' ;;
  esac
)

# _redis_memory keep|forget|has INDEX: that create has run, for the application may flush its index and the owner key too.
_redis_memory() (
  [ -n "${PENV_DATA:-}" ] || penv_fail 'PENV_DATA is not set' || exit 1
  _redis_connection || exit 1
  _file=$PENV_DATA/redis-$(printf '%s-%s-%s' "$_host" "$_port" "$2" | tr -c 'a-zA-Z0-9.-' _)
  case $1 in
    keep) : >"$_file" ;;
    forget) rm -f "$_file" ;;
    has) [ -e "$_file" ] ;;
  esac
)

# _redis_index GOAL INDEX LUA: LUA runs inside the index. Its variables are fields of ARGV: mark, owner, and known, that create has run.
_redis_index() (
  _known=''
  if _redis_memory has "$2"; then _known=1; fi
  _redis "$1 index $2" '' "redis.call('SELECT', ARGV[1])
    ARGV.mark, ARGV.known, ARGV.owner = ARGV[2], ARGV[3] == '1', redis.call('GET', 'penv:owner')
    if ARGV.owner and ARGV.owner ~= ARGV.mark then return string.gsub(ARGV.owner, '^penv ', '') .. ' owns it' end
    $3" "$2" "penv $PENV_ID" "$_known"
)

# _redis_nodes GOAL: every master of a cluster, or the one server that has one database; other servers have indexes.
_redis_nodes() (
  _redis_connection || exit 1
  _mode=$(_redis "$1" '' "if string.find(redis.call('INFO', 'cluster'), 'cluster_enabled:1') then return {'OK', 'cluster'} end
    return {'OK', redis.pcall('SELECT', 1).err and 'single' or 'indexes'}") || exit 1
  case $_mode in
    single) printf '%s:%s\n' "$_host" "$_port" ;;
    cluster) _redis_cli '' CLUSTER NODES | awk -v host="$_host" '
      $3 ~ /master/ && $3 !~ /fail|noaddr/ { sub(/[@,].*/, "", $2); sub(/^:/, host ":", $2); print $2 }' ;;
    *) penv_fail "cannot $1 on $_host:$_port: this server has several databases, so use an index and not a key prefix" ;;
  esac
)

# _redis_keys GOAL LUA [ARGUMENT ...]: LUA runs for each `key` of the prefix ARGV[1] on each node, and answers by ARGV.rows.
_redis_keys() (
  _goal=$1 _lua=$2
  shift 2
  _nodes=$(_redis_nodes "$_goal") || exit 1
  for _node in $_nodes; do
    _redis "$_goal" "$_node" "ARGV.rows = {'OK'}
      for _, pattern in ipairs({ARGV[1] .. ':*', '{' .. ARGV[1] .. '}:*'}) do
        ARGV.scan = {'0'}
        repeat
          ARGV.scan = redis.call('SCAN', ARGV.scan[1], 'MATCH', pattern, 'COUNT', 1000)
          for _, key in ipairs(ARGV.scan[2]) do $_lua end
        until ARGV.scan[1] == '0'
      end
      return ARGV.rows" "$@" || exit 1
  done
)

redis_create() (
  _kind=$(_redis_kind "$1") || exit 1
  if [ "$_kind" = prefix ]; then
    _redis_nodes "create prefix \"$1\"" >/dev/null || exit 1
    _said=$(_redis_cli '' -c SET "$1:penv:owner" "penv $PENV_ID") || :
    [ "$_said" = OK ] || penv_fail "cannot create prefix \"$1\": $_said"
    exit
  fi
  _redis_index create "$1" "ARGV.size = redis.call('DBSIZE')
    if not ARGV.owner and not ARGV.known and ARGV.size > 0 then
      return 'it holds ' .. ARGV.size .. ' keys of somebody who is no environment\n  To take another index, run: penv get index NAME RANGE --renew'
    end
    redis.call('SET', 'penv:owner', ARGV.mark)
    return 'OK'" && _redis_memory keep "$1"
)

redis_verify() (
  _kind=$(_redis_kind "$1") || exit 1
  if [ "$_kind" = prefix ]; then
    _found=$(_redis_keys "verify prefix \"$1\"" "if key == ARGV[1] .. ':penv:owner' then table.insert(ARGV.rows, key) end" "$1") || exit 1
    [ "$_found" = "$1:penv:owner" ] || penv_fail "prefix \"$1\" was not created"
    exit
  fi
  _redis_index verify "$1" "if not ARGV.owner and not ARGV.known then return 'no environment owns it' end
    redis.call('SET', 'penv:owner', ARGV.mark)
    redis.call('SET', 'penv:canary', ARGV.mark)
    redis.call('SELECT', 0)
    ARGV.leaks = redis.call('EXISTS', 'penv:canary')
    redis.call('SELECT', ARGV[1])
    redis.call('DEL', 'penv:canary')
    return ARGV.leaks == 0 and 'OK' or 'what is written to it shows in database 0'"
)

redis_drop() (
  _kind=$(_redis_kind "$1") || exit 1
  if [ "$_kind" = prefix ]; then
    _redis_keys "drop prefix \"$1\"" "redis.call('DEL', key)" "$1" || exit 1
    _left=$(_redis_keys "drop prefix \"$1\"" 'table.insert(ARGV.rows, key)' "$1") || exit 1
    [ -z "$_left" ] || penv_fail "prefix \"$1\" still has keys after its drop"
    exit
  fi
  _redis_index drop "$1" "ARGV.size = redis.call('DBSIZE')
    if not ARGV.owner and not ARGV.known and ARGV.size > 0 then return 'it holds ' .. ARGV.size .. ' keys, and this environment has not created it' end
    redis.call('FLUSHDB')
    return redis.call('DBSIZE') == 0 and 'OK' or 'it still has keys'" && _redis_memory forget "$1"
)

redis_url() (
  _kind=$(_redis_kind "$1") && _redis_connection || exit 1
  _auth=$(penv_encode "$_user")
  [ -z "$_password" ] || _auth=$_auth:$(penv_encode "$_password")
  case $_host in *:*) _host="[$_host]" ;; esac
  _path=/$1
  [ "$_kind" = index ] || _path=''
  printf '%s://%s%s:%s%s\n' "$_scheme" "${_auth:+$_auth@}" "$_host" "$_port" "$_path"
)

redis_list() (
  _found=$(_redis 'list indexes' '' "ARGV.rows = {'OK'}
    for index = 1, 1000000 do
      if redis.pcall('SELECT', index).err then
        if index == 1 then table.insert(ARGV.rows, 'prefixes') end
        return ARGV.rows
      end
      ARGV.owner = redis.pcall('GET', 'penv:owner')
      if type(ARGV.owner) == 'string' and string.find(ARGV.owner, '^penv ') then table.insert(ARGV.rows, tostring(index)) end
    end") || exit 1
  case $_found in
    prefixes) _redis_keys 'list prefixes' "if string.sub(key, -11) == ':penv:owner' then table.insert(ARGV.rows, string.sub(key, 1, -12)) end" '*' ;;
    ?*) printf '%s\n' "$_found" ;;
  esac
)
