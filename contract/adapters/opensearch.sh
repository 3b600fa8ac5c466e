#!/bin/sh
# opensearch: another name for elasticsearch.sh, whose verbs and variables it has.
# shellcheck source=contract/adapters/elasticsearch.sh
. "$PENV_ADAPTERS/elasticsearch.sh"
opensearch_create() { elasticsearch_create "$@"; }
opensearch_verify() { elasticsearch_verify "$@"; }
opensearch_drop() { elasticsearch_drop "$@"; }
opensearch_url() { elasticsearch_url "$@"; }
opensearch_list() { elasticsearch_list; }
