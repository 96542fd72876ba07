// Copied into the application and run there: says, as JSON, what each entry exports as an ES module and as CommonJS.
import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)
const names = (module) =>
  Object.keys(module)
    .filter((name) => name !== '__esModule')
    .toSorted()

const entries = {}
for (const entry of process.argv.slice(2))
  entries[entry] = { esm: names(await import(entry)), cjs: names(require(entry)) }
console.log(JSON.stringify(entries))
