import { describe, expect, test } from '@jest/globals'
import { createManualRuntime } from '@cattlegrid/testkit'
import type { Link } from '../../src/link/link.ts'
import { ServerClocks, type TimedReply } from '../../src/lua/server-clock.ts'

/** A server whose clock the test sets, behind a link that takes `latency` ms in each direction. */
class TestServer {
  readonly runtime = createManualRuntime()
  ahead = 1_900_000_000_000
  latency = 3
  readonly latest: number[] = []
  asked = 0

  get time(): number {
    return this.runtime.now() + this.ahead
  }

  readonly link = {
    nodes: undefined,
    send: async (_key: string, [command]: readonly string[]) => {
      if (command !== 'TIME') throw new Error(`Unknown command ${command}`)
      this.asked += 1
      return await this.#reply(() => [String(Math.floor(this.time / 1000)), String((this.time % 1000) * 1000)])
    },
  } as unknown as Link

  readonly clocks = new ServerClocks(this.link, this.runtime)

  /** A step that is executed unless its latest moment is over. */
  readonly step = (latest: string): Promise<TimedReply<string>> =>
    this.#reply(() => {
      this.latest.push(Number(latest) / 1000)
      const late = this.time > Number(latest) / 1000
      return { reply: late ? 'late' : 'done', late, time: this.time * 1000 }
    })

  async run(terms: Parameters<ServerClocks['run']>[1]): Promise<unknown> {
    const running = this.clocks.run('k', terms, this.step).catch((error: unknown) => error)
    await this.runtime.advance(1000)
    return await running
  }

  async #reply<T>(execute: () => T): Promise<T> {
    await this.#pass(this.latency)
    const reply = execute()
    await this.#pass(this.latency)
    return reply
  }

  #pass(ms: number): Promise<void> {
    return new Promise((resolve) => void this.runtime.schedule(resolve, ms))
  }
}

describe('the latest moment of a step', () => {
  test('is never later than its caller waits, and learned before the first step', async () => {
    const server = new TestServer()
    const before = server.time
    expect(await server.run({ within: 50 })).toBe('done')
    expect(server.asked).toBe(1)
    // Sent after TIME was answered; the estimate is behind by at most the way back.
    const sentAt = before + 2 * server.latency
    expect(server.latest[0]).toBeLessThanOrEqual(sentAt + 50)
    expect(server.latest[0]).toBeGreaterThanOrEqual(sentAt + 50 - server.latency)
    await server.run({ within: 50 })
    expect(server.asked).toBe(1)
  })

  test.each([600_000, -600_000, 100, -100])(
    'follows a server’s clock that is set by %i ms: the step is executed, sent again if it was refused',
    async (by) => {
      const server = new TestServer()
      await server.run({ within: 50 })
      server.ahead += by
      expect(await server.run({ within: 50 })).toBe('done')
      const sentAt = server.time
      expect(await server.run({ within: 50 })).toBe('done')
      expect(server.latest.at(-1)).toBeLessThanOrEqual(sentAt + 50)
    },
  )

  test('refuses a step for good once nobody waits for it', async () => {
    const server = new TestServer()
    await server.run({ within: 50 })
    server.latency = 60
    let isAbandoned = false
    server.runtime.schedule(() => (isAbandoned = true), 50)
    expect(String(await server.run({ within: 50, isAbandoned: () => isAbandoned }))).toContain('Not executed')
    expect(server.latest).toHaveLength(2)
  })

  test('is sent at most three times', async () => {
    const server = new TestServer()
    server.latency = 60
    expect(String(await server.run({ within: 50 }))).toContain('Not executed')
    expect(server.latest).toHaveLength(3)
  })

  test('is none where the caller names no limit', async () => {
    const server = new TestServer()
    await server.run({})
    expect([server.latest, server.asked]).toEqual([[0], 0])
  })
})
