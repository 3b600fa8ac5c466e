#!/bin/sh
# mongodb: one database for each environment on a shared MongoDB, or a server that speaks its protocol, with mongosh.
#   . "$PENV_ADAPTERS/mongodb.sh"; mongodb_create NAME [TEMPLATE]; mongodb_verify|drop|url NAME; mongodb_list
#   mongodb_freeze|drop_template penv_tpl_…    a template; create copies it, inside the server where that has $merge
# After create, mongodb_cloned is 1 when NAME was copied just now, else empty: then migrate from nothing.
# Connects to MONGO_URL (mongodb://127.0.0.1:27017), whose database only says where the account is, as authSource does.
# The mark of a database is the document of its collection penv_owner: it makes the database exist, and list needs it.
# Run against FerretDB 1.24 with mongosh 2; not yet against MongoDB itself, whose $merge FerretDB lacks.
# shellcheck source=contract/adapters/common.sh
. "$PENV_ADAPTERS/common.sh"

# _mongodb_url NAME: MONGO_URL with another database. Where the account is was told by the old one, so it becomes authSource.
_mongodb_url() (
  _base=${MONGO_URL:-mongodb://127.0.0.1:27017}
  case $_base in
    mongodb://?* | mongodb+srv://?*) ;;
    *) penv_fail 'MONGO_URL is not a URL that starts with mongodb:// or mongodb+srv://' || exit 1 ;;
  esac
  _query='' _path=''
  case $_base in *\?*) _query=${_base#*\?} _base=${_base%%\?*} ;; esac
  _rest=${_base#*://}
  case $_rest in */*) _path=${_rest#*/} _rest=${_rest%%/*} ;; esac
  case "$_rest $_query" in
    *authSource=*) ;;
    *@*) _query=authSource=${_path:-admin}${_query:+&$_query} ;;
  esac
  printf '%s://%s/%s%s\n' "${_base%%://*}" "$_rest" "$1" "${_query:+?$_query}"
)

# What the scripts below have: names from the environment, which mongosh awaits by itself.
# shellcheck disable=SC2016 # $set is MongoDB's
_mongodb_js='
const { MONGO_URL, PENV_NAME, PENV_FROM, PENV_MARK } = process.env
const say = error => process.stderr.write(error.message.replace(/:[^:@/]*@/g, ":***@") + "\n")
const refuse = why => { throw new Error(why) }
let connection
const at = name => connection.getSiblingDB(name)
const names = () => connection.adminCommand({ listDatabases: 1, nameOnly: true }).databases.map(one => one.name)
const markOf = name => { const found = at(name).penv_owner.findOne({ _id: "penv" }); return found ? found.mark : "" }
const setMark = mark => at(PENV_NAME).penv_owner.updateOne({ _id: "penv" }, { $set: { mark } }, { upsert: true })
const remove = () => {
  at(PENV_NAME).dropDatabase()
  if (names().includes(PENV_NAME)) refuse("it is still there after its drop")
}
'

# _mongodb GOAL JS [NAME [FROM]]: JS runs connected. What it prints is the answer; what it throws is why it failed.
_mongodb() (
  _goal=$1 _js=$2 _status=0
  penv_need mongosh 'install it: npm install --global mongosh, or brew install mongosh' >/dev/null || exit 1
  _url=$(_mongodb_url '') || exit 1
  case $_url in *serverSelectionTimeoutMS=*) ;; *\?*) _url="$_url&serverSelectionTimeoutMS=5000" ;; *) _url="$_url?serverSelectionTimeoutMS=5000" ;; esac
  {
    _why=$(
      MONGO_URL=$_url PENV_NAME=${3:-} PENV_FROM=${4:-} PENV_MARK=$(penv_mark "${3:-}") mongosh --nodb --quiet --norc --eval "$_mongodb_js
        try { connection = connect(MONGO_URL)
          $_js
        } catch (error) { say(error); quit(1) }
        void 0" 2>&1 >&3 3>&-
    ) || _status=1
  } 3>&1
  _hosts=${_url#*://} && _hosts=${_hosts%%/*}
  [ "$_status" -eq 0 ] || penv_fail "cannot $_goal on ${_hosts##*@}: $_why"
)

# A copy is marked as unfinished until it is complete, so that a killed one starts over.
# shellcheck disable=SC2016 # $merge is MongoDB's
_mongodb_make='
const copyOne = (from, info) => {
  const into = at(PENV_NAME), name = info.name
  if (info.type === "view") return into.runCommand({ create: name, ...info.options })
  into.createCollection(name, info.options)
  try {
    from[name].aggregate([{ $merge: { into: { db: PENV_NAME, coll: name } } }]).toArray()
  } catch (error) {
    into[name].deleteMany({})
    let batch = []
    const cursor = from[name].find()
    while (cursor.hasNext()) {
      batch.push(cursor.next())
      if (batch.length < 1000 && cursor.hasNext()) continue
      into[name].insertMany(batch)
      batch = []
    }
  }
  const indexes = []
  for (const { ns, v, ...index } of from[name].getIndexes()) if (index.name !== "_id_") indexes.push(index)
  if (indexes.length > 0) into.runCommand({ createIndexes: name, indexes })
}
const copy = () => {
  if (!names().includes(PENV_FROM)) refuse("there is no such database")
  setMark("penv copying")
  const infos = at(PENV_FROM).getCollectionInfos()
  for (const type of ["collection", "timeseries", "view"])
    for (const info of infos)
      if (info.type === type && info.name !== "penv_owner" && !info.name.startsWith("system.")) copyOne(at(PENV_FROM), info)
}
let exists = names().includes(PENV_NAME)
const mark = exists ? markOf(PENV_NAME) : ""
if (mark === "penv copying") { remove(); exists = false }
else if (mark !== "" && mark !== PENV_MARK) refuse(mark.replace("penv ", "") + " owns it")
let answer = exists ? "there" : "made"
if (!exists && PENV_FROM !== "") {
  try { copy(); answer = "cloned" } catch (error) {
    if (error.code === 14031 || /no space left/i.test(error.message)) throw error
    remove()
    answer = error.message
  }
}
if (PENV_MARK !== "") setMark(PENV_MARK)
print(answer)
'

# shellcheck disable=SC2034 # mongodb_cloned is for the script that sources this
mongodb_create() {
  mongodb_cloned=''
  penv_check_name "$1" 63 && { [ -z "${2:-}" ] || penv_check_name "$2" 63; } || return
  _mongodb_said=$(_mongodb "create database \"$1\"${2:+ from \"$2\"}" "$_mongodb_make" "$1" "${2:-}") || return
  case $_mongodb_said in
    there | made) ;;
    cloned) mongodb_cloned=1 ;;
    *) printf 'penv: cannot copy database "%s" to "%s": %s\n  it is created empty instead, so every migration runs\n' "$2" "$1" "$_mongodb_said" >&2 ;;
  esac
}

mongodb_verify() (
  penv_check_name "$1" 63 && penv_check_own "$1" || exit 1
  _mongodb "verify database \"$1\"" '
    if (!names().includes(PENV_NAME)) refuse("it does not exist")
    const mark = markOf(PENV_NAME)
    if (mark !== "" && mark !== PENV_MARK) refuse(mark.replace("penv ", "") + " owns it")
    const canary = { _id: new ObjectId() }
    at(PENV_NAME).penv_canary.insertOne(canary)
    let leak = ""
    for (const name of ["test", "admin"]) if (at(name).penv_canary.findOne(canary) !== null) leak = name
    at(PENV_NAME).penv_canary.drop()
    if (leak !== "") refuse("what is written to it shows in the database " + leak)
  ' "$1"
)

mongodb_drop() (
  penv_check_name "$1" 63 && penv_check_own "$1" && _mongodb "drop database \"$1\"" 'remove()' "$1"
)

mongodb_drop_template() (
  penv_check_template "$1" && _mongodb "drop database \"$1\"" 'remove()' "$1"
)

# Nothing locks a database of this family: freezing says whether the template is complete.
mongodb_freeze() (
  penv_check_template "$1" && _mongodb "freeze template \"$1\"" '
    if (!names().includes(PENV_NAME) || markOf(PENV_NAME) !== PENV_MARK) refuse("it does not exist, or is not complete")
  ' "$1"
)

mongodb_url() (
  penv_check_name "$1" 63 && _mongodb_url "$1"
)

mongodb_list() (
  _mongodb 'list databases' '
    for (const name of names().sort()) {
      const mark = markOf(name)
      if (typeof mark === "string" && mark.startsWith("penv ") && mark !== "penv template") print(name)
    }'
)
