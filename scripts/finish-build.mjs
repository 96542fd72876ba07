// Marks each CommonJS half of the build as such (the packages themselves say "type": "module"), and lets commands be run.
import { chmodSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'

for (const name of readdirSync('packages')) {
  writeFileSync(`packages/${name}/dist/cjs/package.json`, '{"type":"commonjs"}\n')
  const { bin = {} } = JSON.parse(readFileSync(`packages/${name}/package.json`, 'utf8'))
  for (const file of Object.values(bin)) chmodSync(`packages/${name}/${file}`, 0o755)
}
