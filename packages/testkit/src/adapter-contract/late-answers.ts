import { strict as assert } from 'node:assert'
import { Agent, request, type ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { text as textOf } from 'node:stream/consumers'
import { type ContractAnswer, counted, json, nothing, text } from './contract-route.ts'
import type { Contract } from './contract.ts'
import { createGate, onStage, type Stage } from './stage.ts'

/** What a late handler has met. */
interface Met {
  readonly thrown: unknown[]
  readonly sources: Readable[]
}

type LateAnswer = (met: Met) => ContractAnswer

/** A stream that does not end by itself, as an open file or a cursor. */
function openSource({ sources }: Met): Readable {
  const source = new Readable({ read: () => undefined })
  sources.push(source)
  return source
}

/** Uses Node's response in a callback: what is thrown there ends a process. */
function inCallback(use: (response: ServerResponse, met: Met) => void): LateAnswer {
  const tried = (response: ServerResponse, met: Met): void => {
    try {
      use(response, met)
    } catch (error) {
      met.thrown.push(error)
    }
  }
  return (met) => ({ send: 'raw', write: (response) => void setImmediate(tried, response, met) })
}

const LATE_ANSWERS: readonly (readonly [string, LateAnswer])[] = [
  ['sends a text', () => text('late', { 'x-late': 'yes' })],
  ['sends an object', () => json({ late: true }, {}, 500)],
  ['sends nothing', () => nothing(204)],
  ['sends a stream', (met) => ({ send: 'stream', status: 200, headers: {}, body: openSource(met) })],
  ['writes a head and ends', inCallback((response) => void response.writeHead(200, { 'x-late': 'yes' }).end('late'))],
  [
    'writes and ends',
    inCallback((response) => {
      response.flushHeaders()
      response.write('late')
      response.addTrailers({ 'x-late': 'yes' })
      response.end()
    }),
  ],
  [
    'changes fields',
    inCallback((response) => {
      response
        .setHeader('x-late', 'yes')
        .appendHeader('x-late', 'twice')
        .setHeaders(new Map([['x-late', 'yes']]))
      response.removeHeader('date')
      response.end('late')
    }),
  ],
  [
    'sends interim responses',
    inCallback((response) => {
      response.writeEarlyHints({ link: '</late.css>; rel=preload' })
      response.writeContinue()
      response.writeProcessing()
      response.end('late')
    }),
  ],
  ['pipes a stream', inCallback((response, met) => void openSource(met).pipe(response))],
]

/**
 * Whatever a handler does with its response once the cache has answered in its place has no effect, and its
 * streams are closed.
 */
export function describeLateAnswers({ factory, describe, test }: Contract): void {
  for (const replaced of ['a 504', 'a stale response'] as const)
    describe(`a handler in whose place the cache has answered by ${replaced}`, () => {
      for (const [what, lateAnswer] of LATE_ANSWERS)
        test(
          `and that ${what} later: nothing is thrown or left open, and the next request on the connection gets its response`,
          async () => {
            const met: Met = { thrown: [], sources: [] }
            const late = createGate()
            const slow = counted(async (run) => {
              if (run === 1 && replaced === 'a stale response') return text('one')
              await late.opened
              return lateAnswer(met)
            })
            const cache = { ttl: '10s', loadTimeout: '3s', staleIfError: '10m' } as const
            const routes = [
              { path: '/slow', cache, handle: slow.handle },
              { path: '/other', handle: counted(() => text('other')).handle },
            ]
            await onStage(factory, routes, async (stage) => {
              const agent = new Agent({ keepAlive: true, maxSockets: 1 })
              try {
                const first = await answerInstead(stage, agent, replaced)
                late.open()
                for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate)
                assert.deepEqual(met.thrown, [])
                assert.equal(met.sources.filter(({ destroyed }) => !destroyed).length, 0)
                assert.deepEqual([first, await askOver(agent, stage, '/other')], [EXPECTED[replaced], '200 other'])
              } finally {
                agent.destroy()
              }
            })
          },
          'time',
        )
    })
}

const EXPECTED = { 'a 504': '504', 'a stale response': '200 one' } as const

/** Asks for `/slow`, whose handler is too slow. */
async function answerInstead(stage: Stage, agent: Agent, replaced: keyof typeof EXPECTED): Promise<string> {
  const isStale = replaced === 'a stale response'
  if (isStale) {
    await askOver(agent, stage, '/slow')
    await stage.runtime.advance(11_000)
  }
  const asked = askOver(agent, stage, '/slow')
  await stage.seen('load', isStale ? 2 : 1)
  await stage.runtime.advance(3001)
  const answer = await asked
  return isStale ? answer : answer.slice(0, 3)
}

/** Sends a request over the agent's connection; returns the status and the text. */
async function askOver(agent: Agent, { origin }: Stage, path: string): Promise<string> {
  return await new Promise((resolve, reject) => {
    request(new URL(path, origin), { agent }, (response) => {
      textOf(response).then((body) => resolve(`${response.statusCode} ${body}`), reject)
    })
      .once('error', reject)
      .end()
  })
}
