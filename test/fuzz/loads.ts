import type { Step } from '../composition/script.ts'
import { pageFor } from './page.ts'
import type { Does, Layer, Stack } from './stack.ts'

type Phase = Stack['phases'][number]

const STORED_STATUSES = [200, 203, 301]
/** Layers beside which every response of the page is stored, and `vary` by names that make variants. */
const STORING: readonly Does[] = [
  ...(['set a field', 'set a field late', 'vary', 'allow the origin', 'compress'] as const),
  ...(['name the client', 'number the request', 'tag'] as const),
]

/** The faults in the number of loads, phase by phase: more than one an entry and expiry where responses are stored, fewer than requests where they may not be. */
export class LoadsExpected {
  readonly #stack: Stack
  readonly #stored: boolean
  readonly #forbidden: boolean
  #loaded: ReadonlySet<string> = new Set()

  constructor(stack: Stack) {
    this.#stack = stack
    this.#stored = isStored(stack)
    this.#forbidden = isForbidden(stack)
  }

  /** `own`: the runs in the bare app. */
  faults(phase: Phase, own: number, ran: number): readonly string[] {
    if (this.#forbidden && ran < own) return [`${ran} runs of a handler that has to run ${own} times`]
    if (!this.#stored) return []
    const most = this.#most(phase)
    return ran > most ? [`${ran} runs of the handler, of which ${most} are needed`] : []
  }

  #most({ after, steps, atOnce }: Phase): number {
    let loaded = new Set(after === 0 ? this.#loaded : [])
    let runs = 0
    for (const step of steps) {
      if (step.method === 'POST' || step.method === 'PUT') loaded = new Set()
      else if (hasOwnRun(step)) runs += 1
      else if (!loaded.has(entryOf(this.#stack, step))) {
        const unkeyed = hasUnkeyedUrl(this.#stack, step)
        const replaced = step.method === 'HEAD' || unkeyed
        // Such a request cannot fill an entry inline: a HEAD may get the stale response, and leave the load to the next GET.
        const fills = this.#stack.refresh !== 'inline' && !(unkeyed && varies(this.#stack))
        if (!replaced || fills) loaded.add(entryOf(this.#stack, step))
        // A GET is sent in its place; where variants differ it may bring another one.
        runs += replaced && varies(this.#stack) ? 2 : 1
      }
    }
    const unsafe = steps.filter(({ method }) => method === 'POST' || method === 'PUT').length
    this.#loaded = atOnce && unsafe > 0 ? new Set() : loaded
    return atOnce ? runs * (1 + unsafe) : runs
  }
}

const isUncacheable = ({ does, with: value }: Layer): boolean => does === 'vary' && ['*', 'Cookie'].includes(value)

/** Whether no response of the handler may be stored or shared. */
function isForbidden({ handler: { asks, status, style }, outside, inside }: Stack): boolean {
  if (status >= 400 || style === 'abort' || style === 'throw' || inside.some(({ does }) => does === 'fail'))
    return false
  const forbids = (layer: Layer): boolean =>
    layer.does.startsWith('set a cookie') || layer.with === 'a cookie' || isUncacheable(layer)
  return [...outside, ...inside].some(forbids) || ['private', 'user', 'cookie'].includes(asks)
}

/** Whether each response of the handler is surely stored. */
function isStored(stack: Stack): boolean {
  const { framework, handler, outside, inside } = stack
  const { fields } = pageFor(stack, { headers: {}, a: undefined, user: () => undefined })
  const forbidden = /no-store|private|no-cache|max-age=0/i
  return (
    STORED_STATUSES.includes(handler.status) &&
    !['throw', 'abort', 'redirect'].includes(handler.style) &&
    !(framework === 'Fastify 5' && handler.style.startsWith('head')) &&
    ['nothing', 'a', 'language'].includes(handler.asks) &&
    fields.every(([name, value]) => name !== 'cache-control' || !forbidden.test(value)) &&
    [...outside, ...inside].every((layer) => STORING.includes(layer.does) && !isUncacheable(layer))
  )
}

function hasOwnRun({ headers = {}, body }: Step): boolean {
  return ['authorization', 'accept', 'x-http-method-override'].some((name) => name in headers) || body !== undefined
}

function varies({ outside, inside, handler }: Stack): boolean {
  return (
    handler.asks === 'language' ||
    [...outside, ...inside].some(({ does }) => does === 'vary') ||
    inside.some(({ does }) => does === 'compress' || does === 'allow the origin')
  )
}

/** Its URL is not that of its key. */
function hasUnkeyedUrl({ onlyA }: Stack, { path }: Step): boolean {
  return onlyA && [...new URL(path ?? '', 'http://shop').searchParams.keys()].some((name) => name !== 'a')
}

function entryOf(stack: Stack, { who, path }: Step): string {
  const { searchParams } = new URL(path ?? '', 'http://shop')
  const parameters = [...searchParams].filter(([name]) => !stack.onlyA || name === 'a')
  return JSON.stringify([parameters.toSorted(([one], [other]) => one.localeCompare(other)), varies(stack) && who])
}
