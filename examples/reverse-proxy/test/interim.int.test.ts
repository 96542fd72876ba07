import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { askRaw, readRaw } from './raw-client.ts'
import { openScene, type Scene } from './scene.ts'
import type { Step } from './scripted-origin.ts'

let scene: Scene
beforeAll(async () => {
  scene = await openScene()
})
afterAll(() => scene.close())

const BODY = 'the page'
const FINAL = `HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`

/** Sends exactly these bytes, and ends the connection. */
function bytes(text: string): Step {
  return (_req, res) => void res.socket?.end(text)
}

function get(path: string, version = '1.1'): Promise<string> {
  return readRaw(scene.port, `GET ${path} HTTP/${version}\r\nHost: shop.example\r\nConnection: close\r\n\r\n`)
}

describe('an interim response of the origin', () => {
  test.each([
    ['103 Early Hints', 'Link: </a.css>; rel=preload; as=style'],
    ['103 Early Hints', 'Link: </a.css>; rel="preload"; title="a b", </b.js>; rel=preload\r\nX-Own: 1'],
    ['103 Early Hints', 'X-Own: 1'],
    ['102 Processing', 'X-Own: 1'],
    ['110 Own', 'X-Own: 1'],
  ])('passes through before the final one, which is stored: %s, %s', async (status, fields) => {
    const path = scene.path(bytes(`HTTP/1.1 ${status}\r\n${fields}\r\nConnection: X-Hop\r\nX-Hop: 1\r\n\r\n${FINAL}`))
    const [interim = '', final = ''] = (await get(path)).split('\r\n\r\n')
    expect(interim).toBe(`HTTP/1.1 ${status}\r\n${fields}\r\nVia: 1.1 cattlegrid`)
    expect(final).toMatch(/^HTTP\/1.1 200 /)
    expect(await scene.ask(path)).toMatchObject({ hit: true, body: BODY })
  })

  test('reaches no client of HTTP/1.0', async () => {
    const path = scene.path(bytes(`HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n${FINAL}`))
    expect(await get(path, '1.0')).toMatch(/^HTTP\/1.1 200 /)
  })
})

describe('a response that is complete by its Content-Length', () => {
  test.each([
    ['', 'more bytes'],
    ['', 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil'],
    ['Connection: close\r\n', 'more bytes'],
  ])('is delivered and stored, whatever follows it: %j %j', async (field, more) => {
    const path = scene.path(bytes(FINAL.replace('\r\n', `\r\n${field}`) + more))
    expect(await scene.ask(path)).toMatchObject({ status: 200, body: BODY, cutOff: false, hit: false })
    expect(await scene.ask(path)).toMatchObject({ status: 200, body: BODY, hit: true })
  })

  test('is not delivered as whole where the origin garbles it before its end', async () => {
    const head = 'HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nTransfer-Encoding: chunked\r\n\r\n'
    const path = scene.path(bytes(`${head}4\r\nhalf\r\nno length\r\n`))
    expect(await scene.ask(path)).toMatchObject({ cutOff: true })
    expect((await scene.ask(path)).hit).toBe(false)
  })

  test('is stored whole where it is a 200 with a Content-Range', async () => {
    const range = { 'Content-Range': `bytes 0-${BODY.length - 1}/99`, 'Cache-Control': 'max-age=60' }
    const path = scene.path({ fields: range, body: BODY })
    await scene.ask(path)
    const whole = { status: 200, body: BODY, hit: true }
    expect(await scene.ask(path)).toMatchObject(whole)
    const raw = `GET ${path} HTTP/1.1\r\nHost: shop.example\r\nConnection: close\r\nRange: bytes=0-2\r\n\r\n`
    expect(await askRaw(scene.port, raw)).toMatchObject({ hit: true, body: BODY.slice(0, 3) })
  })
})
