// Settings that are copied before they count: `database.yml.example` is read as the database.yml that it becomes.

const SUFFIX = /[.\-_](example|sample|dist|template|tmpl)$/i

/** The path without the `.example` at its end. */
export function plainPath(path: string): string {
  return path.replace(SUFFIX, '')
}

/** Whether a name says that the file is copied before it counts, at its end or within: `config.sample.yml`. */
export function isCopied(name: string): boolean {
  return /(^|[.\-_])(sample|example|template|tmpl|dist)s?([.\-_]|$)/i.test(name)
}
