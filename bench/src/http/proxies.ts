import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { installed, type Program, startProgram } from './program.ts'

export type StartProxy = (originPort: number) => Promise<Program>

/** Caches in front of an origin, by the name of their program. */
export const proxies: Readonly<Record<string, { readonly program: string; readonly start: StartProxy }>> = {
  'nginx proxy_cache': { program: 'nginx', start: startNginx },
  Varnish: { program: 'varnishd', start: startVarnish },
}

/** Whether a contender can take part: all but the proxies can everywhere. */
export function isInstalled(name: string): boolean {
  const proxy = proxies[name]
  return proxy === undefined || installed(proxy.program) !== undefined
}

/** With its lock on, stale answers allowed while one request updates, and that request behind its client's back. */
async function startNginx(originPort: number): Promise<Program> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-nginx-'))
  const port = await freePort()
  // Started by root it would work as a user who may not enter the folder.
  const user = process.getuid?.() === 0 ? 'user root;' : ''
  const config = `
daemon off; ${user} pid ${folder}/nginx.pid; error_log ${folder}/error.log crit; worker_processes 1;
events { worker_connections 4096; }
http {
  access_log off; keepalive_requests 10000000;
  client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy; fastcgi_temp_path ${folder}/f; uwsgi_temp_path ${folder}/u; scgi_temp_path ${folder}/s;
  proxy_cache_path ${folder}/cache keys_zone=bench:10m;
  upstream origin { server 127.0.0.1:${originPort}; keepalive 512; }
  server {
    listen 127.0.0.1:${port} backlog=4096;
    location / {
      proxy_pass http://origin; proxy_http_version 1.1; proxy_set_header Connection "";
      proxy_cache bench; proxy_cache_lock on; proxy_cache_use_stale updating error timeout; proxy_cache_background_update on;
    }
  }
}
`
  writeFileSync(join(folder, 'nginx.conf'), config)
  const args = ['-p', folder, '-c', join(folder, 'nginx.conf'), '-e', join(folder, 'error.log')]
  const path = installed('nginx') ?? ''
  return cleaned(await startProgram(path, args, port), folder)
}

async function startVarnish(originPort: number): Promise<Program> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-varnish-'))
  const port = await freePort()
  const args = ['-F', '-j', 'none', '-n', folder, '-a', `127.0.0.1:${port}`, '-b', `127.0.0.1:${originPort}`]
  return cleaned(await startProgram(installed('varnishd') ?? '', [...args, '-s', 'malloc,64m'], port), folder)
}

function cleaned(program: Program, folder: string): Program {
  const stop = async (): Promise<void> => {
    await program.stop()
    rmSync(folder, { recursive: true, force: true })
  }
  return { port: program.port, cpu: () => program.cpu(), stop }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
