import { describe, expect, it } from '@jest/globals'
import { logEvents, type Logger } from '@cattlegrid/metrics/logs'
import { pairOfCaches, playEveryOutcome } from '../support/every-outcome.ts'

interface Line {
  readonly level: string
  readonly fields: Readonly<Record<string, unknown>>
  readonly message: string
}

function recorder(): { readonly lines: Line[]; readonly logger: Logger } {
  const lines: Line[] = []
  const at = (level: string) => (fields: object, message: string) =>
    void lines.push({ level, fields: { ...fields }, message })
  return { lines, logger: { info: at('info'), warn: at('warn'), error: at('error') } }
}

const down = (): never => {
  throw new TypeError('down')
}

describe('the log of a cache', () => {
  it('has a line for each event that a person should see, and no key', async () => {
    const pair = pairOfCaches()
    const { lines, logger } = recorder()
    logEvents(pair.cache, logger)
    await playEveryOutcome(pair)
    await pair.cache.close()
    const kinds = lines.map(({ level, fields: { cache, event, state = '', reason = '' } }) =>
      [level, cache, event, state, reason].filter((part) => part !== '').join(' '),
    )
    expect(kinds).toEqual([
      'warn one load-failed',
      'warn one refused voided',
      'warn one wait-timeout',
      'warn one lease-lost voided',
      'error one violation',
      'warn one away',
      'warn one breaker open',
      'warn one notices disconnected',
      'info one notices connected',
      'info one close',
    ])
    expect(lines.filter(({ fields }) => 'key' in fields)).toEqual([])
  })

  it('has one line of a kind in the given time, and the next one tells how many were left out', async () => {
    const { cache, runtime } = pairOfCaches()
    const { lines, logger } = recorder()
    logEvents(cache, logger, { every: '10s' })
    const failures = async (count: number): Promise<void> => {
      for (let at = 0; at < count; at += 1) await cache.getOrSet(`k${runtime.now()}-${at}`, down).catch(() => undefined)
    }
    await failures(3)
    await runtime.advance(9999)
    await failures(1)
    expect(lines).toHaveLength(1)
    await runtime.advance(1)
    await failures(1)
    expect(lines.map(({ fields }) => fields['suppressed'])).toEqual([undefined, 3])
  })

  it('keeps kinds apart: a node that answers again is told beside one that does not', () => {
    const { cache, notify } = pairOfCaches()
    const { lines, logger } = recorder()
    logEvents(cache, logger)
    for (const name of ['10.0.0.1:6379', '10.0.0.2:6379']) notify({ kind: 'away', part: name })
    notify({ kind: 'back', part: '10.0.0.1:6379' })
    expect(lines.map(({ level, fields: { node } }) => [level, node])).toEqual([
      ['warn', '10.0.0.1:6379'],
      ['warn', '10.0.0.2:6379'],
      ['info', '10.0.0.1:6379'],
    ])
  })

  it('has the key where that is asked for', async () => {
    const { cache } = pairOfCaches()
    const { lines, logger } = recorder()
    logEvents(cache, logger, { keys: true })
    await cache.getOrSet('product:7', down).catch(() => undefined)
    expect(lines).toEqual([
      {
        level: 'warn',
        fields: { cache: 'one', event: 'load-failed', key: 'product:7', cooldown: 1000, error: { name: 'TypeError' } },
        message: 'A load failed: its key cools down.',
      },
    ])
  })

  it('fails no call when the logger throws', async () => {
    const { cache } = pairOfCaches()
    const failing = (): never => {
      throw new Error('disk full')
    }
    logEvents(cache, { info: failing, warn: failing, error: failing })
    await expect(cache.getOrSet('k', down)).rejects.toThrow('down')
  })

  it('ends when it is stopped', async () => {
    const { cache } = pairOfCaches()
    const { lines, logger } = recorder()
    logEvents(cache, logger)()
    await cache.getOrSet('k', down).catch(() => undefined)
    expect(lines).toEqual([])
  })

  it.each([undefined, null, console.log, {}])('refuses %p as a logger by name', (logger) => {
    expect(() => logEvents(pairOfCaches().cache, logger as never)).toThrow(
      expect.objectContaining({ code: 'CATTLEGRID_INVALID_OPTION', option: 'logEvents.logger' }),
    )
  })
})
