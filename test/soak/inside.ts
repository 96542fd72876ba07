import { type Runtime, Session } from 'node:inspector'

type Remote = Runtime.RemoteObject
type Properties = Runtime.GetPropertiesReturnType & { readonly privateProperties?: Runtime.PropertyDescriptor[] }

/** Ways that lead back, or out of the cache into what it was given. */
const NOT_FOLLOWED = new Set([
  '#refresher',
  'engine',
  '#store',
  '#runtime',
  '#settings',
  'events',
  '#events',
  'root',
  '#own',
  '#link',
  '#ear',
])
const DEEPEST = 9
/** Of these the numbers are counts of what is under way. */
const COUNTING = new Set(['admission', '#reads'])

/**
 * What is in every Map and Set of an object and of what it consists of, by its path, and what is counted besides. Private
 * fields are seen as a debugger sees them, so that nothing has to be made public for it.
 */
export function inside(object: object): Map<string, number> {
  const session = new Session()
  session.connect()
  try {
    const holder = globalThis as { inspected?: object | undefined }
    holder.inspected = object
    const { result } = ask<{ result: Remote }>(session, 'Runtime.evaluate', { expression: 'globalThis.inspected' })
    holder.inspected = undefined
    const found = new Map<string, number>()
    look(session, result, [], found)
    return found
  } finally {
    session.disconnect()
  }
}

function look(session: Session, object: Remote, path: readonly string[], found: Map<string, number>): void {
  if (path.length > DEEPEST) return
  for (const [name, value] of fields(session, object)) {
    // `cache.store` is the store that the cache was given.
    if (NOT_FOLLOWED.has(name) || (path.length === 0 && name === 'store')) continue
    const here = [...path, name]
    const count = COUNTING.has(path.at(-1) ?? '') && value.type === 'number' ? Number(value.value) : sizeOf(value)
    if (count !== undefined) found.set(here.join('.'), count)
    else if (value.type === 'object' && value.subtype === undefined) look(session, value, here, found)
  }
}

/** Undefined for what is neither Map nor Set. */
function sizeOf({ description = '' }: Remote): number | undefined {
  const size = /^(?:Map|Set)\((\d+)\)$/.exec(description)
  return size === null ? undefined : Number(size[1])
}

function fields(session: Session, { objectId }: Remote): (readonly [string, Remote])[] {
  const answer = ask<Properties>(session, 'Runtime.getProperties', { objectId, ownProperties: true })
  return [...answer.result, ...(answer.privateProperties ?? [])].flatMap(({ name, value }) =>
    value === undefined ? [] : [[name, value] as const],
  )
}

/** A session of the same thread answers before `post` returns. */
function ask<T>(session: Session, method: string, parameters: object): T {
  let answer: { readonly error: Error | null; readonly result: T } | undefined
  session.post(method, parameters, (error, result) => {
    answer = { error, result: result as T }
  })
  if (answer === undefined || answer.error !== null) throw new Error(`${method} failed`, { cause: answer?.error })
  return answer.result
}
