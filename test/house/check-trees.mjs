// Runs one check on each of these trees, in one process: node check-trees.mjs NAME FOLDER … prints a report a line, as JSON.
import { checks } from '../../scripts/house/checks.mjs'
import { report } from '../../scripts/house/report.mjs'
import { Tree } from '../../scripts/house/tree.mjs'

const [name, ...folders] = process.argv.slice(2)
for (const folder of folders) console.log(JSON.stringify(report(name, await checks[name](new Tree(folder)))))
