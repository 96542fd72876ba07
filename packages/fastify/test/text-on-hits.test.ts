import { describe, expect, test } from '@jest/globals'
import type { FastifyInstance, RouteShorthandOptions } from 'fastify'
import { cache, withApp } from './support/cached-app.ts'

/** What Node is given as the body of a miss and of a hit. */
async function bodiesOf(
  add: (app: FastifyInstance) => void,
  options: RouteShorthandOptions = {},
): Promise<readonly string[]> {
  const given: string[] = []
  await withApp(async ({ app, bodies }) => {
    app.addHook('onRequest', async (_request, { raw }) => {
      const end = raw.end.bind(raw)
      raw.end = (...args: unknown[]) => {
        given.push(typeof args[0])
        return Reflect.apply(end, raw, args)
      }
    })
    add(app)
    app.get('/page', { config: { cache }, ...options }, async () => 'ünï')
    expect(await bodies('/page', 2)).toEqual(['ünï', 'ünï'])
  })
  return given
}

const passOn = async (_request: unknown, _reply: unknown, payload: unknown): Promise<unknown> => payload

const SKIP_OVERRIDE = { [Symbol.for('skip-override')]: true }

describe('a text on a hit', () => {
  test('is not decoded where no onSend hook sees it', async () => {
    expect(await bodiesOf(() => undefined)).toEqual(['string', 'object'])
  })

  test('is not decoded for an onSend hook of a plugin that does not have the route', async () => {
    const add = (app: FastifyInstance): void => void app.register(async (child) => void child.addHook('onSend', passOn))
    expect(await bodiesOf(add)).toEqual(['string', 'object'])
  })

  test.each<[string, (app: FastifyInstance) => void, RouteShorthandOptions?]>([
    ['of the app', (app) => void app.addHook('onSend', passOn)],
    [
      'of a plugin for the whole app',
      (app) => void app.register(Object.assign(async () => void app.addHook('onSend', passOn), SKIP_OVERRIDE)),
    ],
    ['of the route', () => undefined, { onSend: passOn }],
    [
      'that an onRoute hook adds to the route',
      (app) => void app.addHook('onRoute', (route) => void (route.onSend = passOn)),
    ],
  ])('is a text for an onSend hook %s', async (_which, add, options = {}) => {
    expect(await bodiesOf(add, options)).toEqual(['string', 'string'])
  })
})
