import type { IncomingHttpHeaders } from 'node:http'
import type { Layer, Stack } from './stack.ts'

type Field = readonly [name: string, value: string]

/** What a handler can look at; `user` is read only where its text depends on it. */
interface Seen {
  readonly headers: IncomingHttpHeaders
  readonly a: unknown
  readonly user: () => unknown
}

/** The text of the page, and the fields that its handler sets. */
export function pageFor({ handler: { asks, status, cacheControl }, mode }: Stack, { headers, a, user }: Seen): Page {
  const answers: Readonly<Record<typeof asks, () => unknown>> = {
    // A refusal is its client's own without further words (8.6).
    nothing: () => ([401, 403, 429].includes(status) ? headers['user-agent'] : 'anyone'),
    a: () => a,
    language: () => headers['accept-language'],
    private: () => headers['user-agent'],
    user,
    cookie: () => /who=([^;]*)/.exec(headers.cookie ?? '')?.[1],
    authorization: () => headers.authorization,
  }
  // In app mode no read of a field is noticed: the handler says `private` itself, or says `public` of nothing that credentials decide.
  const inApp = mode === 'app' ? { cookie: 'private', authorization: 'max-age=60' } : {}
  const own = new Map(Object.entries({ private: 'private', ...inApp })).get(asks) ?? cacheControl
  const declared = own ?? (mode === 'app' ? 'max-age=60, stale-while-revalidate=60' : undefined)
  const fields: Field[] = [['content-type', 'text/plain; charset=utf-8']]
  if (asks === 'language') fields.push(['vary', 'Accept-Language'])
  if (declared !== undefined) fields.push(['cache-control', declared])
  return { text: `The page for ${JSON.stringify(answers[asks]() ?? 'nobody')}. `.repeat(3), fields }
}

export interface Page {
  readonly text: string
  readonly fields: readonly Field[]
}

/** An error of the app; without the stack, which the frameworks would print. */
export function failure(status: number): Error {
  return Object.assign(new Error('failed'), { stack: '', status, statusCode: status })
}

let numbers = 0

/** The fields that a layer adds to the response; `Vary` and cookies are added to those that are there. */
export function addedBy({ does, with: value }: Layer, headers: IncomingHttpHeaders): readonly Field[] {
  const name = headers['user-agent'] ?? 'nobody'
  const session: Field = ['set-cookie', `sid=session-${(numbers += 1)}-of-${name}`]
  // Only a session reads the cookie: a read makes the response its client's own.
  if (does.startsWith('begin a session')) return headers.cookie?.includes('sid=') === true ? [] : [session]
  const added: Readonly<Partial<Record<typeof does, readonly Field[]>>> = {
    'set a field': [['x-field', value]],
    'set a field late': [['x-field', value]],
    vary: [['vary', value]],
    'allow the origin': [
      ['vary', 'Origin'],
      ['access-control-allow-origin', headers.origin ?? '*'],
    ],
    restrict: [['cache-control', value]],
    'set a cookie': [session],
    'set a cookie late': [session],
    'name the client': [['x-client', name]],
    'number the request': [['x-request-id', `request-${numbers}-`]],
    'pass to writeHead': [value === 'a cookie' ? ['set-cookie', `late=${name}`] : ['x-late', name]],
    tag: [['etag', value]],
  }
  return added[does] ?? []
}

/** Whether a layer lets no request of this client through. */
export function refuses({ does, with: whom }: Layer, headers: IncomingHttpHeaders): boolean {
  if (does !== 'refuse') return false
  return whom === 'bob' ? headers['user-agent'] === 'bartholomew' : headers.authorization === undefined
}

type WriteHead = (this: unknown, status: number, ...rest: unknown[]) => unknown

/** Calls `act` before the head is written. */
export function beforeHead(res: { writeHead: unknown }, act: () => void): void {
  const writeHead = res.writeHead as WriteHead
  let acted = false
  res.writeHead = function (this: unknown, ...args: Parameters<WriteHead>) {
    if (!acted) act()
    acted = true
    return writeHead.apply(this, args)
  }
}

/** Adds fields to the arguments of `writeHead`. */
export function passToWriteHead(res: { writeHead: unknown }, added: readonly Field[]): void {
  const writeHead = res.writeHead as WriteHead
  res.writeHead = function (this: unknown, status: number, ...rest: unknown[]) {
    const given: unknown = rest.at(-1)
    const fields: unknown = Array.isArray(given)
      ? [...(given as unknown[]), ...added.flat()]
      : { ...(typeof given === 'object' ? given : {}), ...Object.fromEntries(added) }
    return writeHead.call(this, status, ...(typeof rest[0] === 'string' ? [rest[0]] : []), fields)
  }
}
