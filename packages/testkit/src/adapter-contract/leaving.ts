import { strict as assert } from 'node:assert'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { finished } from 'node:stream'
import { type ContractRequest, type ContractRoute, counted, text } from './contract-route.ts'
import type { Contract } from './contract.ts'
import { onStage, type Stage } from './stage.ts'

const cache = { ttl: '10s' } as const

interface Raw {
  readonly req: IncomingMessage
  readonly res: ServerResponse
}

/** Starts to watch a client; returns a function that tells whether it has left. */
type Watch = (raw: Raw) => () => boolean

/** Watches by a callback. */
const told =
  (subscribe: (raw: Raw, notice: () => void) => void): Watch =>
  (raw) => {
    let left = false
    subscribe(raw, () => {
      left = true
    })
    return () => left
  }

/** The ways in which a handler learns that its client has left. */
const WAYS: readonly (readonly [string, Watch])[] = [
  ['hears of the close of its request', told(({ req }, notice) => void req.on('close', notice))],
  ['hears of the abort of its request', told(({ req }, notice) => void req.once('aborted', notice))],
  ['hears of the close of its response', told(({ res }, notice) => void res.prependListener('close', notice))],
  ['hears of the close of its connection', told(({ req }, notice) => void req.socket.on('close', notice))],
  ['awaits the close of its request', told(({ req }, notice) => void once(req, 'close').then(notice, notice))],
  ['awaits the end of its response', told(({ res }, notice) => void finished(res, notice))],
  [
    'asks whether its request is destroyed',
    ({ req }) =>
      () =>
        req.destroyed,
  ],
  [
    'asks whether its request is closed',
    ({ req }) =>
      () =>
        req.closed,
  ],
  [
    'asks whether its request is aborted',
    ({ req }) =>
      () =>
        Reflect.get(req, 'aborted'),
  ],
  [
    'asks whether its response is destroyed',
    ({ res }) =>
      () =>
        res.destroyed,
  ],
  [
    'asks whether its response is closed',
    ({ res }) =>
      () =>
        res.closed,
  ],
  [
    'asks whether its connection is destroyed',
    ({ req }) =>
      () =>
        req.socket.destroyed,
  ],
  [
    'asks whether the connection that it kept is writable',
    ({ req: { socket } }) =>
      () =>
        !socket.writable,
  ],
  [
    'asks whether the connection that it kept is open',
    ({ req: { socket } }) =>
      () =>
        socket.readyState !== 'open',
  ],
]

/** Ways in which a layer outside learns it, and tells its handler. */
const OUTER_WAYS: readonly (readonly [string, Watch])[] = [
  ['of its response', told(({ res }, notice) => void res.once('close', notice))],
  ['of its request', told(({ res }, notice) => void res.req.once('close', notice))],
  ['of its connection', told(({ res }, notice) => void res.req.socket.once('close', notice))],
]

/** Works until its client has left. */
async function halfAPage(hasLeft: () => boolean): Promise<string> {
  while (!hasLeft()) await new Promise(setImmediate)
  return 'half of it'
}

/** A route whose first handler sends half a page if its client leaves, and what is known of it. */
function route(watch: Watch, outside?: Watch): { readonly declared: ContractRoute; readonly runs: () => number } {
  let knows: () => boolean = () => false
  const origin = counted(async (run, { raw }: ContractRequest) => {
    if (run > 1) return text('whole')
    return text(await halfAPage(outside === undefined ? watch(raw) : knows))
  })
  const wrap = (res: ServerResponse): void => {
    if (origin.runs === 0) knows = outside?.({ req: res.req, res }) ?? knows
  }
  return {
    declared: { path: '/rows', cache, before: () => ({ wrap }), handle: origin.handle },
    runs: () => origin.runs,
  }
}

/** The first of 5 clients leaves; the others get what follows. */
async function leaveFirst(stage: Stage): Promise<readonly string[]> {
  const leader = stage.askAndLeave('/rows')
  await stage.seen('load', 1)
  const crowd = stage.crowd(4, '/rows')
  await stage.seen('join', 4)
  leader.leave()
  return [...(await crowd), await stage.ask('/rows')].map((received) => received.text)
}

const WHOLE = Array<string>(5).fill('whole')

/** A handler that could know that its client has left has proved nothing: nobody else gets its response. */
export function describeLeaving({ factory, describe, test }: Contract): void {
  describe('a leader whose client leaves before its end', () => {
    for (const [how, watch] of WAYS)
      test(`and that ${how} cuts its response short for nobody: another leads at once`, async () => {
        const { declared, runs } = route(watch)
        await onStage(factory, [declared], async (stage) => {
          assert.deepEqual([await leaveFirst(stage), runs()], [WHOLE, 2])
        })
      })

    for (const [what, outside] of OUTER_WAYS)
      test(`cuts its response short for nobody where a layer outside hears the close ${what} and tells it`, async () => {
        const { declared, runs } = route(() => () => false, outside)
        await onStage(factory, [declared], async (stage) => {
          assert.deepEqual([await leaveFirst(stage), runs()], [WHOLE, 2])
        })
      })
  })
}
