#!/bin/sh
# valkey: another name for redis.sh, whose verbs and variables it has.
# shellcheck source=contract/adapters/redis.sh
. "$PENV_ADAPTERS/redis.sh"
valkey_create() { redis_create "$@"; }
valkey_verify() { redis_verify "$@"; }
valkey_drop() { redis_drop "$@"; }
valkey_url() { redis_url "$@"; }
valkey_list() { redis_list; }
