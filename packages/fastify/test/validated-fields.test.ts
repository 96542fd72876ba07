import { describe, expect, test } from '@jest/globals'
import { withApp } from './support/cached-app.ts'

describe('a validator that returns the fields of a request', () => {
  test('shows the handler none that is hidden from it', async () => {
    await withApp(async ({ app }) => {
      app.setValidatorCompiler(() => (value: object) => ({ value: { ...value } }))
      const schema = { headers: { type: 'object' } }
      app.get('/page', { schema, config: { cache: { ttl: '1h' } } }, ({ headers }) => ({
        host: headers['x-forwarded-host'] ?? null,
        encoding: headers['accept-encoding'] ?? null,
        language: headers['x-language'] ?? null,
      }))
      const headers = { 'x-forwarded-host': 'evil', 'accept-encoding': 'evil, gzip', 'x-language': 'de' }
      expect((await app.inject({ url: '/page', headers })).json()).toEqual({
        host: null,
        encoding: 'gzip',
        language: 'de',
      })
    })
  })
})

test('fields that are read-only make the request bypass the cache, and nothing fails', async () => {
  await withApp(async ({ app }) => {
    app.addHook('onRequest', async (request) => {
      Object.defineProperty(request, 'headers', { value: { ...request.headers }, writable: false })
    })
    app.get('/page', { config: { cache: { ttl: '1h' } } }, () => 'page')
    for (let turn = 0; turn < 3; turn += 1) expect((await app.inject('/page')).body).toBe('page')
  })
})
