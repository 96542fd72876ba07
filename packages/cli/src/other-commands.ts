const DELETE = "'delete' for keys, or 'tags' for tags"
const EXPIRE = "'expire' for keys, or 'expire-tags' for tags"
const TOP = "'top', which shows the keys that cost most"
const ALL = "'tags' with a tag that all entries have"

/** The names of commands in other tools, each with what is meant here. */
export const OTHER_COMMANDS: Readonly<Record<string, string>> = {
  purge: DELETE,
  invalidate: DELETE,
  del: DELETE,
  rm: DELETE,
  remove: DELETE,
  evict: DELETE,
  unlink: DELETE,
  clear: ALL,
  flush: ALL,
  flushall: ALL,
  'soft-purge': EXPIRE,
  stale: EXPIRE,
  refresh: EXPIRE,
  tag: "'tags'",
  'invalidate-tags': "'tags'",
  'purge-tags': "'tags'",
  get: "'inspect'",
  show: "'inspect'",
  cat: "'inspect'",
  ttl: "'inspect'",
  why: "'explain'",
  trace: "'explain' with --trace",
  keys: TOP,
  ls: TOP,
  list: TOP,
  hot: TOP,
  stats: TOP,
  monitor: "'watch'",
  tail: "'watch'",
  follow: "'watch'",
  events: "'watch'",
}
