const DELETE = "'delete' for keys, or 'tags' for tags"
const EXPIRE = "'expire' for keys, or 'expire-tags' for tags"

/** What is meant here, and the names of the commands in other tools. */
const OTHER_COMMANDS: readonly (readonly [meant: string, names: string])[] = [
  [DELETE, 'purge invalidate del rm remove evict unlink'],
  ["'tags' with a tag that all entries have", 'clear flush flushall'],
  [EXPIRE, 'soft-purge stale refresh'],
  ["'tags'", 'tag invalidate-tags purge-tags'],
  ["'inspect'", 'get show cat ttl'],
  ["'explain'", 'why'],
  ["'explain' with --trace", 'trace'],
  ["'top', which shows the keys that cost most", 'keys ls list hot stats'],
  ["'watch'", 'monitor tail follow events'],
]

/** The command that is meant by its name in another tool. */
export function meantBy(name: string): string | undefined {
  return OTHER_COMMANDS.find(([, names]) => names.split(' ').includes(name))?.[0]
}
