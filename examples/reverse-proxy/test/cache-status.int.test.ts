import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { openScene, type Scene } from './scene.ts'
import type { ScriptedAnswer, Step } from './scripted-origin.ts'

let scene: Scene
beforeAll(async () => {
  scene = await openScene()
})
afterAll(() => scene.close())

const stored: ScriptedAnswer = { fields: { 'Cache-Control': 'max-age=60', ETag: '"1"', Vary: 'X-Kind' } }

/** Of 60 s, 10.5 s and the transit time of the response are over. */
const FORTY = /^cattlegrid; hit; ttl=4\d$/

async function afterExpiry(...steps: readonly Step[]): Promise<string | undefined> {
  const path = scene.path(stored, ...steps)
  await scene.ask(path)
  await scene.wait(70)
  return (await scene.ask(path)).field('cache-status')
}

describe('Cache-Status', () => {
  test('tells a hit with what is left of it', async () => {
    const path = scene.path(stored)
    expect((await scene.ask(path)).field('cache-status')).toBe('cattlegrid; fwd=uri-miss')
    await scene.wait(10.5)
    expect((await scene.ask(path)).field('cache-status')).toMatch(FORTY)
    const notModified = await scene.ask(path, { fields: { 'If-None-Match': '"1"' } })
    expect(notModified.status).toBe(304)
    expect(notModified.field('cache-status')).toMatch(FORTY)
  })

  test('tells why a request went on: a method, credentials, a variant that is not there, an answer that expired', async () => {
    const path = scene.path(stored)
    expect((await scene.ask(path, { method: 'POST' })).field('cache-status')).toBe('cattlegrid; fwd=method')
    await scene.ask(path)
    expect((await scene.ask(path, { fields: { 'X-Kind': 'b' } })).field('cache-status')).toMatch(
      /^cattlegrid; fwd=vary-miss/,
    )
    expect(await afterExpiry(stored)).toMatch(/^cattlegrid; fwd=stale/)
    expect(await afterExpiry({ status: 304 })).toMatch(/^cattlegrid; fwd=stale; fwd-status=304/)
    expect(await afterExpiry({ status: 503 })).toMatch(
      /^cattlegrid; fwd=stale; fwd-status=503; ttl=-\d+; detail=stale-if-error$/,
    )
  })

  test('says what kept an answer from being stored', async () => {
    const path = scene.path({ fields: { 'Cache-Control': 'private' } })
    expect((await scene.ask(path)).field('cache-status')).toBe('cattlegrid; fwd=uri-miss; detail=private')
  })

  test('comes after what caches nearer the origin said, and keeps it', async () => {
    const path = scene.path({ fields: { 'Cache-Control': 'max-age=60', 'Cache-Status': 'Inner; hit; ttl=5' } })
    expect((await scene.ask(path)).field('cache-status')).toBe('Inner; hit; ttl=5, cattlegrid; fwd=uri-miss')
    expect((await scene.ask(path)).field('cache-status')).toMatch(/^Inner; hit; ttl=5, cattlegrid; hit; ttl=\d+$/)
    expect((await scene.ask(path, { method: 'POST' })).field('cache-status')).toBe(
      'Inner; hit; ttl=5, cattlegrid; fwd=method',
    )
  })

  test('never says both that it was a hit and that it went on, and never names the key', async () => {
    const path = scene.path(stored)
    for (const request of [{}, {}, { method: 'HEAD' }, { method: 'DELETE' }]) {
      const value = (await scene.ask(path, request)).field('cache-status') ?? ''
      expect([value, /; hit\b/.test(value) !== /; fwd=/.test(value), /key=/.test(value)]).toEqual([value, true, false])
    }
  })
})
