// Compares every options interface with its package's table of bad input; the format is told in house/options.mjs.
import { resolve } from 'node:path'
import { checkOptions } from './house/options.mjs'
import { report } from './house/report.mjs'
import { Tree } from './house/tree.mjs'

report('options', await checkOptions(new Tree(resolve(import.meta.dirname, '..'))))
