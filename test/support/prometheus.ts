import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../free-port.ts'

/** A Prometheus that scrapes one target each second. */
export interface Prometheus {
  /** Asks its API. @throws Error with the answer when it refuses. */
  ask(path: string): Promise<unknown>
  stop(): Promise<void>
}

/** Starts Prometheus on a free port: the one on the PATH, or Debian's package, which is unpacked and not installed. */
export async function startPrometheus(target: string, rules: string): Promise<Prometheus> {
  const program = findProgram('prometheus')
  const folder = mkdtempSync(join(tmpdir(), 'cattlegrid-prometheus-'))
  const port = await freePort()
  writeFileSync(join(folder, 'prometheus.yml'), configOf(target, rules))
  const flags = [`--config.file=${folder}/prometheus.yml`, `--storage.tsdb.path=${folder}/data`]
  const server = spawn(program, [...flags, `--web.listen-address=127.0.0.1:${port}`, '--log.level=warn'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const exited = once(server, 'exit')
  const ask = async (path: string): Promise<unknown> => {
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/${path}`)
    const { status, data, error } = (await response.json()) as Record<string, unknown>
    if (status !== 'success') throw new Error(`${path}: ${String(error)}`)
    return data
  }
  const stop = async (): Promise<void> => {
    server.kill()
    await exited
    rmSync(folder, { recursive: true })
  }
  try {
    await ready(ask)
  } catch (error) {
    await stop()
    throw error
  }
  return { ask, stop }
}

async function ready(ask: Prometheus['ask']): Promise<void> {
  for (let turn = 0; ; turn += 1) {
    try {
      await ask('status/runtimeinfo')
      return
    } catch (error) {
      if (turn === 300) throw error
      await sleep(100)
    }
  }
}

function configOf(target: string, rules: string): string {
  return JSON.stringify({
    global: { scrape_interval: '1s', evaluation_interval: '1s' },
    rule_files: [rules],
    scrape_configs: [{ job_name: 'app', static_configs: [{ targets: [target] }] }],
  })
}

/** Checks a configuration of Prometheus and the rules that it names. @throws Error with what `promtool` complains about. */
export function checkConfiguration(file: string): void {
  execFileSync(findProgram('promtool'), ['check', 'config', file], { stdio: 'pipe' })
}

function findProgram(name: 'prometheus' | 'promtool'): string {
  const folder = resolve('node_modules/.cache/prometheus')
  const unpacked = join(folder, 'usr/bin', name)
  const found = [name, unpacked].find(runs)
  if (found !== undefined) return found
  if (!existsSync(unpacked)) unpack(folder)
  return unpacked
}

function runs(program: string): boolean {
  try {
    execFileSync(program, ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

function unpack(folder: string): void {
  mkdirSync(resolve('node_modules/.cache'), { recursive: true })
  const work = mkdtempSync(`${folder}-`)
  try {
    for (const one of ['lists/partial', 'apt/archives/partial']) mkdirSync(join(work, one), { recursive: true })
    const own = [
      `Dir::State::lists=${work}/lists`,
      `Dir::Cache=${work}/apt`,
      'Debug::NoLocking=1',
      'APT::Sandbox::User=',
    ]
    const options = ['-qq', ...own.flatMap((option) => ['-o', option])]
    for (const order of [['update'], ['download', 'prometheus']])
      execFileSync('apt-get', [...options, ...order], { cwd: work, stdio: 'pipe', timeout: 300_000 })
    const deb = readdirSync(work).find((name) => name.endsWith('.deb')) ?? ''
    execFileSync('dpkg-deb', ['--extract', join(work, deb), join(work, 'root')])
    renameSync(join(work, 'root'), folder)
  } catch (cause) {
    throw new Error('Found no Prometheus, and could not unpack Debian’s package. Put prometheus on the PATH.', {
      cause,
    })
  } finally {
    rmSync(work, { recursive: true })
  }
}
