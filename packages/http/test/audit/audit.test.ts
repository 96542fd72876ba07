import type { Cache } from '@cattlegrid/core'
import { eventsDuring, warningsDuring } from '@cattlegrid/testkit'
import { describe, expect, test } from '@jest/globals'
import { Audit, type AuditRule } from '../../src/audit/audit.ts'
import type { Finding } from '../../src/audit/finding.ts'

const place = { place: '1 /page', pattern: '/page', target: '/page?q=secret' }
const request = { place: place.place, method: 'GET' }
const DIFFERENT: Finding = { kind: 'different', where: 'the body, from byte 6 on (a letter)' }

interface Setting {
  readonly random?: number
  readonly waiting?: number
  readonly rule?: Partial<AuditRule>
}

function auditOf({ random = 0, waiting = 1, rule = {} }: Setting = {}): { audit: Audit; purged: string[] } {
  const purged: string[] = []
  const cache = {
    name: 'pages',
    runtime: { random: () => random },
    stats: () => ({ waiting, loading: 1 }),
    invalidateTags: async (tags: readonly string[]) => void purged.push(...tags),
  } as unknown as Cache
  return { audit: new Audit(cache, { rate: 0.5, stops: true, isDevelopment: false, ...rule }), purged }
}

describe('a request is chosen', () => {
  test.each<[what: string, setting: Setting, chosen: boolean]>([
    ['where the random number is below the rate', { random: 0.49 }, true],
    ['and not where it is not', { random: 0.5 }, false],
    ['and not at a rate of 0', { rule: { rate: 0 } }, false],
    ['and not while a call waits for a permit, or for the load of another', { waiting: 2 }, false],
  ])('%s', (_, setting, chosen) => {
    expect(auditOf(setting).audit.samples(request)).toBe(chosen)
  })

  test('and not for HEAD, whose handler brings no body', () => {
    expect(auditOf().audit.samples({ ...request, method: 'HEAD' })).toBe(false)
  })

  test('and not while its place is audited', async () => {
    const { audit } = auditOf()
    audit.begin(place)
    expect([audit.samples(request), audit.takes(place, true)]).toEqual([false, false])
    expect(audit.samples({ ...request, place: '2 /other' })).toBe(true)
    await audit.end(place, { kind: 'equal' })
    expect([audit.samples(request), audit.takes(place, true)]).toEqual([true, true])
  })
})

describe('a load is audited', () => {
  test('if its request was chosen', () => {
    expect([true, false].map((chosen) => auditOf().audit.takes(place, chosen))).toEqual([true, false])
  })

  test('in development, if it is one of the first three of its place', async () => {
    const { audit } = auditOf({ rule: { isDevelopment: true } })
    for (let load = 1; load <= 3; load += 1) {
      expect(audit.takes(place, false)).toBe(true)
      audit.begin(place)
      await audit.end(place, { kind: 'equal' })
    }
    expect(audit.takes(place, false)).toBe(false)
    expect(audit.takes({ ...place, place: '2 /other' }, false)).toBe(true)
  })
})

describe('a difference', () => {
  test('stops its place, purges what is stored of it, and is told once, without the query', async () => {
    const { audit, purged } = auditOf()
    const warnings = await warningsDuring('CATTLEGRID_AUDIT', async () => {
      for (let turn = 0; turn < 2; turn += 1) {
        audit.begin(place)
        await audit.end(place, DIFFERENT)
      }
    })
    expect([audit.isStopped(place.place), audit.isStopped('2 /other')]).toEqual([true, false])
    expect(purged).toEqual([audit.tagOf(place.place)])
    expect(warnings).toHaveLength(1)
    expect(warnings[0]?.message).toMatch(
      /handler of \/page for .* differ in the body, from byte 6 on \(a letter\): .* not cached any more/,
    )
    expect(warnings[0]?.message).not.toContain('secret')
  })

  test('is told, and no more, with onMismatch: warn', async () => {
    const { audit, purged } = auditOf({ rule: { stops: false } })
    const warnings = await warningsDuring('CATTLEGRID_AUDIT', () => audit.end(place, DIFFERENT))
    expect([audit.isStopped(place.place), purged, audit.tagOf(place.place)]).toEqual([false, [], undefined])
    expect(warnings[0]?.message).toContain('cached nevertheless')
  })

  test('is published with its route, as is every finding', async () => {
    const { audit } = auditOf({ rule: { stops: false } })
    const events = await eventsDuring('cattlegrid:audit', async () => {
      await warningsDuring('CATTLEGRID_AUDIT', () => audit.end(place, DIFFERENT))
      await audit.end(place, { kind: 'equal' })
      await audit.end(place, { kind: 'not-run', why: 'the other request has another key' })
      await audit.end(place, undefined)
    })
    const about = { type: 'audit', cache: 'pages', route: '/page' }
    expect(events).toEqual([
      { ...about, result: 'different', detail: 'the body, from byte 6 on (a letter)' },
      { ...about, result: 'equal', detail: undefined },
      { ...about, result: 'not-run', detail: 'the other request has another key' },
    ])
  })
})

describe('that a place cannot be audited', () => {
  const notRun: Finding = { kind: 'not-run', why: 'another layer answered the other request, with 401' }

  const told = async (isDevelopment: boolean): Promise<readonly string[]> => {
    const { audit } = auditOf({ rule: { isDevelopment } })
    const warnings = await warningsDuring('CATTLEGRID_AUDIT_NOT_RUN', async () => {
      await audit.end(place, notRun)
      await audit.end(place, notRun)
    })
    return warnings.map(({ message }) => message)
  }

  test('is told once in development', async () => {
    expect(await told(true)).toEqual([
      expect.stringContaining('/page cannot be audited: another layer answered the other request, with 401.'),
    ])
  })

  test('is not told elsewhere', async () => {
    expect(await told(false)).toEqual([])
  })

  test('is told of the observe mode, too', async () => {
    const { audit } = auditOf({ rule: { isDevelopment: true } })
    const warnings = await warningsDuring('CATTLEGRID_AUDIT_NOT_RUN', async () => audit.noteObserved(place))
    expect(warnings[0]?.message).toContain("its mode is 'observe'")
  })
})
