import { expect } from '@jest/globals'
import { gate } from './gate.ts'

export type Fetch = (request: Request) => Response | Promise<Response>

export const NAMES = ['alice', 'bruno'] as const
export type Name = (typeof NAMES)[number]

/** All by which a user may be known. */
export function fieldsOf(name: Name): Record<string, string> {
  return { cookie: `user=${name}`, 'x-user-id': name, 'x-tenant-id': 'shop', 'accept-language': 'de' }
}

/**
 * Lets both users ask for a page at once, and then each of them again: what one gets never names the other.
 * Returns the pages.
 */
export async function expectNoLeak(respond: Fetch, requestOf: (name: Name) => Request): Promise<readonly string[]> {
  const ask = async (name: Name): Promise<string> => {
    const page = await (await respond(requestOf(name))).text()
    const other = name === 'alice' ? 'bruno' : 'alice'
    if (page.includes(other)) throw new Error(`${name} has got: ${page}`)
    return page
  }
  const pages = await Promise.all(NAMES.map(ask))
  for (const name of NAMES.toReversed()) pages.push(await ask(name))
  expect(pages).toHaveLength(4)
  return pages
}

/** A stream that makes its chunks late: each after some turns of the event loop. */
export function lateStream(...parts: readonly (() => string)[]): ReadableStream<Uint8Array> {
  const write = async function* (): AsyncGenerator<Uint8Array> {
    for (const part of parts) {
      const { passed, open } = gate()
      setImmediate(() => setImmediate(open))
      await passed
      yield Buffer.from(part())
    }
  }
  return ReadableStream.from(write())
}
