// What the servers of development listen on when they are started: the port they take by default, and the variable or
// the argument that gives them another. Known from each tool's own documentation; recognised by the command's words.

export interface ServerCommand {
  readonly tool: string
  readonly port: number
  /** Environment variable that the tool itself reads. */
  readonly variable: string | undefined
  /** Argument that goes before the number; "" where the number stands alone. */
  readonly flag: string | undefined
}

const row = (tool: string, pattern: RegExp, port: number, variable?: string, flag?: string) => ({
  pattern,
  server: { tool, port, variable, flag },
})

const SERVERS = [
  row('next', /\bnext (?:dev|start)\b|\bnext$/, 3000, 'PORT', '-p'),
  row('nuxt', /\bnux(?:t|i)(?: dev| start| preview)?\b/, 3000, 'PORT', '--port'),
  row('react-scripts', /\breact-scripts start\b|\bcraco start\b|\breact-app-rewired start\b/, 3000, 'PORT'),
  row('vue-cli', /\bvue-cli-service serve\b/, 8080, 'PORT', '--port'),
  row('angular', /\bng (?:serve|s)\b/, 4200, undefined, '--port'),
  row('astro', /\bastro (?:dev|preview)\b/, 4321, undefined, '--port'),
  row('react-router', /\breact-router dev\b|\bremix vite:dev\b/, 5173, undefined, '--port'),
  row('remix', /\bremix(?:-serve| dev| watch)\b/, 3000, 'PORT'),
  row('gatsby', /\bgatsby develop\b/, 8000, undefined, '-p'),
  row('webpack', /\bwebpack(?:-dev-server| serve| dev-server)\b/, 8080, undefined, '--port'),
  row('rsbuild', /\brsbuild dev\b|\brspack (?:serve|dev)\b/, 3000, undefined, '--port'),
  row('parcel', /\bparcel(?: serve| watch)?\b(?! build)/, 1234, 'PORT', '--port'),
  row('ember', /\bember (?:serve|s|server)\b/, 4200, 'PORT', '--port'),
  row('quasar', /\bquasar dev\b/, 9000, undefined, '--port'),
  row('expo', /\bexpo start\b/, 8081, 'RCT_METRO_PORT', '--port'),
  row('wrangler', /\bwrangler (?:pages )?dev\b/, 8787, undefined, '--port'),
  row('strapi', /\bstrapi (?:develop|start)\b/, 1337, 'PORT'),
  row('medusa', /\bmedusa (?:develop|start)\b/, 9000, 'PORT', '--port'),
  row('keystone', /\bkeystone (?:dev|start)\b/, 3000, 'PORT'),
  row('directus', /\bdirectus start\b/, 8055, 'PORT'),
  row('adonis', /\bnode ace serve\b/, 3333, 'PORT'),
  row('meteor', /\bmeteor(?: run)?(?:\s|$)/, 3000, 'PORT', '--port'),
  row(
    'vite',
    /(?:^|[\s&;|"'])vite(?:\s+(?:dev|serve|preview|--)|\s*$|\s*[&;|"'])/,
    5173,
    undefined,
    '--port',
  ),
  row('flask', /\bflask\b[^\n;&|]*\brun\b/, 5000, 'FLASK_RUN_PORT', '--port'),
  row('uvicorn', /\buvicorn\s+[\w-]/, 8000, 'UVICORN_PORT', '--port'),
  row('fastapi', /\bfastapi (?:dev|run)\b/, 8000, undefined, '--port'),
  row('hypercorn', /\bhypercorn\b/, 8000, undefined, '--bind'),
  row('gunicorn', /\bgunicorn\b/, 8000, 'PORT', '--bind'),
  row('django', /\bmanage(?:\.py)?\b[^\n;&|]*\brunserver(?:_plus)?\b/, 8000, undefined, ''),
  row('streamlit', /\bstreamlit run\b/, 8501, 'STREAMLIT_SERVER_PORT', '--server.port'),
  row('rails', /\brails (?:s|server)\b|\bpuma\b/, 3000, 'PORT', '-p'),
  row('rackup', /\brackup\b/, 9292, undefined, '-p'),
  row('artisan', /\bartisan\b[^\n;&|]*\bserve\b/, 8000, 'SERVER_PORT', '--port'),
  row('symfony', /\bsymfony (?:server:start|serve|local:server:start)\b/, 8000, undefined, '--port'),
  row('phoenix', /\bphx\.server\b/, 4000, undefined, undefined),
  row('spring-boot', /\bspring-boot:run\b|\bbootRun\b/, 8080, 'SERVER_PORT'),
  row('quarkus', /\bquarkus:dev\b|\bquarkusDev\b|\bquarkus dev\b/, 8080, 'QUARKUS_HTTP_PORT'),
  row('micronaut', /\bmn:run\b/, 8080, 'MICRONAUT_SERVER_PORT'),
  row('trunk', /\btrunk serve\b/, 8080, 'TRUNK_SERVE_PORT', '--port'),
  row('dotnet', /\bdotnet (?:run|watch)\b/, 5000, undefined, '--urls'),
]

/** Commands whose names say "dev" and that serve nothing: compilers that watch, test runners, catalogues. */
const NO_SERVER =
  /^\s*(?:tsc|tsup|rollup|esbuild|swc|babel|tailwindcss|sass|unbuild|pkgroll|tsdown|jest|vitest|cypress|playwright|storybook|start-storybook|microbundle|ncc|graphql-codegen|changeset|eslint|prettier|typedoc|vitepress|docusaurus|turbo gen|vite build|react-native|ng build|prisma studio|drizzle-kit|stripe)\b/

export function findServerCommand(text: string): ServerCommand | undefined {
  for (const line of text.split('\n')) {
    const found = SERVERS.find(({ pattern }) => pattern.test(line))
    if (found !== undefined) return found.server
  }
  return undefined
}

/** Whether every part of a command only watches or builds. */
export function isOnlyWatcher(text: string): boolean {
  const parts = text.split(/&&|\|\||[;&|\n]/).filter(part => part.trim() !== '')
  const plain = (part: string) =>
    part.replace(
      /^\s*(?:(?:cross-env|dotenv|env-cmd)\s+(?:-\S+\s+)*)?(?:[A-Z_]+=\S+\s+)*(?:(?:npx|bunx|pnpm exec|yarn|rimraf \S+)\s+)?/,
      '',
    )
  return parts.length > 0 && parts.every(part => NO_SERVER.test(plain(part)))
}

/** A port that a command's own words give: `-p 3000`, `--port=${PORT:-3000}`, `PORT=3000 node x`, `runserver 8001`. */
export interface WrittenPort {
  readonly port: number | undefined
  readonly variable: string | undefined
  /** The variable's value is set in the command itself, so that the environment's does not count. */
  readonly isFixed: boolean
}

const NUMBER = String.raw`(?<number>\d{2,5})\b`
const VALUE = String.raw`["']?(?:\$\{?(?<name>[A-Za-z_]\w*)(?::?-(?<fallback>\d{2,5}))?\}?|${NUMBER})`
const WRITTEN: readonly RegExp[] = [
  new RegExp(
    String.raw`(?:^|\s)(?:-p|--port|--http-port|--server\.port|-Dserver\.port|--listen)(?:[ =]|(?=\d))${VALUE}`,
    'm',
  ),
  new RegExp(String.raw`\brunserver(?:_plus)?\s+(?:[\w.]+:|\[::\]:)?${VALUE}`),
  new RegExp(
    String.raw`(?:--bind|-b|-S|--listen|--addr(?:ess)?|--urls|-a)[ =]["']?(?:https?:\/\/)?[\w.*]*:${VALUE}`,
  ),
]
const ASSIGNED = /(?:^|\s)(?<name>(?:[A-Z][A-Z0-9]*_)*PORT)=(?<number>\d{2,5})\b/m
const ASSIGNED_DEFAULT =
  /(?:^|\s|\{)(?<name>(?:[A-Z][A-Z0-9]*_)*PORT)(?::?[-=]|=\$\{\w+:-)(?<number>\d{2,5})\}/m

export function findWrittenPort(text: string): WrittenPort | undefined {
  for (const pattern of WRITTEN) {
    const groups = pattern.exec(text)?.groups
    if (groups === undefined) continue
    const { name, fallback, number } = groups
    const port =
      number ??
      fallback ??
      (name === undefined ? undefined : new RegExp(`\\b${name}=(\\d{2,5})\\b`).exec(text)?.[1])
    return { port: port === undefined ? undefined : Number(port), variable: name, isFixed: false }
  }
  const withDefault = ASSIGNED_DEFAULT.exec(text)?.groups
  if (withDefault !== undefined)
    return { port: Number(withDefault.number), variable: withDefault.name, isFixed: false }
  const assigned = ASSIGNED.exec(text)?.groups
  return assigned === undefined
    ? undefined
    : { port: Number(assigned.number), variable: assigned.name, isFixed: true }
}
