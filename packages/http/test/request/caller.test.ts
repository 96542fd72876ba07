import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { runInThisContext } from 'node:vm'
import { afterEach, describe, expect, test } from '@jest/globals'
import { ApplicationPackages, CapturedStack } from '../../src/request/caller.ts'

type Call = (callee: () => void) => void

/** A function of a file, that calls what it is given. */
const callIn = (filename: string, name = 'page'): Call =>
  runInThisContext(`(function ${name}(callee) { callee() })`, { filename }) as Call
const inPackage = (name: string): Call => callIn(`/srv/node_modules/${name}/index.js`)
const application = callIn('/srv/routes.js')

/** The stack below a function that the last of the calls calls; the first one is called by Node. */
function stackOf(...calls: readonly Call[]): Promise<CapturedStack> {
  return new Promise((resolve) => {
    const read = (): void => resolve(new CapturedStack(read))
    // A bound function has no frame of its own.
    setImmediate(calls.reduceRight<() => void>((callee, call) => call.bind(undefined, callee), read))
  })
}

const ends: (() => void)[] = []
afterEach(() => {
  for (const end of ends.splice(0)) end()
})

describe('the caller of a function', () => {
  test('is the application where its file belongs to no package', async () => {
    const { caller } = await stackOf(application)
    expect(caller).toMatchObject({ package: undefined, packages: [], position: 'page (/srv/routes.js:1:26)' })
  })

  test('is a package, at the position at which the application has called that', async () => {
    const { caller } = await stackOf(application, inPackage('@acme/cookies'), inPackage('reader'))
    expect(caller).toMatchObject({ package: 'reader', packages: ['reader', '@acme/cookies'] })
    expect(caller.position).toBe('page (/srv/routes.js:1:26)')
  })

  test('is this package for its files, wherever they are', async () => {
    const { caller } = await stackOf(callIn(join(__dirname, '../../src/serve.ts')))
    expect(caller.package).toBe('@cattlegrid/http')
  })

  test('is a package at its own position where the application has not called it', async () => {
    const { caller } = await stackOf(inPackage('reader'))
    expect(caller.position).toBe('page (/srv/node_modules/reader/index.js:1:26)')
  })

  test('has a position without a name where the function has none', async () => {
    expect((await stackOf(callIn('/srv/routes.js', ''))).caller.position).toBe('/srv/routes.js:1:22')
  })

  test('has an unknown position where Node itself has called', async () => {
    const stack = await stackOf()
    expect(stack.caller).toMatchObject({ package: undefined, position: 'an unknown place' })
    expect(stack.reader).toBeUndefined()
  })

  test('is behind functions of V8, which have no file', async () => {
    const iterating: Call = (callee) => [0].forEach(callee)
    const { reader } = await stackOf(application, iterating)
    expect(reader).toEqual({ through: [], file: __filename })
  })

  test('is the package whose code is behind a function of V8', async () => {
    const source = '(function page(callee) { [0].forEach(callee) })'
    const filename = '/srv/node_modules/reader/index.js'
    const iterating = runInThisContext(source, { filename }) as Call
    expect((await stackOf(application, iterating)).caller.package).toBe('reader')
  })

  test.each([
    ['Node, at an event', [], true],
    ['a framework that the application has called', ['express', application], true],
    ['another package that the application has called', ['@acme/cookies', application], false],
    ['the application', [application], false],
  ] as const)('runs for the framework, or not, below %s', async (_what, outer, expected) => {
    const calls = outer.map((call) => (typeof call === 'string' ? inPackage(call) : call)).toReversed()
    expect((await stackOf(...calls, inPackage('reader'))).caller.isCalledByFramework).toBe(expected)
  })
})

describe('a captured stack', () => {
  test('leaves stackTraceLimit as it was', async () => {
    const { stackTraceLimit } = Error
    ends.push(() => void Reflect.set(Error, 'stackTraceLimit', stackTraceLimit))
    Error.stackTraceLimit = 7
    await stackOf(application)
    expect(Error.stackTraceLimit).toBe(7)
  })

  test('tells its reader after its caller, although V8 formats a stack once', async () => {
    const stack = await stackOf(application)
    expect(stack.caller.position).toContain('/srv/routes.js')
    expect(stack.reader).toEqual({ through: [], file: '/srv/routes.js' })
  })

  test.each([
    ['none', undefined],
    ['the application’s own', (error: Error) => String(error)],
  ])('leaves prepareStackTrace as it was: %s', async (_what, prepare) => {
    const before = Object.getOwnPropertyDescriptor(Error, 'prepareStackTrace')
    ends.push(() => {
      if (before === undefined) Reflect.deleteProperty(Error, 'prepareStackTrace')
      else Object.defineProperty(Error, 'prepareStackTrace', before)
    })
    Reflect.deleteProperty(Error, 'prepareStackTrace')
    if (prepare !== undefined) Reflect.set(Error, 'prepareStackTrace', prepare)
    expect((await stackOf(application)).caller.position).toContain('/srv/routes.js')
    expect(Object.hasOwn(Error, 'prepareStackTrace')).toBe(prepare !== undefined)
    expect(Reflect.get(Error, 'prepareStackTrace')).toBe(prepare)
  })
})

describe('the packages that are the application', () => {
  const { argv } = process
  const withMain = (...args: readonly string[]): ApplicationPackages => {
    process.argv = ['node', ...args]
    ends.push(() => void (process.argv = argv))
    return new ApplicationPackages(withMain)
  }

  test('include that of a command, which is a link to its file', () => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'cattlegrid-caller-')))
    ends.push(() => rmSync(folder, { recursive: true }))
    const [main, command] = ['@acme/site/main.js', '.bin/site'].map((name) => join(folder, 'node_modules', name)) as [
      string,
      string,
    ]
    for (const file of [main, command]) mkdirSync(dirname(file), { recursive: true })
    writeFileSync(main, '')
    symlinkSync(main, command)
    const packages = withMain(command)
    expect(['@acme/site', 'express'].filter((name) => packages.includes(name))).toEqual(['@acme/site'])
  })

  // Node leaves the name in argv as it was typed.
  test('include that of a main module that was named without its extension', () => {
    expect(withMain('/srv/node_modules/@acme/site/main').includes('@acme/site')).toBe(true)
  })

  test('include those that declare the route', () => {
    let packages: ApplicationPackages | undefined
    const declare = (): void => void (packages = new ApplicationPackages(declare))
    inPackage('@acme/site')(declare)
    expect(['@acme/site', 'express'].filter((name) => packages?.includes(name))).toEqual(['@acme/site'])
  })

  test('are none where the process has no main module', () => {
    expect(withMain().includes('express')).toBe(false)
  })
})
