import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { type RedisServer, startRedis } from '@cattlegrid/testkit'
import { type Client, connect } from '../src/worlds/connections.ts'
import { openSharedServer } from '../src/worlds/shared-server.ts'
import { type LabCommand, startLab } from './lab.ts'

const RUN_MS = 120_000
const commands: LabCommand[] = []

afterEach(() => {
  for (const { child } of commands.splice(0)) child.kill('SIGKILL')
})

function start(args: readonly string[], redisUrl?: string): LabCommand {
  const command = startLab(args, redisUrl)
  commands.push(command)
  return command
}

/** Waits until it prints that, or fails with what it printed. */
async function said(command: LabCommand, text: string): Promise<void> {
  while (!command.stdout().includes(text)) {
    if (command.child.exitCode !== null) throw new Error(`it ended without "${text}":\n${command.stderr()}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

async function finish(args: readonly string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const command = start(args)
  await command.exited
  return { code: command.child.exitCode, stdout: command.stdout(), stderr: command.stderr() }
}

describe('npm run lock-lab', () => {
  test(
    'shows every play of one lock, without colours where nobody sees them, and ends with 0',
    async () => {
      const { code, stdout, stderr } = await finish(['--lock', 'c'])
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      expect(stdout).toMatch(
        / 4 {2}A +DEL lock +→ 1\b.*\n 4? +5 {2}C +SET lock C NX PX 60000 +→ OK +holds the lock\n +✗ {2}B and C hold/,
      )
      expect(stdout).toMatch(/^ {2}foreign release +✗$/m)
      expect(stdout).toMatch(/^ {2}liveness after crash +✓$/m)
      expect(stdout).toContain('the replica takes over')
      expect(stdout).not.toContain('\u001B')
      expect(stdout.trimEnd()).toMatch(/Everything came out as told\.$/)
    },
    RUN_MS,
  )

  test(
    'gives programs one JSON document, in which a failure by its own name finds its lock',
    async () => {
      const { code, stdout, stderr } = await finish(['--json', '--lock', 'd2'])
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      const document = JSON.parse(stdout)
      expect(document).toMatchObject({ asTold: true, surprises: [], leftOut: null, locks: [{ id: 'd' }] })
      const renew = document.locks[0].properties.find((one: { told: string[] }) => one.told.includes('d2'))
      expect(renew).toMatchObject({ property: 'foreign renew', verdict: 'broken', why: 'A renews the lock of B' })
      expect(renew.steps[6]).toEqual({ step: 7, who: 'A', text: 'PEXPIRE lock 60000', reply: 1 })
    },
    RUN_MS,
  )

  test('ends with 1 and names the locks there are when it does not know one', async () => {
    const { code, stdout, stderr } = await finish(['--lock', 'z'])
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toBe('--lock is one of a, b, c, d, e, e4, f, g, h, h4, i, not "z"\n')
  })
})

describe('on a server of somebody else', () => {
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
      await said(lab, 'SETNX lock A')
      // The keys of the first lock's plays are there until the end.
      expect(await ask((client) => client.dbSize())).toBeGreaterThan(0)
      lab.child.kill('SIGINT')
      await lab.exited
      expect(lab.child.exitCode).toBe(130)
      expect(lab.stdout()).not.toContain('came out as told')
      expect(await ask((client) => client.dbSize())).toBe(0)
    },
    RUN_MS,
  )

  test('it leaves nothing that a play writes while the servers are already being left', async () => {
    const before = process.env['REDIS_URL']
    process.env['REDIS_URL'] = server.url
    const world = await openSharedServer('lock-lab:left').finally(() => {
      if (before === undefined) delete process.env['REDIS_URL']
      else process.env['REDIS_URL'] = before
    })
    const writer = world.connections.of('A')
    const play = async (): Promise<void> => {
      for (let place = 0; place < 100_000; place += 1) await writer.set(`lock-lab:left:${place}`, 'v1')
    }
    const played = play().catch((error: unknown) => error)
    await world.stop()
    expect(await played).toBeInstanceOf(Error)
    expect(await ask((client) => client.dbSize())).toBe(0)
  })
})
