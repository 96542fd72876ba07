// The source of all values, in a process of its own: it counts the loads, whatever a library says of itself.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { KeyCount, Mood } from './source-client.ts'

const counts = new Map<string, KeyCount>()
const held = new Set<() => void>()
let mood: Mood = { took: 0, fails: false, holds: false }
let version = 1

const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://source')
  if (pathname === '/load') void load(searchParams.get('key') ?? '', response)
  else if (pathname === '/counts') response.end(JSON.stringify(Object.fromEntries(counts)))
  else void change(request, response)
})

/** A load gets the version that the source has when it begins. */
async function load(key: string, response: ServerResponse): Promise<void> {
  const count = counts.get(key) ?? { began: 0, running: 0, mostAtOnce: 0 }
  counts.set(key, count)
  count.began += 1
  count.running += 1
  count.mostAtOnce = Math.max(count.mostAtOnce, count.running)
  const { took, fails, holds } = mood
  const value = `${key} ${version}`
  if (holds) await new Promise<void>((release) => held.add(release))
  else await new Promise((done) => setTimeout(done, took))
  count.running -= 1
  response.statusCode = fails ? 500 : 200
  response.end(value)
}

async function change(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let text = ''
  for await (const chunk of request) text += String(chunk)
  const { release, next, ...changes } = JSON.parse(text) as Partial<Mood> & { release?: boolean; next?: boolean }
  mood = { ...mood, ...changes }
  if (next === true) version += 1
  if (release === true) {
    for (const letGo of held) letGo()
    held.clear()
  }
  response.end()
}

server.keepAliveTimeout = 60_000
process.on('disconnect', () => process.exit())
server.listen(0, '127.0.0.1', () => {
  // The runner may have ended while this process started.
  if (!process.connected) process.exit()
  process.send?.((server.address() as AddressInfo).port)
})
