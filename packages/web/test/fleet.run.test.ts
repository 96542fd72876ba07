import { join } from 'node:path'
import { type RedisServer, startRedis } from '@cattlegrid/testkit'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type Origin, startOrigin } from '../../../test/fleet/origin.ts'
import { TestProcess } from '../../../test/fleet/process.ts'
import { until } from '../../../test/support/until.ts'
import { ask, type WireAnswer } from '../../../test/wire.ts'
import type { Command } from './support/fleet-member.ts'

const SIZE = 4
/** Of each process. */
const CLIENTS = 200

describe('four processes of Hono over one Redis', () => {
  let redis: RedisServer
  let origin: Origin
  const members: TestProcess<Command>[] = []
  let ports: readonly number[]

  beforeAll(async () => {
    redis = await startRedis({ own: true })
    origin = await startOrigin()
    const env = { FLEET_REDIS: redis.url, FLEET_ORIGIN: origin.url }
    const file = join(__dirname, 'support/fleet-member.ts')
    for (let count = 0; count < SIZE; count += 1) members.push(await TestProcess.start<Command>(file, env))
    ports = await Promise.all(members.map((member) => member.tell<number>('port')))
  })
  afterAll(async () => {
    await Promise.all(members.map((member) => member.kill()))
    await origin.close()
    await redis.stop()
  })

  const arrived = async (): Promise<number> =>
    (await Promise.all(members.map((member) => member.tell<number>('requests')))).reduce((sum, count) => sum + count)
  const crowd = (path: string): Promise<readonly WireAnswer[]> =>
    Promise.all(ports.flatMap((port) => Array.from({ length: CLIENTS }, () => ask(port, path))))
  const told = (answers: readonly WireAnswer[]): Set<string> =>
    new Set(answers.map(({ status, whole, body }) => `${status} ${whole} ${body.toString()}`))

  it(`run the handler once for ${CLIENTS} clients each of a cold route, and give all of them one body`, async () => {
    const letGo = origin.hold('/cold')
    const answers = crowd('/value/cold')
    await until(async () => (await arrived()) === SIZE * CLIENTS)
    letGo()
    expect(told(await answers)).toEqual(new Set(['200 true /cold load 1']))
    expect(told(await crowd('/value/cold'))).toEqual(new Set(['200 true /cold load 1']))
    expect(origin.count('/cold')).toBe(1)
  })

  it('load each route once, whichever process its clients reach first', async () => {
    const paths = Array.from({ length: 8 }, (_, index) => `/route-${index}`)
    const answers = await Promise.all(
      paths.map((path) =>
        Promise.all(ports.flatMap((port) => [ask(port, `/value${path}`), ask(port, `/value${path}`)])),
      ),
    )
    expect(answers.map(told)).toEqual(paths.map((path) => new Set([`200 true ${path} load 1`])))
    expect(paths.map((path) => origin.count(path))).toEqual(paths.map(() => 1))
  })
})
