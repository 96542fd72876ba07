// The shop's database: answers slowly, and counts how often it is asked. `node source.mjs [port]`
import { EventEmitter, once } from 'node:events'
import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

const asked = new Map()
const changes = new EventEmitter().setMaxListeners(0)
let mood = 'well'

/** `POST /mood/held` keeps answers back until the next mood, `/mood/failing` answers 500, `/mood/well` ends both. */
function change(next) {
  mood = next
  changes.emit('change')
}

async function answer(request, response) {
  const { pathname } = new URL(request.url, 'http://source')
  if (pathname === '/counts') return response.end(JSON.stringify(Object.fromEntries(asked)))
  if (pathname.startsWith('/mood/')) return response.end(String(change(pathname.slice('/mood/'.length))))
  const version = (asked.get(pathname) ?? 0) + 1
  asked.set(pathname, version)
  await sleep(Number(process.env.SOURCE_DELAY ?? 200))
  if (mood === 'held') await once(changes, 'change')
  response.statusCode = mood === 'failing' ? 500 : 200
  response.end(JSON.stringify({ version }))
}

const server = createServer((request, response) => void answer(request, response))

server.listen(Number(process.argv[2] ?? 4400), '127.0.0.1', () => {
  console.log(`source http://127.0.0.1:${server.address().port}`)
})
