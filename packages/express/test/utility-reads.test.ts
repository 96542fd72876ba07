import { format, inspect } from 'node:util'
import { runInThisContext } from 'node:vm'
import { describe, expect, test } from '@jest/globals'
import type { Request } from 'express'
import { onSite } from './support/site.ts'

interface Utility {
  get(object: object, name: string): unknown
  set(object: object, name: string, value: unknown): void
}

/** Code of a package that gets and sets properties for others, as lodash does. */
const utility = runInThisContext(
  '({ get: (object, name) => object[name], set: (object, name, value) => { object[name] = value } })',
  {
    filename: '/app/node_modules/a-utility/index.js',
  },
) as Utility

/** Reads that the application makes by the code of others. */
const READS: readonly (readonly [string, (req: Request) => unknown])[] = [
  [
    'a utility that sets and gets the session',
    (req) => {
      utility.set(req, 'session', req.headers['x-name'])
      return utility.get(req, 'session')
    },
  ],
  ['inspect', (req) => inspect(req.headers)],
  ['format', (req) => format('%o', req.headers)],
]

describe.each(READS)('a handler that reads by %s', (_how, read) => {
  test('gets an answer for its client alone', async () => {
    await onSite(
      (app, cached) => {
        app.get('/a', cached({ ttl: '1m' }), (req, res) => void res.send(String(read(req))))
      },
      async (site) => {
        const asked = async (name: string): Promise<string> =>
          (await site.get('/a').set('x-name', name).set('cookie', `sid=${name}`)).text
        expect(await asked('alice')).toContain('alice')
        expect(await asked('bob')).toContain('bob')
      },
    )
  })
})
