// Marks each CommonJS half of the build as such (the packages themselves say "type": "module"), lets commands be run, and gives each package the licence,
// which npm packs only from the package's own folder.
import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'

const licence = readFileSync('LICENSE', 'utf8')

for (const name of readdirSync('packages')) {
  if (existsSync(`packages/${name}/dist/cjs`)) write(`packages/${name}/dist/cjs/package.json`, '{"type":"commonjs"}\n')
  write(`packages/${name}/LICENSE`, licence)
  const { bin = {} } = JSON.parse(readFileSync(`packages/${name}/package.json`, 'utf8'))
  for (const file of Object.values(bin)) chmodSync(`packages/${name}/${file}`, 0o755)
}

// The compiler puts the `require` of a dynamic import into a function of its own, and so out of its `try`: a bundler would refuse a client that is not installed.
const importing = 'packages/redis/dist/cjs/link/own-url-client.js'
const compiled = readFileSync(importing, 'utf8')
write(
  importing,
  compiled.replaceAll(/Promise\.resolve\(\)\.then\(\(\) => (__importStar\(require\('[^']+'\)\))\)/g, '$1'),
)

/** Only what is new: the compiler builds a package again whose package.json was written after its last build. */
function write(path, text) {
  if (!existsSync(path) || readFileSync(path, 'utf8') !== text) writeFileSync(path, text)
}
