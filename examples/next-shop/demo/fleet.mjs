// The processes of the demo: the source, the servers of one build, and a balancer before them.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, request } from 'node:http'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

const app = join(import.meta.dirname, '..')
const next = join(dirname(createRequire(import.meta.url).resolve('next/package.json')), 'dist/bin/next')

/** Runs a program of the app to its end; with `ready`, until its output has that. */
async function run(args, env, ready) {
  const all = { ...process.env, NODE_ENV: 'production', NEXT_TELEMETRY_DISABLED: '1', ...env }
  const child = spawn(process.execPath, args, { cwd: app, env: all, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text))
  const exit = once(child, 'exit')
  const isReady = () => ready !== undefined && output.includes(ready)
  while (!isReady() && child.exitCode === null) await Promise.race([exit, once(child.stdout, 'data')])
  if (child.exitCode !== null && (ready !== undefined || child.exitCode !== 0)) throw new Error(output)
  const stop = async () => {
    child.kill('SIGKILL')
    await exit
  }
  return { stop, output: () => output }
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  await once(server, 'close')
  return port
}

export async function startSource() {
  const port = await freePort()
  const { stop } = await run(['source.mjs', String(port)], {}, 'source http')
  const origin = `http://127.0.0.1:${port}`
  return { origin, stop, counts: async () => await (await fetch(`${origin}/counts`)).json() }
}

export async function build(env) {
  await run([next, 'build'], env)
}

export async function startServer(env) {
  const port = await freePort()
  const args = [next, 'start', '--hostname', '127.0.0.1', '--port', String(port)]
  const { stop } = await run(args, env, 'Ready in')
  return { origin: `http://127.0.0.1:${port}`, stop }
}

/** Sends each request to the next server. */
export async function startBalancer(servers) {
  let turn = 0
  const balancer = createServer((incoming, response) => {
    turn += 1
    const { origin } = servers[turn % servers.length]
    const { method, headers, url } = incoming
    const forwarded = request(origin + url, { method, headers, agent: false }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers)
      answer.pipe(response)
    })
    forwarded.on('error', () => response.destroy())
    incoming.pipe(forwarded)
  }).listen(0, '127.0.0.1')
  await once(balancer, 'listening')
  return { origin: `http://127.0.0.1:${balancer.address().port}`, stop: () => balancer.close() }
}
