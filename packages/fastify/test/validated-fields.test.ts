import { describe, expect, test } from '@jest/globals'
import { withApp } from './cached-app.ts'

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
