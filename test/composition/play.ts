import { type Cache, createCache, memoryStore } from '@cattlegrid/core'
import { createManualRuntime } from '@cattlegrid/testkit'
import { expect, test } from '@jest/globals'
import type { WireAnswer } from '../wire.ts'
import type { Name } from './clients.ts'
import { compared } from './compared.ts'
import { type Phase, SCRIPT, type Step } from './script.ts'
import { settling, Visitors } from './visitors.ts'

/** What a handler reports: that it ran. */
export interface Probe {
  runs: number
}

export interface RunningApp {
  readonly port: number
  close(): Promise<void>
}

/** Builds and starts an app; without a cache it is the bare app. */
export type Start = (probe: Probe, cache: Cache | undefined) => Promise<RunningApp>

/** What a case expects beside that the cached app responds as the bare one does. */
export interface Expected {
  /** Entries of the page: each is loaded once per expiry. */
  readonly entries: number
  /** Clients for whom every request runs the handler. Default: none. */
  readonly own?: readonly Name[]
  /** Loads of phases that differ from the rule: one per entry and expiry. */
  readonly loads?: Readonly<Record<string, number>>
  /** Intended differences of this case: the name of a field, and the reason. */
  readonly differs?: Readonly<Record<string, string>>
  /** Whether the neighbour stands between the cache and the handler. */
  readonly inside?: boolean
  /** Whether members send credentials. Default: false. */
  readonly credentials?: boolean
  /** The rule of HTTP semantics that the library breaks here as yet. The case must fail until that is mended. */
  readonly open?: string
  readonly page?: string
  /** Requested before the script, by members. */
  readonly login?: string
  readonly extra?: readonly Step[]
}

/** The loads of pages that are never stored: a HEAD sends a GET in its place once, which brings nothing to store. */
export const IN_VAIN: Readonly<Record<string, number>> = { 'fresh, HEAD': 4, 'gone, HEAD of a guest first': 5 }

/** Declares a test for each case. */
export function testCases<Place, Row extends Expected>(
  cases: readonly (readonly [string, Place, Row])[],
  start: (place: Place, row: Row) => Start,
): void {
  for (const [title, place, row] of cases) {
    const declare = row.open === undefined ? test : test.failing
    declare(title, () => expectComposition(start(place, row), row))
  }
}

/** Plays the script to the bare app and to the cached one, and expects the three things of every composition. */
async function expectComposition(start: Start, expected: Expected): Promise<void> {
  const runtime = createManualRuntime()
  const cache = createCache({ runtime, store: memoryStore({ runtime }) })
  const settled = settling(cache)
  const probe = { runs: 0 }
  const apps = [await start({ runs: 0 }, undefined), await start(probe, cache)] as const
  try {
    const [bare, cached] = apps.map(({ port }) => new Visitors(port, expected)) as [Visitors, Visitors]
    await Promise.all([bare.logIn(), cached.logIn()])
    const loads: string[] = []
    const wanted: string[] = []
    for (const phase of phasesOf(expected)) {
      if (phase.after !== undefined) await runtime.advance(phase.after)
      const before = probe.runs
      const [plain, made] = [await bare.play(phase), await cached.play(phase)]
      await settled()
      expectSame(phase, made, plain, expected)
      if (phase.name === EXTRA) continue
      loads.push(`${phase.name}: ${probe.runs - before}`)
      wanted.push(`${phase.name}: ${loadsIn(phase, expected)}`)
    }
    expect(loads).toEqual(wanted)
    expect([...bare.crossed(), ...cached.crossed()]).toEqual([])
  } finally {
    await Promise.all(apps.map((app) => app.close()))
    const closed = cache.close({ drain: 1 })
    await runtime.advance(1000)
    await closed
  }
}

const EXTRA = 'extra'

function phasesOf({ extra }: Expected): readonly Phase[] {
  return extra === undefined ? SCRIPT : [...SCRIPT, { name: EXTRA, steps: extra, loads: false }]
}

/** A client with entries of its own runs its handler at every GET and HEAD. */
function loadsIn({ name, steps, loads }: Phase, { entries, own = [], loads: given }: Expected): number {
  const alone = steps.filter(({ who, method }) => own.includes(who) && method !== 'POST').length
  return given?.[name] ?? (loads ? entries : 0) + alone
}

function expectSame(phase: Phase, made: readonly WireAnswer[], plain: readonly WireAnswer[], expected: Expected): void {
  const labelled = (answers: readonly WireAnswer[]): unknown =>
    answers.map((answer, index) => {
      const { who, method = 'GET', path = '' } = (phase.steps[index] ?? {}) as Partial<Step>
      return { phase: phase.name, step: `${method} ${path} ${who}`, ...compared(answer, plain[index], expected) }
    })
  expect(labelled(made)).toEqual(labelled(plain))
}
