// The site as `npm run docs -- build` has left it in docs/dist.
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

const dist = resolve(__dirname, '../../docs/dist')
const types: Readonly<Record<string, string>> = {
  '.css': 'text/css',
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.svg': 'image/svg+xml',
}

/** The index of the search, as text. @throws where the site has not been built. */
export function searchIndex(): string {
  const chunks = join(dist, 'assets/chunks')
  const name = existsSync(chunks) && readdirSync(chunks).find((file) => file.startsWith('@localSearchIndex'))
  if (!name) throw new Error('docs/dist has no search index: npm run docs -- build')
  // A module of the browser, which the test runner cannot import.
  const print = 'process.stdout.write((await import(process.argv[1])).default)'
  const args = ['--input-type=module', '-e', print, pathToFileURL(join(chunks, name)).href]
  return execFileSync(process.execPath, args, { encoding: 'utf8', maxBuffer: 64 << 20 })
}

/** Serves the site on loopback. */
export async function serveSite(): Promise<{ server: Server; address: string }> {
  const server = createServer((req, res) => {
    const { pathname } = new URL(req.url ?? '/', 'http://site')
    const file = join(dist, pathname.endsWith('/') ? `${pathname}index.html` : decodeURIComponent(pathname))
    if (!existsSync(file)) res.writeHead(404).end()
    else
      res.writeHead(200, { 'content-type': types[extname(file)] ?? 'application/octet-stream' }).end(readFileSync(file))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return { server, address: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}
