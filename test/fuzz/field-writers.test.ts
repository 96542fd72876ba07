import { expect, jest, test } from '@jest/globals'
import { createCache, memoryStore } from '@cattlegrid/core'
import { createManualRuntime } from '@cattlegrid/testkit'
import * as fc from 'fast-check'
import { ask, type WireAnswer } from '../wire.ts'
import { fieldApp } from './field-apps.ts'
import { FIELDS, type FieldStack, fieldStacks, type Outside } from './field-stack.ts'

/** The fields whose values a hit cannot know, and those whose members come in another order. */
interface Expected {
  readonly unlike: readonly string[]
  readonly reordered: readonly string[]
}

/** The fields of a response, by their lines' text. An entry names in `Vary` also what a layer outside names for the leader alone. */
function fieldsOf(
  { status, headers }: WireAnswer,
  bare: WireAnswer,
  { unlike, reordered }: Expected,
): Readonly<Record<string, unknown>> {
  const varies = namesOf(headers.vary)
  const value = (name: string): unknown => {
    if (name === 'vary') return namesOf(bare.headers.vary).filter((each) => varies.includes(each))
    const text = headers[name]
    return reordered.includes(name)
      ? String(text)
          .split(/\s*,\s*/)
          .toSorted()
      : text
  }
  return { status, ...Object.fromEntries(FIELDS.map((name) => [name, unlike.includes(name) ? '' : value(name)])) }
}

function namesOf(vary: string | undefined): readonly string[] {
  return (vary ?? '')
    .toLowerCase()
    .split(/\s*,\s*/)
    .filter((name) => name !== '')
}

/** The handler makes its value of the one that is there. */
const COMPUTES = ['continue', 'continue a list', 'prepend', 'embed', 'copy']

/**
 * Fields whose values a hit cannot know: what a layer outside sets after `next`, as a hit is sent before that returns; what the handler passes to `writeHead`, past a
 * layer that sets the field there, since a hit sets it before; and what the handler would have made of a value that the leader did not have. `reordered`: where the handler has
 * added a line behind a value that a layer outside had continued, a hit has the same members in another order.
 */
function expectedOf({ framework, outside, inside }: FieldStack): Expected {
  const computes = framework === 'Fastify 5' ? [...COMPUTES, 'append', 'append a line'] : COMPUTES
  const computed = inside.filter(({ does }) => computes.includes(does)).map(({ field }) => field)
  const passed = inside.filter(({ does }) => does === 'passed').map(({ field }) => field)
  const added = inside.filter(({ does }) => does === 'append a line').map(({ field }) => field)
  const isUnlike = ({ does, whose, field }: Outside): boolean =>
    does === 'after' ||
    (does === 'late' && passed.includes(field)) ||
    ((whose === 'ann' || whose === 'bob') && computed.includes(field))
  const isReordered = ({ does, field }: Outside): boolean => does === 'wrapped' && added.includes(field)
  const fieldsThat = (is: (layer: Outside) => boolean): readonly string[] =>
    outside.filter(is).map(({ field }) => field)
  return { unlike: fieldsThat(isUnlike), reordered: fieldsThat(isReordered) }
}

/** What bob gets from the bare app, and from the cached one after ann. */
async function answersOf(stack: FieldStack): Promise<readonly [bare: WireAnswer, cached: WireAnswer]> {
  const runtime = createManualRuntime()
  const cache = createCache({ runtime, store: memoryStore({ runtime }) })
  const apps = [await fieldApp(stack, undefined), await fieldApp(stack, cache)] as const
  const headersOf = (user: string): Record<string, string> => ({ 'x-user': user })
  try {
    await ask(apps[1].port, '/page', { headers: headersOf('ann') })
    return [
      await ask(apps[0].port, '/page', { headers: headersOf('bob') }),
      await ask(apps[1].port, '/page', { headers: headersOf('bob') }),
    ]
  } finally {
    await Promise.all(apps.map((app) => app.close()))
    const closed = cache.close({ drain: 1 })
    await runtime.advance(1000)
    await closed
  }
}

test('whoever writes a field, a client gets what the bare app sends it, and never what a layer outside gave another', async () => {
  // Handlers that put an outer value into their own are warned about, as they should be.
  jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined)
  let last: Promise<unknown> = Promise.resolve()
  const property = fc.asyncProperty(fieldStacks, async (stack) => {
    const answers = answersOf(stack)
    last = answers
    const [bare, cached] = await answers
    expect(JSON.stringify(cached.headers)).not.toContain('secret-of-ann')
    const expected = expectedOf(stack)
    expect(fieldsOf(cached, bare, expected)).toEqual(fieldsOf(bare, bare, expected))
  })
  await fc.assert(property, {
    seed: 17,
    numRuns: 400,
    plugins: [fc.interruptAfterTimeLimit(8000)],
  })
  await last
})
