#!/bin/sh
# Installs the real servers and shells that the tests use, and says what this machine cannot have. Again is quick.
#   sh test/setup.sh
# From Debian's packages (as root or with sudo); what they lack goes to $PENV_TEST_SERVERS (~/.cache/penv-test-servers;
# for root /var/cache/penv-test-servers, since the servers run as nobody, who cannot look into root's home).
# Starts no server and leaves none running: the tests start their own, on free ports.
set -eu

cache=$HOME/.cache
[ "$(id -u)" != 0 ] || cache=/var/cache
dir=${PENV_TEST_SERVERS:-${XDG_CACHE_HOME:-$cache}/penv-test-servers}
mkdir -p "$dir/bin"
work=$(mktemp -d)
policy=''
trap 'rm -rf "$work"; [ -z "$policy" ] || $sudo rm -f "$policy"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

sudo=''
[ "$(id -u)" = 0 ] || sudo='sudo -n'

note() {
  printf 'setup: %s\n' "$1" >&2
}

# Debian's packages, without their services: policy-rc.d is how a Debian package asks whether it may start one.
install_packages() {
  if ! command -v apt-get >/dev/null; then
    note "no apt-get here; install by hand what is missing of: $*"
    return
  fi
  missing=''
  for package; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing="$missing $package"
  done
  [ -n "$missing" ] || return 0
  if [ -n "$sudo" ] && ! $sudo true 2>/dev/null; then
    note "not root and no sudo without a password; as root, run: apt-get install$missing"
    return 1
  fi
  $sudo apt-get update -q >&2
  wanted=''
  for package in $missing; do
    if apt-cache show "$package" >/dev/null 2>&1; then
      wanted="$wanted $package"
    else
      note "this distribution has no package $package"
    fi
  done
  [ -n "$wanted" ] || return 0
  if [ ! -e /usr/sbin/policy-rc.d ]; then
    printf '#!/bin/sh\nexit 101\n' >"$work/policy-rc.d"
    chmod 755 "$work/policy-rc.d"
    policy=/usr/sbin/policy-rc.d
    $sudo cp "$work/policy-rc.d" "$policy"
  fi
  # shellcheck disable=SC2086 # a list of package names, each of them a word
  $sudo env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 install -y -q --no-install-recommends $wanted </dev/null >&2
}

# MongoDB's shell, from npm; kept out of package.json because its 360 packages serve this one suite.
install_mongosh() {
  version=2.12.0
  [ ! -x "$dir/bin/mongosh" ] || return 0
  mkdir -p "$dir/mongosh-$version"
  npm install --prefix "$dir/mongosh-$version" --ignore-scripts --no-audit --no-fund "mongosh@$version" >&2
  ln -sf "$dir/mongosh-$version/node_modules/.bin/mongosh" "$dir/bin/mongosh"
}

# MongoDB's protocol over SQLite. Its source wants a version file that the Go proxy's copy lacks.
install_ferretdb() {
  version=v1.24.2
  if ! command -v go >/dev/null; then
    note 'no Go here: the mongodb suite has no server'
    return
  fi
  [ ! -x "$dir/bin/ferretdb" ] || return 0
  source=$(cd "$work" && go mod download -json "github.com/FerretDB/FerretDB@$version" | sed -n 's/.*"Dir": "\(.*\)",*$/\1/p')
  cp -R "$source" "$work/ferretdb"
  chmod -R u+w "$work/ferretdb"
  printf '%s\n' "$version" >"$work/ferretdb/build/version/version.txt"
  (cd "$work/ferretdb" && go build -o "$work/ferretdb.new" ./cmd/ferretdb)
  mv "$work/ferretdb.new" "$dir/bin/ferretdb"
}

# go_install PROGRAM PACKAGE VERSION
go_install() {
  if ! command -v go >/dev/null; then
    note "no Go here, so no $1"
    return
  fi
  [ ! -x "$dir/$1-$3/$1" ] || return 0
  GOBIN=$dir/$1-$3 go install "$2@$3" >&2
  ln -sf "$dir/$1-$3/$1" "$dir/bin/$1"
}

# S3 from npm: it runs wherever Node does, but takes any signature and knows no tags.
install_s3rver() {
  version=3.7.1
  [ ! -x "$dir/s3rver-$version/node_modules/.bin/s3rver" ] || return 0
  mkdir -p "$dir/s3rver-$version"
  npm install --prefix "$dir/s3rver-$version" --ignore-scripts --no-audit --no-fund "s3rver@$version" >&2
  ln -sf "$dir/s3rver-$version/node_modules/.bin/s3rver" "$dir/bin/s3rver"
}

install_pnpm() {
  version=10.34.9
  [ ! -x "$dir/pnpm-$version/node_modules/.bin/pnpm" ] || return 0
  mkdir -p "$dir/pnpm-$version"
  npm install --prefix "$dir/pnpm-$version" --ignore-scripts --no-audit --no-fund "pnpm@$version" >&2
  ln -sf "$dir/pnpm-$version/node_modules/.bin/pnpm" "$dir/bin/pnpm"
}

# What the package managers of the end-to-end fixtures need, into caches of theirs that the stories use offline.
fetch_npm_packages() {
  for lock in "$(dirname "$0")"/fixtures/e2e/*/package-lock.json "$(dirname "$0")"/fixtures/e2e/*/pnpm-lock.yaml; do
    fixture=${lock%/*} name=${lock##*/}
    kept=$dir/e2e/locks/${fixture##*/}
    ! cmp -s "$lock" "$kept/$name" || continue
    rm -rf "$work/fixture" && cp -R "$fixture" "$work/fixture"
    if [ "$name" = package-lock.json ]; then
      npm ci --prefix "$work/fixture" --cache "$dir/e2e/npm" --ignore-scripts --no-audit --no-fund >&2
    else
      "$dir/bin/pnpm" install --dir "$work/fixture" --store-dir "$dir/e2e/pnpm" --frozen-lockfile --ignore-scripts >&2
    fi
    mkdir -p "$kept" && cp "$lock" "$kept/$name"
  done
}

# Wheels for this machine's Python, and an environment of each fixture outside of its checkout, as some developers have
# it. Python is asked whether they do, since it may have become another one.
fetch_wheels() {
  if ! python3 -c 'import ensurepip, pip' 2>/dev/null; then
    note 'no Python with pip here: the end-to-end suites in Python have no packages'
    return
  fi
  wheels=$dir/e2e/pip
  mkdir -p "$wheels"
  for lock in "$(dirname "$0")"/fixtures/e2e/*/requirements.txt; do
    kept=$dir/e2e/locks/$(basename "${lock%/*}")
    python3 -m pip download -q --no-index --find-links "$wheels" -d "$work/wheels" -r "$lock" >/dev/null 2>&1 ||
      python3 -m pip download -q --only-binary :all: --find-links "$wheels" -d "$wheels" -r "$lock" >&2
    environment=$dir/e2e/environments/$(basename "${lock%/*}")
    if ! cmp -s "$lock" "$kept/requirements.txt" || ! "$environment/bin/python" -c '' 2>/dev/null; then
      python3 -m venv --clear "$environment"
      "$environment/bin/pip" install -q --no-index --find-links "$wheels" -r "$lock" >&2
    fi
    mkdir -p "$kept" && cp "$lock" "$kept/requirements.txt"
  done
}

# Modules, and what Go has compiled of them.
fetch_go_modules() {
  command -v go >/dev/null || return 0
  for lock in "$(dirname "$0")"/fixtures/e2e/*/go.sum; do
    fixture=${lock%/*} kept=$dir/e2e/locks/$(basename "${lock%/*}")
    ! cmp -s "$lock" "$kept/go.sum" || continue
    (cd "$fixture" && GOMODCACHE=$dir/e2e/go/modules GOCACHE=$dir/e2e/go/build GOFLAGS=-modcacherw go build -o "$work/" ./... >&2)
    mkdir -p "$kept" && cp "$lock" "$kept/go.sum"
  done
}

# fetch_jars NAME VERSION GROUP:ARTIFACT:VERSION ...: a Java server and all that it needs, from Maven Central.
fetch_jars() {
  if ! command -v mvn >/dev/null || ! command -v java >/dev/null; then
    note "no Java and Maven here: the $1 suite has no server"
    return
  fi
  jars=$dir/jars/$1/$2 pom=$work/$1.xml
  [ ! -d "$jars" ] || return 0
  printf '<project><modelVersion>4.0.0</modelVersion><groupId>x</groupId><artifactId>x</artifactId><version>1</version><dependencies>' >"$pom"
  shift 2
  for artifact; do
    rest=${artifact#*:}
    printf '<dependency><groupId>%s</groupId><artifactId>%s</artifactId><version>%s</version></dependency>' \
      "${artifact%%:*}" "${rest%%:*}" "${rest#*:}" >>"$pom"
  done
  printf '</dependencies></project>\n' >>"$pom"
  mkdir -p "${jars%/*}"
  mvn -q -B -f "$pom" dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$jars.new" >&2
  mv "$jars.new" "$jars"
}

install_packages postgresql redis-server mariadb-server clickhouse-server clickhouse-client sqlite3 \
  rabbitmq-server nats-server curl shellcheck zsh fish
# Debian has it twice, each in conflict with the other.
command -v busybox >/dev/null || install_packages busybox
command -v aws >/dev/null || install_packages awscli
install_mongosh
install_ferretdb
install_s3rver
install_pnpm
fetch_npm_packages
python3 -c 'import ensurepip, pip' 2>/dev/null || install_packages python3 python3-venv python3-pip
fetch_wheels
fetch_go_modules
# The tool of the Go fixture, with the driver that it needs.
GOFLAGS=-tags=no_clickhouse,no_libsql,no_mssql,no_mysql,no_sqlite3,no_vertica,no_ydb go_install goose github.com/pressly/goose/v3/cmd/goose v3.24.3
# S3 over a directory, with signatures that are checked, versions and tags.
go_install versitygw github.com/versity/versitygw/cmd/versitygw v1.8.0
go_install nats github.com/nats-io/natscli/nats v0.5.0
fetch_jars opensearch 2.19.6 org.opensearch:opensearch:2.19.6 \
  org.opensearch.plugin:transport-netty4-client:2.19.6 org.apache.logging.log4j:log4j-core:2.25.4
fetch_jars elasticsearch 7.17.29 org.elasticsearch:elasticsearch:7.17.29 org.elasticsearch.plugin:transport-netty4-client:7.17.29
fetch_jars kafka 4.3.1 org.apache.kafka:kafka_2.13:4.3.1 org.apache.kafka:kafka-tools:4.3.1 \
  org.apache.logging.log4j:log4j-slf4j-impl:2.25.4 org.apache.logging.log4j:log4j-core:2.25.4
