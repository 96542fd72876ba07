// Gives the packages the version that their changesets ask for, and CHANGELOG.md a section of it: what is unreleased there, and the text of each changeset
// under its kind. Without a changeset, before the first release, the version stays.
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import releasePlan from '@changesets/get-release-plan'
import { publicPackages } from './packages/pack.mjs'

const { values } = parseArgs({ options: { root: { type: 'string', default: resolve(import.meta.dirname, '..') } } })
const { root } = values

/** The headings of a section. While the first number is 0, a minor version may break. */
const KINDS = { major: 'Breaking', minor: 'Added or changed', patch: 'Fixed' }

/** The strongest kind that a changeset asks for. */
const kindOf = ({ releases }) => Object.keys(KINDS).find((kind) => releases.some(({ type }) => type === kind))

function sectionOf(changesets) {
  return Object.entries(KINDS)
    .map(([kind, heading]) => [heading, changesets.filter((one) => kindOf(one) === kind)])
    .filter(([, ofKind]) => ofKind.length > 0)
    .map(
      ([heading, ofKind]) =>
        `### ${heading}\n\n${ofKind.map(({ summary }) => `- ${summary.replaceAll('\n', '\n  ')}\n`).join('')}\n`,
    )
    .join('')
}

const { changesets, releases } = await releasePlan(root)
const current = publicPackages(root)[0].manifest.version
const version = releases.find(({ type }) => type !== 'none')?.newVersion ?? current
const file = join(root, 'CHANGELOG.md')
const changelog = readFileSync(file, 'utf8')
if (changelog.includes(`\n## [${version}]`))
  throw new Error(`CHANGELOG.md has a section [${version}], and no changeset asks for another version`)
const [head, unreleased, ...earlier] = changelog.split(/^(?=## \[)/m)
const day = new Date().toISOString().slice(0, 10)
const body = unreleased.replace(/^## \[Unreleased\]\n+/, '').trimEnd()
const section = `## [${version}] - ${day}\n\n${body === '' ? '' : `${body}\n\n`}${sectionOf(changesets)}`
writeFileSync(file, [`${head}## [Unreleased]\n\n`, section, ...earlier].join(''))
if (version !== current) {
  const run = (command, ...parameters) => execFileSync(command, parameters, { cwd: root, stdio: 'inherit' })
  run(join(import.meta.dirname, '../node_modules/.bin/changeset'), 'version')
  run('npm', 'install', '--package-lock-only', '--ignore-scripts')
}
console.log(`CHANGELOG.md has the section [${version}]; commit it, and tag the commit v${version}`)
