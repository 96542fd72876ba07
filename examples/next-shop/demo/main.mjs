// Four servers of one build behind a balancer: how often do they render at an expiry, and who sees an invalidation?
// `npm run next-demo`; with `-- --keep` the table goes into README.md.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startRedis } from '@cattlegrid/testkit'
import { build, startBalancer, startServer, startSource } from './fleet.mjs'

const SERVERS = 4
const REQUESTS = 100
const ROUNDS = 10
/** How long entries are fresh, in seconds, and a longer time, ms. */
const FRESH_FOR = '2'
const EXPIRY = 2300

const handlers = [
  ['', 'cattlegrid'],
  ['stock', 'those of Next'],
  ['community', '@fortedigital/nextjs-cache-handler'],
]
const pages = [
  ['/stock?id=7', '/stock/7', "`'use cache'`"],
  ['/catalogue', '/catalogue', 'prerendered page'],
]

async function visit(origin, path) {
  const began = performance.now()
  const text = await (await fetch(origin + path)).text()
  return { took: performance.now() - began, version: Number(/version=(\d+);/.exec(text)?.[1] ?? 0) }
}

const visits = (origin, path, count) => Promise.all(Array.from({ length: count }, () => visit(origin, path)))

const percentile = (times, part) => times.toSorted((one, other) => one - other)[Math.floor((times.length - 1) * part)]

/** Renders per expiry, and the 99th percentile of the answers at it. */
async function atExpiries({ balancer, source }, [path, what]) {
  const times = []
  await visits(balancer.origin, path, SERVERS * 2)
  const { [what]: before = 0 } = await source.counts()
  for (let round = 0; round < ROUNDS; round += 1) {
    await sleep(EXPIRY)
    times.push(...(await visits(balancer.origin, path, REQUESTS)).map(({ took }) => took))
  }
  await sleep(1000)
  const { [what]: after } = await source.counts()
  return { renders: (after - before) / ROUNDS, p99: percentile(times, 0.99) }
}

/** How many servers show what is new 50 ms after the request that invalidates. */
async function seenBy({ servers }, [path], tag) {
  const before = await Promise.all(servers.map(({ origin }) => visit(origin, path)))
  await fetch(`${servers[0].origin}/revalidate?tag=${tag}&now=1`, { method: 'POST' })
  await sleep(50)
  const after = await Promise.all(servers.map(({ origin }) => visit(origin, path)))
  return after.filter(({ version }, index) => version > before[index].version).length
}

/** The slowest answer while Redis is stopped, the 200 ms of the source included. */
async function whileSilent({ balancer, redis }, [path]) {
  await visits(balancer.origin, path, SERVERS * 2)
  redis.pause()
  await sleep(EXPIRY)
  const times = (await Promise.race([visits(balancer.origin, path, SERVERS * 2), sleep(20_000, [])])).map(
    ({ took }) => took,
  )
  redis.resume()
  await sleep(1000)
  return times.length === 0 ? Infinity : Math.max(...times)
}

async function measure(handler, redis, source) {
  const output = `dist/demo-${handler}`
  const ofHandler = { NEXT_SHOP_HANDLERS: handler, NEXT_SHOP_OUTPUT: output }
  const env = { ...ofHandler, FRESH_FOR, REDIS_URL: redis.url, SOURCE_URL: source.origin }
  await build(env)
  const servers = await Promise.all(Array.from({ length: SERVERS }, () => startServer(env)))
  const balancer = await startBalancer(servers)
  const fleet = { servers, balancer, source, redis }
  const found = []
  try {
    for (const page of pages) {
      const expiries = await atExpiries(fleet, page)
      const seen = await seenBy(fleet, page, page[1].split('/')[1])
      found.push({ ...expiries, seen, silent: await whileSilent(fleet, page) })
      process.stderr.write('.')
    }
  } finally {
    balancer.stop()
    await Promise.all(servers.map(({ stop }) => stop()))
  }
  return found
}

function tableOf(results) {
  const head = [
    '',
    'Handlers',
    'Renders per expiry',
    'p99 of 100 requests at it',
    '`revalidateTag` seen by',
    'Slowest while Redis is silent',
  ]
  const ms = (time) => (time === Infinity ? 'no answer in 20 s' : `${time.toFixed(0)} ms`)
  const rows = pages.flatMap(([, , title], index) =>
    results.map(([name, found]) => {
      const { renders, p99, seen, silent } = found[index]
      return [title, name, renders.toFixed(1), ms(p99), `${seen} of ${SERVERS}`, ms(silent)]
    }),
  )
  const lines = [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`)
  return lines.join('\n')
}

function keep(table) {
  const file = join(import.meta.dirname, '../README.md')
  const text = readFileSync(file, 'utf8')
  writeFileSync(file, text.replace(/(<!-- table -->\n)[\s\S]*?(\n<!-- end -->)/, `$1\n${table}\n$2`))
}

const redis = await startRedis({ own: true })
const source = await startSource()
const results = []
try {
  for (const [handler, name] of handlers) {
    process.stderr.write(
      `${name}: builds, starts ${SERVERS} servers, and waits for ${ROUNDS} expiries of ${pages.length} pages `,
    )
    results.push([name, await measure(handler, redis, source)])
    process.stderr.write('\n')
  }
} finally {
  await source.stop()
  await redis.stop()
}
const table = tableOf(results)
console.log(table)
if (process.argv.includes('--keep')) keep(table)
