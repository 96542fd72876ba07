// A registry on loopback that has the packed packages and nothing else, so that a project installs them by name, as it will from npm.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { basename } from 'node:path'

/** Starts it: `{ url, asked, close }`. `asked` grows by the path of each request. */
export async function startRegistry(packages) {
  const asked = []
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url, 'http://registry').pathname).slice(1)
    asked.push(path)
    const found = packages.find(({ manifest, tarball }) => [manifest.name, basename(tarball)].includes(path))
    if (found === undefined) response.writeHead(404).end('{"error":"not found"}')
    else if (path === found.manifest.name) response.end(JSON.stringify(packument(found, request.headers.host)))
    else response.end(readFileSync(found.tarball))
  })
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening))
  return {
    url: `http://127.0.0.1:${server.address().port}/`,
    asked,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

function packument({ manifest, tarball }, host) {
  const bytes = readFileSync(tarball)
  const hash = (algorithm, encoding) => createHash(algorithm).update(bytes).digest(encoding)
  const dist = {
    tarball: `http://${host}/${basename(tarball)}`,
    shasum: hash('sha1', 'hex'),
    integrity: `sha512-${hash('sha512', 'base64')}`,
  }
  const { name, version } = manifest
  return { name, 'dist-tags': { latest: version }, versions: { [version]: { ...manifest, dist } } }
}
