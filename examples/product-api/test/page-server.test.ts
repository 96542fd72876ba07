import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import request from 'supertest'
import { ActionBoard } from '../src/demo/live/action-board.ts'
import { servePage, type PageServer } from '../src/demo/live/page-server.ts'

let server: PageServer
let pressed: number
const flush = { shown: undefined, onChange: () => () => undefined }

beforeEach(async () => {
  pressed = 0
  const run = async (): Promise<{ message: string }> => {
    pressed += 1
    return { message: 'done' }
  }
  const board = new ActionBoard([{ id: 'harm', label: 'Harm', explanation: '', run }], () => 0)
  server = await servePage({
    show: { ticks: [], onTick: () => () => undefined },
    board,
    flush,
    port: 0,
    explain: async () => undefined,
  })
})

afterEach(() => server.close())

async function token(): Promise<string> {
  const page = await request(server.url).get('/').expect(200)
  return /name="demo-token" content="([\w-]+)"/.exec(page.text)?.[1] ?? ''
}

describe('the server of the page', () => {
  test('presses a button for its own page', async () => {
    const headers = { origin: server.url, 'x-demo-token': await token() }
    await request(server.url).post('/actions/harm').set(headers).expect(204)
    expect(pressed).toBe(1)
  })

  test.each([
    { name: 'another site', headers: { origin: 'https://evil.example' } },
    { name: 'a page without an origin', headers: {} },
    { name: 'another port of this machine', headers: { origin: 'http://127.0.0.1:1' } },
  ])('presses nothing for $name, even with the token', async ({ headers }) => {
    await request(server.url)
      .post('/actions/harm')
      .set({ ...headers, 'x-demo-token': await token() })
      .expect(403)
    expect(pressed).toBe(0)
  })

  test.each(['', 'guess', '\u00E4'.repeat(32)])('presses nothing with the token "%s"', async (guess) => {
    await request(server.url).post('/actions/harm').set({ origin: server.url, 'x-demo-token': guess }).expect(403)
    expect(pressed).toBe(0)
  })

  test('shows neither its page nor its token under a name that another site lets point here', async () => {
    const answer = await request(server.url).get('/').set('host', 'evil.example').expect(421)
    expect(answer.text).not.toContain('demo-token')
  })

  test('presses nothing on GET, and serves no other file', async () => {
    await request(server.url).get('/actions/harm').expect(404)
    await request(server.url).get('/..%2findex.html').expect(404)
    await request(server.url).get('/index.html').expect(404)
    expect(pressed).toBe(0)
  })

  test('lets the browser load nothing from elsewhere', async () => {
    const { headers, text } = await request(server.url).get('/').expect(200)
    expect(headers['content-security-policy']).toMatch(
      /^default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self';/,
    )
    expect(text).not.toMatch(/https?:\/\//)
  })

  test.each(['/', '/key'])('serves every file that the page %s names', async (name) => {
    const page = await request(server.url).get(name)
    const paths = Array.from(page.text.matchAll(/(?:href|src)="(\/[^"]+)"/g), ([, path]) => path ?? '')
    expect(paths).toContain('/page.css')
    for (const path of [...paths, '/uplot.js', '/icon.svg', '/lock-lab', '/timeline.js'])
      await request(server.url).get(path).expect(200)
  })

  test('says that no process answers where none explains the key', async () => {
    await request(server.url).get('/explanation').expect(503, { error: 'no process answers' })
  })

  test('takes any free port if the wanted one is taken', async () => {
    const port = Number(new URL(server.url).port)
    const other = await servePage({
      show: { ticks: [], onTick: () => () => undefined },
      board: new ActionBoard([], () => 0),
      flush,
      port,
      explain: async () => undefined,
    })
    expect(new URL(other.url).port).not.toBe(String(port))
    await other.close()
  })
})
