import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { openScene, type Scene } from './scene.ts'

let scene: Scene
beforeAll(async () => {
  scene = await openScene()
})
afterAll(() => scene.close())

const STORED = { fields: { 'Cache-Control': 'max-age=1000', Vary: 'X-Kind' } }

/** True if a stored response is reused after a request of this method that got this response. */
async function survives(method: string, status: number, target = ''): Promise<boolean> {
  const path = scene.path(STORED, { status, fields: {} }, STORED)
  await scene.ask(path + target)
  await scene.ask(path + target, { method })
  return (await scene.ask(path + target)).hit
}

describe('what is stored of a URL', () => {
  test.each(['POST', 'PUT', 'DELETE', 'PATCH', 'LOCK'])('is out of date once %s succeeded', async (method) => {
    expect(await survives(method, 200)).toBe(false)
    expect(await survives(method, 204, '?a=1')).toBe(false)
    expect(await survives(method, 303)).toBe(false)
  })

  test('stays when the request failed', async () => {
    for (const status of [400, 404, 500]) expect([status, await survives('POST', status)]).toEqual([status, true])
  })

  test('stays after a request that changes nothing', async () => {
    for (const method of ['OPTIONS', 'TRACE']) expect([method, await survives(method, 200)]).toEqual([method, true])
  })

  test('is out of date in all its variants', async () => {
    const path = scene.path(STORED, STORED, { status: 200 }, STORED)
    for (const kind of ['a', 'b']) await scene.ask(path, { fields: { 'X-Kind': kind } })
    await scene.ask(path, { method: 'POST' })
    for (const kind of ['a', 'b']) expect((await scene.ask(path, { fields: { 'X-Kind': kind } })).hit).toBe(false)
  })

  test.each(['Location', 'Content-Location'])(
    'is out of date once %s of a successful answer named it',
    async (name) => {
      for (const named of [(path: string) => path, (path: string) => `http://shop.example${path}`]) {
        const path = scene.path(STORED)
        await scene.ask(path)
        const other = scene.path({ status: 201, fields: { [name]: named(path) } })
        await scene.ask(other, { method: 'POST' })
        expect((await scene.ask(path)).hit).toBe(false)
      }
    },
  )

  test('stays when it was named as a URL of another origin', async () => {
    const path = scene.path(STORED)
    await scene.ask(path)
    const other = scene.path({
      status: 201,
      fields: { Location: `http://other.example${path}`, 'Content-Location': `https://shop.example${path}` },
    })
    await scene.ask(other, { method: 'POST' })
    expect((await scene.ask(path)).hit).toBe(true)
  })
})
