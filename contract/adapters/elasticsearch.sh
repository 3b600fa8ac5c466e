#!/bin/sh
# elasticsearch: one index prefix for each environment on a shared Elasticsearch or OpenSearch cluster, with curl.
#   . "$PENV_ADAPTERS/elasticsearch.sh"; elasticsearch_create NAME; elasticsearch_verify|drop|url NAME; elasticsearch_list
# The app puts NAME and - (or .) before the name of every index, data stream, alias and index template: NAME-products.
# Connects to ELASTICSEARCH_URL (or OPENSEARCH_URL; http://localhost:9200), with the login in that URL, or as
# ELASTICSEARCH_USERNAME (elastic) with ELASTICSEARCH_PASSWORD (or ELASTIC_PASSWORD), or as OPENSEARCH_USERNAME (admin)
# with OPENSEARCH_PASSWORD, or with ELASTICSEARCH_API_KEY. For a certificate of one's own: CURL_CA_BUNDLE.
# The marker is the hidden, empty index NAME-penv. Run against Elasticsearch 7.17 and OpenSearch 2.19.
# shellcheck source=contract/adapters/http.sh
. "$PENV_ADAPTERS/http.sh"
# shellcheck source=contract/adapters/prefix.sh
. "$PENV_ADAPTERS/prefix.sh"

# _elasticsearch_settings: sets _url _user _password. For subshells.
_elasticsearch_settings() {
  _given=${ELASTICSEARCH_URL:-${OPENSEARCH_URL:-http://localhost:9200}}
  _url=$(penv_url_base "$_given")
  _user=$(penv_url_user "$_given") _password=$(penv_url_password "$_given")
  if [ -z "$_user" ] && [ -n "${ELASTICSEARCH_PASSWORD:-${ELASTIC_PASSWORD:-}}" ]; then
    _user=${ELASTICSEARCH_USERNAME:-elastic} _password=${ELASTICSEARCH_PASSWORD:-$ELASTIC_PASSWORD}
  elif [ -z "$_user" ] && [ -n "${OPENSEARCH_PASSWORD:-}" ]; then
    _user=${OPENSEARCH_USERNAME:-admin} _password=$OPENSEARCH_PASSWORD
  fi
}

# _elasticsearch GOAL METHOD PATH [BODY]
_elasticsearch() (
  _elasticsearch_settings
  {
    if [ -z "$_user" ] && [ -n "${ELASTICSEARCH_API_KEY:-}" ]; then
      printf 'header = %s\n' "$(penv_quote "Authorization: ApiKey $ELASTICSEARCH_API_KEY")"
    fi
    penv_login "$_user" "$_password"
  } | penv_http "$1" "$2" "$_url/$3" "${4:-}"
)

# _elasticsearch_indices GOAL: the names of all indices, hidden and closed ones too.
_elasticsearch_indices() (
  _answer=$(_elasticsearch "$1" GET '_cat/indices?h=index&expand_wildcards=all') || exit 1
  printf '%s\n' "$_answer" | sed 's/ *$//'
)

elasticsearch_create() (
  penv_prefix_check "$1" 200 "${2:-}" || exit 1
  _indices=$(_elasticsearch_indices "create \"$1\"") || exit 1
  ! penv_prefix_has "$_indices" "$1-penv" || exit 0
  _elasticsearch "create \"$1\"" PUT "$1-penv" \
    '{"settings":{"index":{"number_of_shards":1,"number_of_replicas":0,"hidden":true}}}' >/dev/null
)

# Outside means: through any index but the marker. An alias across the border would let main search what is ours.
elasticsearch_verify() (
  penv_prefix_check "$1" 200 || exit 1
  _goal="verify \"$1\"" _word=canary$$
  _indices=$(_elasticsearch_indices "$_goal") || exit 1
  penv_prefix_has "$_indices" "$1-penv" || penv_fail "cannot $_goal: the cluster has no index $1-penv" || exit 1
  printf '%s\n' "$_indices" | penv_prefix_near "$1" index
  _aliases=$(_elasticsearch "$_goal" GET '_cat/aliases?h=alias,index&expand_wildcards=all') || exit 1
  _crossings=$(printf '%s\n' "$_aliases" | penv_prefix_crossings "$1")
  [ -z "$_crossings" ] || penv_fail "\"$1\" is not isolated: an alias crosses its border: $_crossings" || exit 1
  _elasticsearch "$_goal" PUT "$1-penv/_doc/canary?refresh=true" "{\"word\":\"$_word\"}" >/dev/null &&
    _inside=$(_elasticsearch "$_goal" GET "$1-penv/_count?q=word:$_word") &&
    _outside=$(_elasticsearch "$_goal" GET "*,-$1-penv/_count?q=word:$_word&ignore_unavailable=true") &&
    _elasticsearch "$_goal" DELETE "$1-penv/_doc/canary?refresh=true" >/dev/null || exit 1
  case $_inside$_outside in
    '{"count":1,'*'{"count":0,'*) ;;
    *) penv_fail "\"$1\" is not isolated: counted a document inside and outside, expected 1 and 0: $_inside $_outside" ;;
  esac
)

# What is left of NAME, a line each: kind/name. A data stream goes first: its indices cannot be deleted one by one.
_elasticsearch_left() (
  _indices=$(_elasticsearch_indices "$2") && _templates=$(_elasticsearch "$2" GET '_cat/templates?h=name') || exit 1
  printf '%s\n' "$_indices" | sed -n 's/^\.ds-//p' | sed -e 's/-[0-9]*$//' -e 's/-[0-9]\{4\}\.[0-9][0-9]\.[0-9][0-9]$//' |
    penv_prefix_own "$1" | sort -u | sed 's,^,_data_stream/,'
  printf '%s\n' "$_indices" | penv_prefix_own "$1" | sed 's,^,index/,'
  printf '%s\n' "$_templates" | sed 's/ *$//' | penv_prefix_own "$1" | sed 's,.*,_index_template/&\n_template/&,'
)

elasticsearch_drop() (
  penv_prefix_check "$1" 200 || exit 1
  _goal="drop \"$1\""
  _left=$(_elasticsearch_left "$1" "$_goal") || exit 1
  printf '%s\n' "$_left" | while IFS=/ read -r _kind _name; do
    case $_kind in
      '') continue ;;
      index) _path='' ;;
      *) _path=$_kind/ ;;
    esac
    _elasticsearch "$_goal" DELETE "$_path$(penv_encode "$_name")" >/dev/null || [ $? -eq 4 ] || exit 1
  done || exit 1
  _left=$(_elasticsearch_left "$1" "$_goal") || exit 1
  [ -z "$_left" ] || penv_fail "\"$1\" is still there after its drop: $(printf '%s' "$_left" | tr '\n' ' ')" || exit 1
  _indices=$(_elasticsearch_indices "$_goal") || exit 1
  printf '%s\n' "$_indices" | penv_prefix_near "$1" index
)

elasticsearch_url() (
  penv_check_name "$1" 200 || exit 1
  _elasticsearch_settings
  _login=${_user:+$(penv_encode "$_user"):$(penv_encode "$_password")@}
  printf '%s://%s%s\n' "${_url%%://*}" "$_login" "${_url#*://}"
)

elasticsearch_list() (
  _indices=$(_elasticsearch_indices 'list indices') || exit 1
  printf '%s\n' "$_indices" | penv_prefix_slices
)
