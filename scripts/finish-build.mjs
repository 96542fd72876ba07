// Marks each CommonJS half of the build as such (the packages themselves say "type": "module"), lets commands be run, and gives each package the licence,
// which npm packs only from the package's own folder.
import { chmodSync, copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'

for (const name of readdirSync('packages')) {
  writeFileSync(`packages/${name}/dist/cjs/package.json`, '{"type":"commonjs"}\n')
  copyFileSync('LICENSE', `packages/${name}/LICENSE`)
  const { bin = {} } = JSON.parse(readFileSync(`packages/${name}/package.json`, 'utf8'))
  for (const file of Object.values(bin)) chmodSync(`packages/${name}/${file}`, 0o755)
}
