import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { type RedisServer, startRedis } from '@cattlegrid/testkit'
import { type Client, connect, openSharedServer } from '../src/servers.ts'

const RUN_MS = 120_000
const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url))

/** `npm run lock-lab` in a process of its own. */
interface LabCommand {
  readonly child: ChildProcess
  readonly exited: Promise<unknown>
  stdout(): string
  stderr(): string
}

const commands: LabCommand[] = []

afterEach(() => {
  for (const { child } of commands.splice(0)) child.kill('SIGKILL')
})

function start(args: readonly string[], redisUrl = ''): LabCommand {
  const child = spawn(process.execPath, ['--import', '@cattlegrid/run-typescript', MAIN, ...args], {
    env: { ...process.env, REDIS_URL: redisUrl },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stdout = ''
  let stderr = ''
  child.stdout?.on('data', (chunk: Buffer) => (stdout += chunk.toString()))
  child.stderr?.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
  const command = { child, exited: once(child, 'close'), stdout: () => stdout, stderr: () => stderr }
  commands.push(command)
  return command
}

async function finish(args: readonly string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const command = start(args)
  await command.exited
  return { code: command.child.exitCode, stdout: command.stdout(), stderr: command.stderr() }
}

describe('npm run lock-lab', () => {
  test(
    'shows every property of one lock, without colours outside a terminal, and ends with 0',
    async () => {
      const { code, stdout, stderr } = await finish(['--lock', 'c'])
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      expect(stdout).toMatch(
        / ✗ {3}4 {2}A +DEL lock +→ 1\b.*\n +5 {2}C +SET lock C NX PX 60000 +→ OK +holds the lock\n +✗ {2}B and C hold/,
      )
      expect(stdout).toMatch(/^ {2}foreign release +✗$/m)
      expect(stdout).toMatch(/^ {2}liveness after crash +✓$/m)
      // The table comes first.
      expect(stdout.indexOf('kept   ✗ broken')).toBeLessThan(stdout.indexOf('DEL lock'))
      expect(stdout).toContain('the replica takes over')
      expect(stdout).not.toContain('\u001B')
      expect(stdout.trimEnd()).toMatch(/Everything came out as expected\.$/)
    },
    RUN_MS,
  )

  test(
    'prints one JSON document for programs, and finds a lock by the name of its failure',
    async () => {
      const { code, stdout, stderr } = await finish(['--json', '--lock', 'd2'])
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      const document = JSON.parse(stdout)
      expect(document).toMatchObject({ asExpected: true, unexpected: [], leftOut: null, locks: [{ id: 'd' }] })
      const renew = document.locks[0].properties.find((one: { failures: string[] }) => one.failures.includes('d2'))
      expect(renew).toMatchObject({ property: 'foreign renew', verdict: 'broken', why: 'A renews the lock of B' })
      expect(renew.steps[6]).toEqual({ step: 7, who: 'A', text: 'PEXPIRE lock 60000', reply: 1 })
    },
    RUN_MS,
  )

  test('ends with 1 and lists the locks when it does not know one', async () => {
    const { code, stdout, stderr } = await finish(['--lock', 'z'])
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toBe('--lock is one of a, b, c, d, e, e4, f, g, h, h4, i, not "z"\n')
  })
})

describe('on the server that REDIS_URL names', () => {
  let server: RedisServer

  beforeEach(async () => {
    server = await startRedis({ own: true })
  })

  afterEach(async () => {
    await server.stop()
  })

  async function ask<Result>(question: (client: Client) => Promise<Result>): Promise<Result> {
    const client = await connect(server.url)
    try {
      return await question(client)
    } finally {
      client.destroy()
    }
  }

  test(
    'it leaves no key of its own and touches no other, not even one that is called lock',
    async () => {
      await ask((client) => client.mSet({ lock: 'theirs', entry: 'theirs', 'lock-lab': 'theirs' }))
      const lab = start(['--lock', 'a'], server.url)
      await lab.exited
      expect({ code: lab.child.exitCode, stderr: lab.stderr() }).toEqual({ code: 0, stderr: '' })
      const commandsSeen = await ask((client) => client.info('commandstats'))
      expect(commandsSeen).toContain('cmdstat_setnx')
      const left = await ask((client) => client.keys('*'))
      expect(left.toSorted()).toEqual(['entry', 'lock', 'lock-lab'])
      expect(await ask((client) => client.mGet(left))).toEqual(['theirs', 'theirs', 'theirs'])
    },
    RUN_MS,
  )

  test(
    'it cleans up when it is interrupted',
    async () => {
      const lab = start([], server.url)
      // The keys of the first lock's runs exist until the end.
      while ((await ask((client) => client.dbSize())) === 0) expect(lab.child.exitCode).toBeNull()
      lab.child.kill('SIGINT')
      await lab.exited
      expect(lab.child.exitCode).toBe(130)
      expect(lab.stdout()).not.toContain('came out as expected')
      expect(await ask((client) => client.dbSize())).toBe(0)
    },
    RUN_MS,
  )

  test('it leaves no key that a run writes while the lab is already stopping', async () => {
    const before = process.env['REDIS_URL']
    process.env['REDIS_URL'] = server.url
    const shared = await openSharedServer('lock-lab:left').finally(() => {
      if (before === undefined) delete process.env['REDIS_URL']
      else process.env['REDIS_URL'] = before
    })
    const writer = shared.connections.of('A')
    const run = async (): Promise<void> => {
      for (let place = 0; place < 100_000; place += 1) await writer.set(`lock-lab:left:${place}`, 'v1')
    }
    const ended = run().catch((error: unknown) => error)
    await shared.stop()
    expect(await ended).toBeInstanceOf(Error)
    expect(await ask((client) => client.dbSize())).toBe(0)
  })
})
