import { strict as assert } from 'node:assert'
import { type ContractRoute, counted, text } from './contract-route.ts'
import type { Contract } from './contract.ts'
import { onStage } from './stage.ts'

/** Handlers that answer by the field. */
function answersBy(field: string, fields: Readonly<Record<string, string>> = {}): ContractRoute['handle'] {
  return counted((run, { headers }) => text(`${String(headers[field])} #${run}`, fields)).handle
}

const cache = { ttl: '1m' } as const

const outside = (headers: Readonly<Record<string, string>>): ContractRoute['before'] => {
  return () => ({ headers })
}

/** RFC 9111 section 4.1: `Vary` of the final head selects, whichever layer set it. */
export function describeOuterVary({ factory, describe, test }: Contract): void {
  describe('a Vary that a layer outside the cache sets', () => {
    for (const name of ['X-Tenant', 'Accept-Language']) {
      const field = name.toLowerCase()

      test(`(${name}) keeps the response of one value from clients with another`, async () => {
        const route = { path: '/page', cache, before: outside({ vary: name }), handle: answersBy(field) }
        await onStage(factory, [route], async (stage) => {
          for (const [value, expected] of [
            ['a', 'a #1'],
            ['b', 'b #2'],
            ['a', 'a #1'],
            ['b', 'b #2'],
          ] as const)
            assert.equal((await stage.ask('/page', { headers: { [field]: value } })).text, expected)
        })
      })
    }

    test('(X-Tenant) counts beside the Vary of the handler', async () => {
      const handle = answersBy('x-tenant', { vary: 'x-tenant, accept-language' })
      const route = { path: '/page', cache, before: outside({ vary: 'X-Tenant' }), handle }
      await onStage(factory, [route], async (stage) => {
        for (const tenant of ['a', 'b', 'a'])
          assert.match((await stage.ask('/page', { headers: { 'x-tenant': tenant } })).text, new RegExp(`^${tenant} #`))
      })
    })

    test('(Origin, as cors sets it) makes variants where the handler says Vary: Origin itself', async () => {
      const handle = answersBy('origin', { vary: 'Origin' })
      const route = { path: '/page', cache, before: outside({ vary: 'Origin' }), handle }
      await onStage(factory, [route], async (stage) => {
        for (const origin of ['https://a.example', 'https://b.example', 'https://a.example'])
          assert.ok((await stage.ask('/page', { headers: { origin } })).text.startsWith(`${origin} #`))
      })
    })

    test('(Origin, as cors sets it) makes variants where the handler says it beside another name', async () => {
      const handle = answersBy('origin', { vary: 'Origin, Accept' })
      const route = { path: '/page', cache, before: outside({ vary: 'Origin' }), handle }
      await onStage(factory, [route], async (stage) => {
        for (const origin of ['https://a.example', 'https://b.example', 'https://a.example'])
          assert.ok((await stage.ask('/page', { headers: { origin } })).text.startsWith(`${origin} #`))
      })
    })

    test('(Accept-Encoding or Origin) opens no way to the handler where only the layer outside says it', async () => {
      const vary = 'Origin, Accept-Encoding'
      const route = { path: '/page', cache, before: outside({ vary }), handle: answersBy('x-none') }
      await onStage(factory, [route], async (stage) => {
        for (const origin of ['https://a.example', 'https://b.example'])
          assert.equal(
            (await stage.ask('/page', { headers: { origin, 'accept-encoding': 'br' } })).text,
            'undefined #1',
          )
      })
    })
  })

  describe('ignoreVary', () => {
    const options: Readonly<Record<string, unknown>> = { ttl: '1m', ignoreVary: ['X-Request-Region'] }

    test('names fields whose Vary makes no variants', async () => {
      for (const [before, handle] of [
        [outside({ vary: 'X-Request-Region' }), answersBy('x-none')],
        [undefined, answersBy('x-none', { vary: 'X-Request-Region' })],
      ] as const)
        await onStage(factory, [{ path: '/page', cache: options, before, handle }], async (stage) => {
          for (const region of ['eu', 'us'])
            assert.equal((await stage.ask('/page', { headers: { 'x-request-region': region } })).text, 'undefined #1')
        })
    })
  })
}
