// Marks each CommonJS half of the build as such: the packages themselves say "type": "module".
import { readdirSync, writeFileSync } from 'node:fs'

for (const name of readdirSync('packages')) {
  writeFileSync(`packages/${name}/dist/cjs/package.json`, '{"type":"commonjs"}\n')
}
