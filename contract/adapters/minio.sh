#!/bin/sh
# minio: another name for s3.sh, whose verbs and variables it has.
# shellcheck source=contract/adapters/s3.sh
. "$PENV_ADAPTERS/s3.sh"
minio_create() { s3_create "$@"; }
minio_verify() { s3_verify "$@"; }
minio_drop() { s3_drop "$@"; }
minio_url() { s3_url "$@"; }
minio_list() { s3_list; }
