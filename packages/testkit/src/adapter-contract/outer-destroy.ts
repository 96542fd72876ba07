import { strict as assert } from 'node:assert'
import type { ServerResponse } from 'node:http'
import { until } from './client.ts'
import { type ContractRoute, counted, never, text } from './contract-route.ts'
import type { Contract } from './contract.ts'
import { createGate, onStage, type Stage } from './stage.ts'

const WAYS: readonly (readonly [string, (response: ServerResponse) => void])[] = [
  ['the response', (response) => void response.destroy()],
  ['the socket of the request', ({ req }) => void req.socket.destroy()],
  ['the socket of the response', ({ socket }) => void socket?.destroy()],
]

/** A layer outside that delays the end of responses, as one that saves a session. */
interface DelayingLayer {
  readonly before: ContractRoute['before']
  readonly delayed: ServerResponse[]
  delays: boolean
  /** Called in the end that it delays. */
  onEnd?: (response: ServerResponse) => void
}

function delayingLayer(): DelayingLayer {
  const layer: DelayingLayer = {
    delayed: [],
    delays: false,
    before: () => ({
      wrap: (response) => {
        if (!layer.delays) return
        response.end = () => {
          layer.delayed.push(response)
          layer.onEnd?.(response)
          return response
        }
      },
    }),
  }
  return layer
}

/** Responses that the cache sends: how the last request that `ask` sends comes to get one. */
const ANSWERS: readonly (readonly [
  string,
  (stage: Stage, ask: () => Promise<unknown>, open: () => void) => Promise<void>,
])[] = [
  [
    'a hit',
    async (_stage, ask, open) => {
      open()
      await ask()
    },
  ],
  [
    'a stale response in the place of a failure',
    async ({ runtime }, ask, open) => {
      open()
      await ask()
      await runtime.advance(11_000)
    },
  ],
  [
    'the response to another request',
    async (stage, ask, open) => {
      void ask()
      await stage.seen('load', 1)
      void stage.seen('join', 1).then(open)
    },
  ],
]

/**
 * Only the handler, which knows nothing of the response that the cache sends in its place, cannot destroy it.
 */
export function describeOuterDestroy({ factory, describe, test }: Contract): void {
  describe('a layer outside', () => {
    for (const [what, prepare] of ANSWERS)
      for (const [way, destroy] of WAYS)
        test(
          `that destroys ${way} ends ${what}`,
          async () => {
            const layer = delayingLayer()
            const gate = createGate()
            const { handle } = counted(async (run) => {
              await gate.opened
              return run === 1 ? text('well') : text('broken', {}, 500)
            })
            const cache = { ttl: '10s', staleIfError: '10m', softTimeout: false } as const
            await onStage(factory, [{ path: '/a', cache, before: layer.before, handle }], async (stage) => {
              await prepare(stage, () => stage.ask('/a'), gate.open)
              layer.delays = true
              const asked = stage.ask('/a').then(({ status }) => status)
              await until('the end is delayed', () => layer.delayed.length === 1)
              layer.delayed.forEach(destroy)
              assert.equal(await soon(asked), 0)
            })
          },
          'time',
        )

    for (const [way, destroy] of WAYS)
      test(
        `that destroys ${way} after its end ends a response, although the handler in whose place the cache sends it still runs`,
        async () => {
          const layer = delayingLayer()
          layer.onEnd = (response) => void setImmediate(destroy, response)
          const { handle } = counted((run) => (run === 1 ? text('well') : never()))
          const cache = { ttl: '10s', staleIfError: '10m', softTimeout: false, loadTimeout: '3s' } as const
          await onStage(factory, [{ path: '/a', cache, before: layer.before, handle }], async (stage) => {
            await stage.ask('/a')
            await stage.runtime.advance(11_000)
            layer.delays = true
            const asked = stage.ask('/a').then(({ status }) => status)
            await stage.seen('load', 2)
            await stage.runtime.advance(3001)
            assert.equal(await soon(asked), 0)
          })
        },
        'time',
      )
  })
}

async function soon(asked: Promise<number>): Promise<unknown> {
  return await Promise.race([asked, new Promise((resolve) => setTimeout(resolve, 2000, 'still open'))])
}
