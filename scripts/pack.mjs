// Packs the public packages into `packed/`, and prints the command that installs them for each framework: npm run pack
import { mkdirSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { closure, packAll } from './packages/pack.mjs'

const root = resolve(import.meta.dirname, '..')
const folder = join(root, 'packed')
rmSync(folder, { recursive: true, force: true })
mkdirSync(folder)
const packages = await packAll(root, folder)

for (const [title, names, beside = []] of [
  ['Express', ['express'], ['express']],
  ['Fastify', ['fastify'], ['fastify']],
  ['NestJS', ['nestjs']],
  ['Bun, Deno, Hono', ['web'], ['hono']],
  ['h3', ['web'], ['h3']],
  ['SvelteKit, Astro', ['web']],
  ['Next', ['next'], ['next', 'react', 'react-dom']],
  ['functions', ['core']],
  ['Redis, beside these', ['redis'], ['redis']],
  ['the story of a key', ['explain']],
  ['the command line', ['cli']],
  ['metrics, beside these', ['metrics'], ['prom-client']],
  ['tests, beside these', ['testkit']],
]) {
  const tarballs = closure(
    packages,
    names.map((name) => `@cattlegrid/${name}`),
  ).map(({ tarball }) => tarball)
  console.log(`${title}\n  npm install ${tarballs.concat(beside).join(' ')}\n`)
}
