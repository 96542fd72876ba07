import { ANN, BOB, CLIENTS, GUEST, type Name } from './clients.ts'

/** A request of a client; `path` is relative to the page. */
export interface Step {
  readonly who: Name
  readonly method?: 'GET' | 'HEAD' | 'POST' | 'PUT'
  readonly path?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** Requests that are sent one after another, or at once, after time has moved on. */
export interface Phase {
  readonly name: string
  readonly steps: readonly Step[]
  readonly atOnce?: boolean
  /** ms. */
  readonly after?: number
  /** Whether each entry is loaded anew. */
  readonly loads: boolean
}

const TTL = 60_000
const STALE = 60_000

const all = (step: Omit<Step, 'who'> = {}, names: readonly Name[] = CLIENTS): readonly Step[] =>
  names.map((who) => ({ who, ...step }))

/** The life of a page: cold, fresh, asked by HEAD and conditionally, stale, gone, changed by a POST. */
export const SCRIPT: readonly Phase[] = [
  { name: 'cold, all at once', steps: all(), atOnce: true, loads: true },
  { name: 'fresh', steps: all(), loads: false },
  { name: 'fresh, HEAD', steps: all({ method: 'HEAD' }), loads: false },
  { name: 'fresh, conditional', steps: all({ headers: { 'if-none-match': 'own' } }), loads: false },
  { name: 'stale', steps: all({}, [ANN, GUEST, BOB]), after: TTL + 1000, loads: true },
  { name: 'refreshed', steps: all({}, [GUEST, BOB, ANN]), loads: false },
  {
    name: 'gone, HEAD of a guest first',
    steps: [{ who: GUEST, method: 'HEAD' }, ...all()],
    after: TTL + STALE + 1000,
    loads: true,
  },
  { name: 'POST', steps: [{ who: ANN, method: 'POST' }], loads: false },
  { name: 'after the POST', steps: all({}, [BOB, ANN, GUEST]), loads: true },
]
