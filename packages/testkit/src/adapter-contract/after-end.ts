import { strict as assert } from 'node:assert'
import type { ServerResponse } from 'node:http'
import { type ContractRoute, counted, text } from './contract-route.ts'
import type { Contract } from './contract.ts'
import { onStage } from './stage.ts'

/** `finished` is what older libraries read. */
type Ended = Pick<ServerResponse, 'headersSent' | 'writableEnded'> & { readonly finished: unknown }

const ALL: Ended = { headersSent: true, writableEnded: true, finished: true }

/** Ends the response and returns what it shows in the same turn. */
function endOf(response: ServerResponse, status: number, body: string): Ended {
  response.statusCode = status
  response.end(body)
  const { headersSent, writableEnded } = response
  return { headersSent, writableEnded, finished: Reflect.get(response, 'finished') }
}

/** After `end()` a handler sees a response that has ended, whatever the cache does behind it. */
export function describeAfterEnd({ factory, describe, test }: Contract): void {
  const endsWith = (status: number, seen: Ended[]): ContractRoute['handle'] => {
    return counted(() => ({ send: 'raw', write: (response) => void seen.push(endOf(response, status, 'own')) })).handle
  }

  describe('after its end() a handler sees that headersSent, writableEnded and finished are true', () => {
    test('in a POST that invalidates', async () => {
      const seen: Ended[] = []
      await onStage(factory, [{ method: 'POST', path: '/a', handle: endsWith(201, seen) }], async (stage) => {
        assert.deepEqual([(await stage.ask('/a', { method: 'POST' })).status, seen], [201, [ALL]])
      })
    })

    test(
      'in a GET whose failure is kept from its client by a stale response',
      async () => {
        const seen: Ended[] = []
        let runs = 0
        const failing = endsWith(500, seen)
        const handle: ContractRoute['handle'] = async (request) => (++runs === 1 ? text('one') : await failing(request))
        const cache = { ttl: '10s', staleIfError: '10m' } as const
        await onStage(factory, [{ path: '/a', cache, handle }], async (stage) => {
          await stage.ask('/a')
          await stage.runtime.advance(11_000)
          await stage.ask('/a')
          assert.deepEqual(seen, [ALL])
        })
      },
      'time',
    )

    test(
      'in a GET that answers 304 to the validators of the cache',
      async () => {
        const seen: Ended[] = []
        let runs = 0
        const unchanged = endsWith(304, seen)
        const handle: ContractRoute['handle'] = async (request) =>
          ++runs === 1 ? text('one', { etag: '"1"' }) : await unchanged(request)
        await onStage(factory, [{ path: '/a', cache: { ttl: '10s', revalidate: true }, handle }], async (stage) => {
          await stage.ask('/a')
          await stage.runtime.advance(11_000)
          await stage.ask('/a')
          assert.deepEqual(seen, [ALL])
        })
      },
      'time',
    )
  })
}
