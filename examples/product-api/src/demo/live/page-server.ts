import { randomBytes, timingSafeEqual } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { folkloreFailures } from '@cattlegrid/example-lock-lab'
import type { Explanation } from '@cattlegrid/explain'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { ActionBoard } from './action-board.ts'
import type { Flush } from './flush.ts'
import type { Show, Tick } from './show.ts'

export interface PageServer {
  readonly url: string
  /** False if the wanted port was in use. */
  readonly atWantedPort: boolean
  readonly close: () => Promise<void>
}

export interface PageOptions {
  readonly show: Pick<Show, 'ticks' | 'onTick'>
  readonly board: ActionBoard
  readonly flush: Pick<Flush, 'shown' | 'onChange'>
  /** Of the key of cattlegrid's side. */
  readonly explain: () => Promise<Explanation | undefined>
  /** The port to try first: if it is taken, any free one. */
  readonly port: number
}

const PAGE = new URL('../page/', import.meta.url)
const require = createRequire(import.meta.url)
const UPLOT = pathToFileURL(require.resolve('uplot/package.json'))

const TYPES = { css: 'text/css', js: 'text/javascript', svg: 'image/svg+xml' } as const

function pageFiles(type: keyof typeof TYPES, ...names: readonly string[]): [path: string, file: File][] {
  return names.map((name) => [`/${name}.${type}`, { at: new URL(`${name}.${type}`, PAGE), type: TYPES[type] }])
}

interface File {
  readonly at: URL
  readonly type: string
}

/** Everything that the page consists of, by path: nothing else is served. */
const FILES = new Map<string, File>([
  ...pageFiles('css', 'page', 'cards', 'buttons', 'lock-lab', 'key'),
  ...pageFiles(
    'js',
    'page',
    'sides',
    'cards',
    'charts',
    'flush',
    'buttons',
    'log',
    'lock-lab',
    'key',
    'timeline',
    'element',
    'on-width',
  ),
  ...pageFiles('svg', 'icon'),
  ['/uplot.css', { at: new URL('dist/uPlot.min.css', UPLOT), type: TYPES.css }],
  ['/uplot.js', { at: new URL('dist/uPlot.esm.js', UPLOT), type: TYPES.js }],
])

const HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
}

/** Serves the page on loopback. What changes something needs the page's own token. */
export async function servePage(options: PageOptions): Promise<PageServer> {
  const app = Fastify({ forceCloseConnections: true })
  const token = randomBytes(24).toString('base64url')
  guard(app, token)
  serveFiles(app, token)
  app.get('/lock-lab', () => folkloreFailures)
  app.get(
    '/explanation',
    async (_request, reply) => (await options.explain()) ?? reply.code(503).send({ error: 'no process answers' }),
  )
  app.get('/events', (request, reply) => stream(options, request, reply))
  app.post<{ Params: { id: string } }>('/actions/:id', async ({ params }, reply) =>
    (await options.board.press(params.id))
      ? reply.code(204).send()
      : reply.code(409).send({ error: 'it cannot be pressed now' }),
  )
  const listening = await listen(app, options.port)
  return { ...listening, close: () => app.close() }
}

async function listen(app: FastifyInstance, port: number): Promise<Pick<PageServer, 'url' | 'atWantedPort'>> {
  try {
    return { url: await app.listen({ host: '127.0.0.1', port }), atWantedPort: true }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    return { url: await app.listen({ host: '127.0.0.1', port: 0 }), atWantedPort: false }
  }
}

/** Another site may send requests here from the reader's browser, also under a name of its own that it lets point to this machine. */
function guard(app: FastifyInstance, token: string): void {
  app.addHook('onRequest', async (request, reply) => {
    void reply.headers(HEADERS)
    const { port } = request.socket.address() as { port: number }
    const hosts = [`127.0.0.1:${port}`, `localhost:${port}`]
    const { host = '', origin } = request.headers
    if (!hosts.includes(host)) return await reply.code(421).send({ error: `this page is at http://${hosts[0]}` })
    if (request.method === 'GET' || request.method === 'HEAD') return undefined
    const given = request.headers['x-demo-token']
    if (origin !== `http://${host}` || !matches(given, token))
      return await reply.code(403).send({ error: 'not from the page of this run' })
  })
}

function matches(given: unknown, token: string): boolean {
  if (typeof given !== 'string') return false
  const [one, other] = [Buffer.from(given, 'latin1'), Buffer.from(token, 'latin1')]
  return one.length === other.length && timingSafeEqual(one, other)
}

function serveFiles(app: FastifyInstance, token: string): void {
  const pages = { '/': 'index.html', '/key': 'key.html' }
  for (const [path, name] of Object.entries(pages))
    app.get(path, async (_request, reply) => {
      const html = await readFile(new URL(name, PAGE), 'utf8')
      return await reply.type('text/html; charset=utf-8').send(html.replace('{{token}}', token))
    })
  for (const [path, { at, type }] of FILES)
    app.get(path, async (_request, reply) => await reply.type(`${type}; charset=utf-8`).send(await readFile(at)))
}

/** Server-Sent Events: the seconds so far, then each second as it comes; the buttons and the flushed fleets whenever one changes. */
function stream({ show, board, flush }: PageOptions, request: FastifyRequest, reply: FastifyReply): void {
  reply.hijack()
  const { raw } = reply
  raw.writeHead(200, { ...HEADERS, 'content-type': 'text/event-stream' })
  const send = (event: string, data: unknown): void =>
    void raw.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
  const sendTick = (tick: Tick): void => {
    send('tick', tick)
    sendBoard()
  }
  const sendBoard = (): void => send('actions', { actions: board.list(), log: board.log })
  const sendFlush = (): void => void (flush.shown !== undefined && send('flush', flush.shown))
  send('history', show.ticks)
  sendBoard()
  sendFlush()
  const ends = [show.onTick(sendTick), board.onChange(sendBoard), flush.onChange(sendFlush)]
  request.raw.once('close', () => ends.forEach((end) => end()))
}
