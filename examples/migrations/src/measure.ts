// `npm run bench -- migrations`: what each example does for a herd before and after its migration. With `--keep` the page shows it.
import { writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { peers, play } from './play/play.ts'

const { values } = parseArgs({ options: { keep: { type: 'boolean', default: false } } })
const played = await play(peers.flatMap((peer) => [`${peer}-before`, `${peer}-after`]))
const rows = [...played].map(([example, { cold, failing }]) => ({ example, cold, failing }))
console.table(
  rows.map(({ example, cold, failing }) => ({
    example,
    [`queries for ${cold.callers} callers`]: cold.queries,
    [`failing queries for ${failing.callers}`]: failing.queries,
    'callers then get': failing.answers.join(' or '),
  })),
)
if (values.keep) {
  const text = rows.map((row) => `  ${JSON.stringify(row)}`).join(',\n')
  await writeFile(new URL('../results.json', import.meta.url), `[\n${text}\n]\n`)
}
