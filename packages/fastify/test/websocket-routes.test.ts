import { expect, test } from '@jest/globals'
import type { RouteHandlerMethod, RouteOptions } from 'fastify'
import { withApp } from './support/cached-app.ts'

test('the handler of a websocket route, which gets a socket, stays as it is', async () => {
  await withApp(async ({ app }) => {
    const handlers: unknown[] = []
    // As @fastify/websocket does where it is registered after the cache.
    app.addHook('onRoute', ({ method, url, handler }) => {
      if (method === 'GET') handlers.push([url, handler === answer])
    })
    const answer: RouteHandlerMethod = () => 'for a socket'
    app.route({ method: 'GET', url: '/socket', handler: answer, websocket: true } as RouteOptions)
    app.get('/page', answer)
    expect(handlers).toEqual([
      ['/socket', true],
      ['/page', false],
    ])
  })
})
