#!/bin/sh
# qdrant: one collection prefix for each environment on a shared Qdrant server, with curl.
#   . "$PENV_ADAPTERS/qdrant.sh"; qdrant_create NAME; qdrant_verify|drop|url NAME; qdrant_list
# The app puts NAME and - (or .) before the name of every collection and alias: NAME-products.
# Connects to QDRANT_URL (http://localhost:6333) with QDRANT_API_KEY where the server asks for a key.
# The marker is the collection NAME-penv, of vectors with one dimension.
# Not yet run against a real server: tested against a stand-in that answers as Qdrant's documentation says.
# shellcheck source=contract/adapters/http.sh
. "$PENV_ADAPTERS/http.sh"
# shellcheck source=contract/adapters/prefix.sh
. "$PENV_ADAPTERS/prefix.sh"

# _qdrant GOAL METHOD PATH [BODY]
_qdrant() (
  {
    [ -z "${QDRANT_API_KEY:-}" ] || printf 'header = %s\n' "$(penv_quote "api-key: $QDRANT_API_KEY")"
  } | penv_http "$1" "$2" "$(penv_url_base "${QDRANT_URL:-http://localhost:6333}")/$3" "${4:-}"
)

# _qdrant_collections GOAL, _qdrant_aliases GOAL ("alias collection"): a line each. Qdrant allows no quotes in names.
_qdrant_collections() (
  _answer=$(_qdrant "$1" GET collections) || exit 1
  printf '%s\n' "$_answer" | tr '{}' '[\n*]' | sed -n 's/^"name":"\([^"]*\)"$/\1/p'
)

_qdrant_aliases() (
  _answer=$(_qdrant "$1" GET aliases) || exit 1
  printf '%s\n' "$_answer" | tr '{}' '[\n*]' | sed -n 's/^"alias_name":"\([^"]*\)","collection_name":"\([^"]*\)"$/\1 \2/p'
)

qdrant_create() (
  penv_prefix_check "$1" 200 "${2:-}" || exit 1
  _collections=$(_qdrant_collections "create \"$1\"") || exit 1
  ! penv_prefix_has "$_collections" "$1-penv" || exit 0
  _qdrant "create \"$1\"" PUT "collections/$1-penv" '{"vectors":{"size":1,"distance":"Dot"}}' >/dev/null
)

# The canary is a point of the marker. An alias across the border would let main search what is ours.
qdrant_verify() (
  penv_prefix_check "$1" 200 || exit 1
  _goal="verify \"$1\"" _word=canary$$
  _collections=$(_qdrant_collections "$_goal") && _aliases=$(_qdrant_aliases "$_goal") || exit 1
  penv_prefix_has "$_collections" "$1-penv" ||
    penv_fail "cannot $_goal: the server has no collection $1-penv" || exit 1
  printf '%s\n' "$_collections" | penv_prefix_near "$1" collection
  _crossings=$(printf '%s\n' "$_aliases" | penv_prefix_crossings "$1")
  [ -z "$_crossings" ] || penv_fail "\"$1\" is not isolated: an alias crosses its border: $_crossings" || exit 1
  _qdrant "$_goal" PUT "collections/$1-penv/points?wait=true" \
    "{\"points\":[{\"id\":1,\"vector\":[1],\"payload\":{\"word\":\"$_word\"}}]}" >/dev/null &&
    _inside=$(_qdrant "$_goal" GET "collections/$1-penv/points/1") &&
    _qdrant "$_goal" POST "collections/$1-penv/points/delete?wait=true" '{"points":[1]}' >/dev/null || exit 1
  case $_inside in
    *"\"$_word\""*) ;;
    *) penv_fail "cannot $_goal: a point that was written is not there" ;;
  esac
)

qdrant_drop() (
  penv_prefix_check "$1" 200 || exit 1
  _goal="drop \"$1\""
  _aliases=$(_qdrant_aliases "$_goal") || exit 1
  printf '%s\n' "$_aliases" | sed 's/ .*//' | penv_prefix_own "$1" | while IFS= read -r _alias; do
    _qdrant "$_goal" POST collections/aliases "{\"actions\":[{\"delete_alias\":{\"alias_name\":\"$_alias\"}}]}" >/dev/null || exit 1
  done || exit 1
  _collections=$(_qdrant_collections "$_goal") || exit 1
  printf '%s\n' "$_collections" | penv_prefix_own "$1" | while IFS= read -r _collection; do
    _qdrant "$_goal" DELETE "collections/$(penv_encode "$_collection")" >/dev/null || [ $? -eq 4 ] || exit 1
  done || exit 1
  _collections=$(_qdrant_collections "$_goal") || exit 1
  _left=$(printf '%s\n' "$_collections" | penv_prefix_own "$1" | tr '\n' ' ')
  [ -z "$_left" ] || penv_fail "\"$1\" is still there after its drop: $_left" || exit 1
  printf '%s\n' "$_collections" | penv_prefix_near "$1" collection
)

qdrant_url() (
  penv_check_name "$1" 200 || exit 1
  penv_url_base "${QDRANT_URL:-http://localhost:6333}"
)

qdrant_list() (
  _collections=$(_qdrant_collections 'list collections') || exit 1
  printf '%s\n' "$_collections" | penv_prefix_slices
)
