#!/bin/sh
# redpanda: another name for kafka.sh, whose verbs and variables it has.
# shellcheck source=contract/adapters/kafka.sh
. "$PENV_ADAPTERS/kafka.sh"
redpanda_create() { kafka_create "$@"; }
redpanda_verify() { kafka_verify "$@"; }
redpanda_drop() { kafka_drop "$@"; }
redpanda_url() { kafka_url "$@"; }
redpanda_list() { kafka_list; }
