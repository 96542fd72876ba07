#!/usr/bin/env node
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import type { Driver } from './driver.js'
import { groups, type Result, runChecks } from './run.js'

const USAGE = `Usage: stampede-tests [options] driver.mjs ...

  --json FOLDER   writes what was found to FOLDER/<driver>.json
  --only TEXT     plays the checks whose id contains TEXT
  --list          prints the checks

redis-server must be on the PATH, or REDIS_SERVER must name it.`

const { values: options, positionals: files } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: 'string' },
    only: { type: 'string' },
    list: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

if (options.list) list()
else if (options.help || files.length === 0) console.log(USAGE)
else
  try {
    for (const file of files) await test(resolve(file))
  } catch (error) {
    // Nothing of this is a result: the suite itself could not run.
    console.error(error instanceof Error ? error.message : error)
    process.exit(2)
  }

function list(): void {
  for (const { title, checks } of groups) {
    console.log(`\n${title}`)
    for (const { id, title: sentence, loses } of checks)
      console.log(`  ${id.padEnd(22)}${sentence}\n${' '.repeat(24)}${loses}`)
  }
}

async function test(file: string): Promise<void> {
  const { default: driver } = (await import(pathToFileURL(file).href)) as { default: Driver }
  const versions = versionsOf(file, driver.packages)
  const told = Object.entries(versions).map(([name, version]) => `${name} ${version}`)
  console.log(`\n${driver.name}${told.length > 0 ? ` (${told.join(', ')})` : ''}`)
  const results = await runChecks(
    file,
    driver,
    ({ id }) => id.includes(options.only ?? ''),
    ({ title }, { outcome, faults }) => {
      console.log(`  ${outcome.padEnd(12)} ${title}`)
      for (const fault of faults) console.log(`               ${fault}`)
    },
  )
  console.log(`  ${tally(results)}`)
  if (options.json === undefined) return
  mkdirSync(options.json, { recursive: true })
  const { name, setup } = driver
  const found = { name, versions, setup, node: process.version, results }
  writeFileSync(join(options.json, `${name.replaceAll(/\W+/g, '-')}.json`), `${JSON.stringify(found, undefined, 2)}\n`)
}

function tally(results: readonly Result[]): string {
  const count = (outcome: string): number => results.filter((result) => result.outcome === outcome).length
  return `${count('passed')} passed, ${count('failed')} failed, ${count('not offered')} not offered`
}

function versionsOf(file: string, packages: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    packages.map((name) => [name, versionOf(createRequire(file).resolve.paths(name) ?? [], name)]),
  )
}

function versionOf(folders: readonly string[], name: string): string {
  for (const folder of folders) {
    const found = read(join(folder, name, 'package.json'))
    if (found !== undefined) return found
  }
  throw new Error(`${name} is not installed for ${dirname(name)}`)
}

function read(manifest: string): string | undefined {
  try {
    return (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version
  } catch {
    return undefined
  }
}
