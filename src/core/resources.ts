// Which variables name a resource (a host, port, database, index), and which of them two checkouts share.
// Pure. Only keys leave this file: values may be secrets.

export interface SharedResource {
  key: string
  /** `equal`: the environment points at main's. `unset`: the app would fall back to main's value. */
  how: 'equal' | 'unset'
  /** The file of the main checkout that sets it. */
  file: string
}

// Some clients read names without an underline: PGHOST, and MYSQLPORT of hosting services.
const HOST_PART =
  /(?:^|_|(?<=^(?:PG|MYSQL|REDIS|MONGO)))(HOST|HOSTNAME|ADDR|ADDRESS|LISTEN|BIND|SERVER|PORT)$/i
const SLICE_PART =
  /(?:^|_|(?<=^(?:PG|MYSQL|REDIS|MONGO)))(DB|DATABASE|DBNAME|DB_NAME|DATABASE_NAME|NAMESPACE|INDEX|PREFIX|BUCKET|VHOST|SCHEMA|TOPIC|QUEUE|KEYSPACE|DB_INDEX)$/i
// A port beside such a name is that of the server; beside another it may be the app's own.
const SERVER_GROUP =
  /(^|_)(DB|DATABASE|SQL|PG|POSTGRES(QL)?|MYSQL|MARIADB|MONGO(DB)?|REDIS|VALKEY|CLICKHOUSE)$/i
const PORT_PART = /(?:^|_|^(?:PG|MYSQL|REDIS|MONGO))PORT$/i
const LOCATION_PART = /(^|_)(URL|URI|DSN|ENDPOINT|BROKERS|SERVERS|CONNECTION|CONNECTION_STRING)$/i
// Which one of several is chosen: Laravel's DB_CONNECTION=mysql.
const CHOICE = /(^|_)CONNECTION$/i
const FILE_URL = /^(file|sqlite3?):/i
// Below the checkout, so that each has its own. Three slashes mean relative to some readers and absolute to others.
const OWN_FILE_URL = /^(file:(?!\/)|sqlite3?:(\/\/)?(?!\/))(?!\.\.\/)/i
const URL_SHAPE = /^[a-z][a-z0-9+.-]*:\/\//i

// Who may call, rather than what is called.
const CALLERS = /(^|_)(CORS\w*|ORIGINS?|ALLOW(ED)?_\w+|TRUSTED_\w+)$/i

/** Whether this variable names a resource by its key or the shape of its value. */
export function namesResource(key: string, value: string): boolean {
  if (value === '' || CALLERS.test(key) || (CHOICE.test(key) && /^[\w-]+$/.test(value))) return false
  if (FILE_URL.test(value)) return true
  if (URL_SHAPE.test(value)) return !isElsewhere(value)
  return HOST_PART.test(key) || SLICE_PART.test(key) || LOCATION_PART.test(key)
}

/** A web address that is not on this machine is a service of somebody else, not a resource of the checkout. */
function isElsewhere(value: string): boolean {
  const match = /^https?:\/\/(?:[^@/]*@)?(\[[^\]]*\]|[^:/?#]*)/i.exec(value)
  if (match === null) return false
  const host = (match[1] ?? '').toLowerCase()
  return !/^(localhost|.*\.localhost|.*\.local|.*\.test|127\.\d+\.\d+\.\d+|0\.0\.0\.0|\[::1?\]|host\.docker\.internal|[^.]*)$/.test(
    host,
  )
}

/**
 * The parts of one resource share what stands before the part's name: `DB_` of DB_HOST and DB_PORT. DB_NAME may
 * be the name of `DB_`, or a DB_NAME of its own: both count.
 */
function groupsOf(key: string): string[] {
  const part = [SLICE_PART, HOST_PART].find(pattern => pattern.test(key))
  if (part === undefined) return []
  const groups = [key.replace(part, ''), ...(/_(NAME|INDEX)$/i.test(key) ? [key.replace(/_[^_]*$/, '')] : [])]
  return groups.filter(group => group !== '')
}

/**
 * Resources of the main checkout that this environment does not keep apart.
 * Host and port may be the same where the database, index or prefix of the same group differs: that is how a
 * shared server is used. The database may have the same name where the port of its group differs: then the server is
 * another.
 * @param allowed keys that the repository lists in `.preview/shared`
 */
export function findSharedResources(
  own: ReadonlyMap<string, string>,
  main: ReadonlyMap<string, { value: string; file: string }>,
  allowed: ReadonlySet<string>,
): SharedResource[] {
  const separated = new Set<string>()
  const moved = new Set<string>()
  for (const [key, { value }] of main) {
    const ours = own.get(key)
    if (ours === undefined || ours === value) continue
    const differing = SLICE_PART.test(key) ? separated : PORT_PART.test(key) ? moved : undefined
    for (const group of groupsOf(key)) differing?.add(group)
  }
  const shared: SharedResource[] = []
  for (const [key, { value, file }] of main) {
    if (allowed.has(key) || key.startsWith('PENV_') || !namesResource(key, value)) continue
    if (OWN_FILE_URL.test(value)) continue
    if (HOST_PART.test(key) && groupsOf(key).some(group => separated.has(group))) continue
    if (SLICE_PART.test(key) && groupsOf(key).some(group => moved.has(group) && SERVER_GROUP.test(group)))
      continue
    // A host alone says nothing: the port or the database beside it decides.
    if (HOST_PART.test(key) && !PORT_PART.test(key) && isLocalHost(value)) continue
    const ours = own.get(key)
    if (ours === undefined) shared.push({ key, how: 'unset', file })
    else if (ours === value) shared.push({ key, how: 'equal', file })
  }
  return shared
}

function isLocalHost(value: string): boolean {
  return /^(localhost|127\.0\.0\.1|0\.0\.0\.0|::1?|\[::1?\])$/i.test(value)
}

/** The keys of `.preview/shared`: one a line, `#` starts a comment. */
export function parseSharedList(text: string): Set<string> {
  return new Set(
    text
      .split(/\r?\n/)
      .map(line => line.replace(/#.*/, '').trim())
      .filter(line => line !== ''),
  )
}
