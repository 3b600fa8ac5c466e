#!/bin/sh
# s3: one bucket for each environment on a shared S3 server (MinIO, Garage, SeaweedFS, AWS itself …).
#   . "$PENV_ADAPTERS/s3.sh"; s3_create NAME; s3_verify|drop|url NAME; s3_list
# Buckets take no _: ask for NAME with `penv get name uploads --style kebab`.
# Uses the aws command line where it is installed, else curl (7.86 or newer), which signs for itself. Connects to
# AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL (http://localhost:9000; AWS: https://s3.REGION.amazonaws.com) in AWS_REGION or
# AWS_DEFAULT_REGION (us-east-1) with AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (or MINIO_ROOT_USER and
# MINIO_ROOT_PASSWORD) and AWS_SESSION_TOKEN; aws alone knows profiles too. The app takes these, and NAME as its bucket.
# Buckets carry the tag penv=slice; list shows those that do, and goes by the name where a server knows no tags.
# shellcheck source=contract/adapters/http.sh
. "$PENV_ADAPTERS/http.sh"

_s3_settings() {
  _endpoint=$(penv_url_base "${AWS_ENDPOINT_URL_S3:-${AWS_ENDPOINT_URL:-http://localhost:9000}}")
  AWS_DEFAULT_REGION=${AWS_REGION:-${AWS_DEFAULT_REGION:-us-east-1}}
  if [ -z "${AWS_ACCESS_KEY_ID:-}" ] && [ -n "${MINIO_ROOT_USER:-}" ]; then
    AWS_ACCESS_KEY_ID=$MINIO_ROOT_USER AWS_SECRET_ACCESS_KEY=${MINIO_ROOT_PASSWORD:-}
    export AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY
  fi
  # Servers other than AWS's know the older checksums only.
  AWS_PAGER='' AWS_MAX_ATTEMPTS=2 AWS_REQUEST_CHECKSUM_CALCULATION=when_required
  export AWS_DEFAULT_REGION AWS_PAGER AWS_MAX_ATTEMPTS AWS_REQUEST_CHECKSUM_CALCULATION
}

# _s3 GOAL DEED [BUCKET [WHAT]]: by the client that is here. Status 4 without a word where the thing is not there.
_s3() (
  _client=$(penv_need 'aws curl' 'install one: apt-get install awscli (or curl), or brew install awscli') || exit 1
  _s3_settings
  "_s3_by_$_client" "$@"
)

_s3_aws() (
  _goal=$1 _status=0
  shift
  { _why=$(aws --endpoint-url "$_endpoint" --cli-connect-timeout 5 "$@" 2>&1 >&3 3>&-) || _status=1; } 3>&1
  [ "$_status" -ne 0 ] || exit 0
  case $_why in
    *'(404)'* | *'(NoSuch'*) exit 4 ;;
    *) penv_fail "cannot $_goal on ${_endpoint#*://}: $(_penv_brief "$_why")" ;;
  esac
)

_s3_by_aws() (
  case $2 in
    names) _s3_aws "$1" s3api list-buckets --query 'Buckets[].[Name]' --output text ;;
    find) _s3_aws "$1" s3api head-bucket --bucket "$3" >/dev/null ;;
    make)
      [ "$AWS_DEFAULT_REGION" = us-east-1 ] || set -- "$@" --create-bucket-configuration "LocationConstraint=$AWS_DEFAULT_REGION"
      _goal=$1 _bucket=$3
      shift 3
      _s3_aws "$_goal" s3api create-bucket --bucket "$_bucket" "$@" >/dev/null
      ;;
    tag) _s3_aws "$1" s3api put-bucket-tagging --bucket "$3" --tagging 'TagSet=[{Key=penv,Value=slice}]' ;;
    tags) _s3_aws "$1" s3api get-bucket-tagging --bucket "$3" --query "TagSet[?Key=='penv'].[Value]" --output text ;;
    put) printf '%s' "$4" | _s3_aws "$1" s3 cp --only-show-errors - "s3://$3/$4" ;;
    get) _s3_aws "$1" s3 cp --only-show-errors "s3://$3/$4" - ;;
    delete) _s3_aws "$1" s3 rm --only-show-errors "s3://$3/$4" ;;
    empty)
      while _list=$(_s3_aws "$1" s3api list-object-versions --bucket "$3" --max-items 1000 --output json \
        --query '{Objects: [Versions, DeleteMarkers][][].{Key: Key, VersionId: VersionId}}' 2>/dev/null); do
        case $_list in *'"Key"'*) ;; *) exit 0 ;; esac
        _gone=$(printf '%s' "$_list" | _s3_aws "$1" s3api delete-objects --bucket "$3" --delete file:///dev/stdin) || exit
        case $_gone in *'"Errors"'*) penv_fail "cannot $1: $(_penv_brief "$_gone")" || exit 1 ;; esac
      done
      _s3_aws "$1" s3 rm --recursive --only-show-errors "s3://$3"
      ;;
    remove) _s3_aws "$1" s3api delete-bucket --bucket "$3" ;;
  esac
)

# What curl needs to sign. The payload goes unsigned, since curl is given it in pieces.
_s3_signature() (
  penv_login "$AWS_ACCESS_KEY_ID" "${AWS_SECRET_ACCESS_KEY:-}"
  printf 'path-as-is\naws-sigv4 = "aws:amz:%s:s3"\nheader = "x-amz-content-sha256: UNSIGNED-PAYLOAD"\n' "$AWS_DEFAULT_REGION"
  [ -z "${AWS_SESSION_TOKEN:-}" ] || printf 'header = %s\n' "$(penv_quote "x-amz-security-token: $AWS_SESSION_TOKEN")"
)

# _s3_curl GOAL METHOD PATH [BODY]: the query must be sorted, and each name in it have a =, to be signed right.
_s3_curl() (
  _s3_signature | penv_http "$1" "$2" "$_endpoint/$3" "${4:-}"
)

_s3_by_curl() (
  [ -n "${AWS_ACCESS_KEY_ID:-}" ] || penv_fail "cannot $1 on ${_endpoint#*://}: no credentials: AWS_ACCESS_KEY_ID is not set" || exit 1
  _space='xmlns="http://s3.amazonaws.com/doc/2006-03-01/"' _body=''
  case $2 in
    names)
      _answer=$(_s3_curl "$1" GET '') || exit
      printf '%s' "$_answer" | awk 'BEGIN { RS = "<" } sub(/^Name>/, "")'
      ;;
    find) _s3_curl "$1" GET "$3?max-keys=1" >/dev/null ;;
    make)
      [ "$AWS_DEFAULT_REGION" = us-east-1 ] ||
        _body="<CreateBucketConfiguration $_space><LocationConstraint>$AWS_DEFAULT_REGION</LocationConstraint></CreateBucketConfiguration>"
      _s3_curl "$1" PUT "$3" "$_body" >/dev/null
      ;;
    tag) # S3 demands a digest of this body, and POSIX has no MD5: the same body each time, so that the digest is known.
      { _s3_signature && printf 'header = "content-md5: %s"\n' 'f3PFKz9SMT84ESrCteQvfQ=='; } | penv_http "$1" PUT "$_endpoint/$3?tagging=" \
        "<Tagging $_space><TagSet><Tag><Key>penv</Key><Value>slice</Value></Tag></TagSet></Tagging>"
      ;;
    tags)
      _answer=$(_s3_curl "$1" GET "$3?tagging=") || exit
      printf '%s' "$_answer" | awk 'BEGIN { RS = "<" } /^Key>/ { key = $0 } /^Value>/ && key == "Key>penv" && sub(/^Value>/, "")'
      ;;
    put) _s3_curl "$1" PUT "$3/$4" "$4" ;;
    get) _s3_curl "$1" GET "$3/$4" ;;
    delete) _s3_curl "$1" DELETE "$3/$4" ;;
    empty)
      _query='versions='
      _s3_curl "$1" GET "$3?$_query" >/dev/null 2>&1 || _query='max-keys=1000'
      while _answer=$(_s3_curl "$1" GET "$3?$_query") || exit; do
        _paths=$(printf '%s' "$_answer" | _s3_paths) || exit 1
        [ -n "$_paths" ] || exit 0
        _why=$({
          _s3_signature
          printf 'request = DELETE\nfail\nfail-early\n'
          printf '%s\n' "$_paths" | sed "s,.*,url = \"$_endpoint/$3/&\","
        } | curl -q -sS -g --connect-timeout 5 -K - 2>&1) || penv_fail "cannot $1 on ${_endpoint#*://}: $(_penv_brief "$_why")" || exit 1
      done
      ;;
    remove) _s3_curl "$1" DELETE "$3" ;;
  esac
)

# _s3_paths <LISTING: its objects, or their versions, as paths. Bytes are encoded by way of od, since not every awk knows
# bytes; a line end or a tab in a key travels there as 1 or 2.
_s3_paths() {
  awk '
    BEGIN {
      RS = "<"
      n = split("amp|&|lt|<|gt|>|quot|\"|#34|\"|apos|\047|#39|\047|#13|\r|#xD|\r|#10|\001|#xA|\001|#9|\002|#x9|\002", pair, "|")
      for (i = 1; i < n; i += 2) entity[pair[i]] = pair[i + 1]
    }
    function decode(text,   out) {
      gsub(/\n/, "\001", text)
      gsub(/\t/, "\002", text)
      while (match(text, /&[^;]*;/)) {
        out = out substr(text, 1, RSTART - 1) entity[substr(text, RSTART + 1, RLENGTH - 2)]
        text = substr(text, RSTART + RLENGTH)
      }
      return out text
    }
    /^(Contents|Version|DeleteMarker)>/ { key = version = "" }
    sub(/^Key>/, "") { key = $0 }
    sub(/^VersionId>/, "") { version = $0 }
    /^\/(Contents|Version|DeleteMarker)>/ { print decode(key) (version == "" ? "" : "\t" version) }' |
    od -An -v -tx1 | LC_ALL=C awk '
    BEGIN {
      for (i = 0; i < 16; i++) digit[substr("0123456789abcdef", i + 1, 1)] = i
      text["01"] = "%0A"; text["02"] = "%09"; text["09"] = "?versionId="; text["0a"] = "\n"
    }
    {
      for (i = 1; i <= NF; i++) {
        if (!($i in text)) {
          char = sprintf("%c", digit[substr($i, 1, 1)] * 16 + digit[substr($i, 2, 1)])
          text[$i] = $i < "80" && char ~ /[A-Za-z0-9._~\/-]/ ? char : "%" toupper($i)
        }
        printf "%s", text[$i]
      }
    }'
}

_s3_check() (
  LC_ALL=C
  case $1 in
    '' | ? | ?? | *[!a-z0-9-]* | -* | *-)
      penv_fail "\"$1\" is not a bucket: use 3 to 63 of a-z, 0-9 and - (penv get name … --style kebab)" || exit 1
      ;;
  esac
  [ "${#1}" -le 63 ] || penv_fail "the name \"$1\" has ${#1} bytes: buckets take 63" || exit 1
  penv_check_own "$1"
)

# Tags are written whole, so those that somebody else gave stay; a server without tags has none to read either.
s3_create() (
  _s3_check "$1" || exit 1
  [ -z "${2:-}" ] || penv_fail "cannot create bucket \"$1\" from \"$2\": S3 has no templates" || exit 1
  _goal="create bucket \"$1\"" _status=0
  _s3 "$_goal" find "$1" || _status=$?
  case $_status in
    0) ;;
    4) _s3 "$_goal" make "$1" || exit 1 ;;
    *) exit 1 ;;
  esac
  _status=0
  _s3 "$_goal" tags "$1" >/dev/null 2>&1 || _status=$?
  [ "$_status" -ne 4 ] || _s3 "$_goal" tag "$1"
)

# The canary must be in NAME, and not in a bucket that does not exist, as where a server ignores the bucket.
s3_verify() (
  _s3_check "$1" || exit 1
  _goal="verify bucket \"$1\"" _status=0 _word=penv-canary-$$
  _s3 "$_goal" find "$1" || _status=$?
  [ "$_status" -ne 4 ] || penv_fail "cannot $_goal: the server has no such bucket" || exit 1
  [ "$_status" -eq 0 ] || exit 1
  _s3 "$_goal" put "$1" "$_word" && _inside=$(_s3 "$_goal" get "$1" "$_word") || exit 1
  _outside=$(_s3 "$_goal" get "${1%??}-x" "$_word" 2>/dev/null) || _outside=''
  _s3 "$_goal" delete "$1" "$_word" || exit 1
  [ "$_inside" = "$_word" ] || penv_fail "cannot $_goal: an object that was written reads \"$_inside\"" || exit 1
  [ -z "$_outside" ] || penv_fail "bucket \"$1\" is not isolated: its objects show in another bucket"
)

s3_drop() (
  _s3_check "$1" || exit 1
  _goal="drop bucket \"$1\"" _status=0
  _s3 "$_goal" find "$1" || _status=$?
  [ "$_status" -ne 4 ] || exit 0
  [ "$_status" -eq 0 ] && _s3 "$_goal" empty "$1" && _s3 "$_goal" remove "$1" || exit 1
  _s3 "$_goal" find "$1" || _status=$?
  [ "$_status" -eq 4 ] || penv_fail "bucket \"$1\" is still there after its drop"
)

s3_url() (
  _s3_check "$1" || exit 1
  _s3_settings
  printf '%s/%s\n' "$_endpoint" "$1"
)

s3_list() (
  _names=$(_s3 'list buckets' names) || exit 1
  printf '%s\n' "$_names" | sed -n '/^[a-z][a-z0-9-]*-[0-9a-hjkmnp-tv-z]\{6,\}$/p' | sort | while IFS= read -r _name; do
    _status=0
    _id=$(_s3 'read tags' tags "$_name" 2>/dev/null) || _status=$?
    case $_status:$_id in
      0:?* | 1:*) printf '%s\n' "$_name" ;;
    esac
  done
)
