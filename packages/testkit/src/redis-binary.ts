import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** A server program and the environment variables that it needs. */
export interface RedisBinary {
  readonly path: string
  readonly env: NodeJS.ProcessEnv
}

const OLDEST = 7
const quiet = { encoding: 'utf8', stdio: 'pipe', timeout: 120_000 } as const

/**
 * Finds Redis or Valkey, version 7 or later: on the PATH, else a copy that an earlier call unpacked, else
 * Debian's package. It unpacks that package under `node_modules/.cache/redis`, which needs no root and
 * installs nothing.
 *
 * @throws Error which says how to get one.
 */
export function findRedis(): RedisBinary {
  const found = usable('redis-server') ?? usable('valkey-server') ?? unpacked(cacheFolder())
  if (found !== undefined) return found
  try {
    return unpack(cacheFolder())
  } catch (cause) {
    throw new Error(
      `Found no Redis or Valkey, version ${OLDEST} or later, and could not unpack Debian's package. Put redis-server on the PATH, or run ` +
        '`docker compose up -d redis` and set REDIS_URL=redis://127.0.0.1:6379.',
      { cause },
    )
  }
}

function usable(path: string, env: NodeJS.ProcessEnv = process.env): RedisBinary | undefined {
  try {
    const major = Number(/ v=(\d+)\./.exec(execFileSync(path, ['--version'], { ...quiet, env }))?.[1])
    return major >= OLDEST ? { path, env } : undefined
  } catch {
    return undefined
  }
}

/** Inside node_modules, so that a clean install removes it too. */
function cacheFolder(): string {
  for (let folder = process.cwd(); ; folder = dirname(folder)) {
    if (existsSync(join(folder, 'node_modules'))) return join(folder, 'node_modules', '.cache', 'redis')
    if (folder === dirname(folder)) return join(tmpdir(), 'cattlegrid-redis')
  }
}

function unpacked(folder: string): RedisBinary | undefined {
  const libraries = join(folder, 'usr', 'lib')
  // It has none where this host has those that Redis needs.
  const ofThisMachine = existsSync(libraries) ? readdirSync(libraries).filter((name) => name.includes('-linux-')) : []
  const path = ofThisMachine.map((name) => join(libraries, name)).join(':')
  const env = path === '' ? process.env : { ...process.env, LD_LIBRARY_PATH: path }
  return usable(join(folder, 'usr', 'bin', 'redis-server'), env)
}

// Two processes may run this at the same time: each unpacks a copy, and the first rename wins.
function unpack(folder: string): RedisBinary {
  mkdirSync(dirname(folder), { recursive: true })
  const work = mkdtempSync(`${folder}-`)
  try {
    const root = join(work, 'root')
    fetchDebianPackages(work, root)
    const fresh = unpacked(root)
    if (fresh === undefined)
      throw new Error(`Debian's redis-server does not run on this machine, or is older than ${OLDEST}`)
    return unpacked(replace(folder, root)) ?? fresh
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

/** Moves `root` to `folder`, unless another process has put a usable copy there. */
function replace(folder: string, root: string): string {
  if (unpacked(folder) === undefined) {
    rmSync(folder, { recursive: true, force: true })
    try {
      renameSync(root, folder)
    } catch (error) {
      if (unpacked(folder) === undefined) throw error
    }
  }
  return folder
}

/**
 * Downloads the package and the dependencies that the system lacks. apt gets separate state folders, so the
 * system stays unchanged.
 */
function fetchDebianPackages(work: string, root: string): void {
  for (const folder of ['lists/partial', 'apt/archives/partial', 'debs']) {
    mkdirSync(join(work, folder), { recursive: true })
  }
  const own = [`Dir::State::lists=${work}/lists`, `Dir::Cache=${work}/apt`, 'Debug::NoLocking=1', 'APT::Sandbox::User=']
  const apt = (...args: readonly string[]): string =>
    execFileSync('apt-get', ['-qq', ...own.flatMap((option) => ['-o', option]), ...args], {
      ...quiet,
      cwd: join(work, 'debs'),
    })
  apt('update')
  const plan = apt('--simulate', '--no-install-recommends', 'install', 'redis-server')
  const missing = Array.from(plan.matchAll(/^Inst (\S+)/gm), ([, name = '']) => name)
  // The plan leaves out what is installed on this host. `redis-tools` has the program to which
  // `redis-server` links.
  apt('download', ...new Set(['redis-server', 'redis-tools', ...missing]))
  mkdirSync(root)
  for (const deb of readdirSync(join(work, 'debs'))) {
    execFileSync('dpkg-deb', ['--extract', join(work, 'debs', deb), root], quiet)
  }
}
