import { realpathSync } from 'node:fs'

const PACKAGE = /.*[\\/]node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+)[\\/]/
const MAX_FRAMES = 30

/** Code that reads or assigns a watched property. */
export interface Caller {
  /**
   * The package that its file belongs to, by its folder in `node_modules`; undefined: the application's
   * own code.
   */
  readonly package: string | undefined
  /**
   * The nearest position in the application's own code, such as `page (/app/routes.js:12:5)`; without one,
   * that of the call.
   */
  readonly position: string
  /**
   * Where a package is the caller: it has run for the framework, or at an event, and not because the
   * application has called it.
   */
  readonly isCalledByFramework: boolean
  /** The packages of all callers, direct and indirect. */
  readonly packages: readonly string[]
}

/** The code that has called, with what it called Node for. */
interface Reader {
  /** Node's files between the caller and the function that was called, the innermost first. */
  readonly through: readonly string[]
  readonly file: string
}

/**
 * A captured stack. Its caller is computed on the first access, which costs more than the capture.
 *
 * @example
 * import { CapturedStack } from '@cattlegrid/http/binding'
 *
 * const read = (): string => new CapturedStack(read).caller.position
 */
export class CapturedStack {
  readonly #holder: { readonly stack?: unknown } = {}
  #frames: readonly NodeJS.CallSite[] | undefined
  #caller: Caller | undefined

  /** `callee`: the function that the caller called, below which the stack begins. */
  constructor(callee: Function) {
    const { stackTraceLimit } = Error
    // No assignments: `Error` may be frozen.
    Reflect.set(Error, 'stackTraceLimit', MAX_FRAMES)
    Error.captureStackTrace(this.#holder, callee)
    Reflect.set(Error, 'stackTraceLimit', stackTraceLimit)
  }

  get caller(): Caller {
    this.#caller ??= callerIn(this.#all.filter((frame) => !isNodes(fileOf(frame))))
    return this.#caller
  }

  /** undefined: Node itself has called. */
  get reader(): Reader | undefined {
    // V8's own functions, such as `Reflect.get`, have no file.
    const files = this.#all.map(fileOf).filter((file) => file !== '')
    const first = files.findIndex((file) => !isNodes(file))
    const file = files[first]
    return file === undefined ? undefined : { through: files.slice(0, first), file }
  }

  get #all(): readonly NodeJS.CallSite[] {
    return (this.#frames ??= framesOf(this.#holder))
  }
}

/** The packages that call handlers, hooks and middleware. */
const FRAMEWORK =
  /^(?:express[45]?|router|connect|fastify|@fastify\/(?:middie|express)|avvio|koa|koa-compose|@koa\/router|@nestjs\/.*)$/

/**
 * `packages`: of all frames above the package's own, the nearest first; undefined: the application. Above a
 * framework, others have called that.
 */
function isCalledByFramework(packages: readonly (string | undefined)[]): boolean {
  const above = packages.find((name) => name === undefined || FRAMEWORK.test(name))
  return above !== undefined || !packages.includes(undefined)
}

function callerIn(frames: readonly NodeJS.CallSite[]): Caller {
  const [nearest] = frames
  const place = frames.find((frame) => packageOf(frame) === undefined) ?? nearest
  return {
    package: nearest && packageOf(nearest),
    isCalledByFramework: isCalledByFramework(frames.slice(1).map(packageOf)),
    position: place === undefined ? 'an unknown place' : positionOf(place),
    packages: frames.flatMap((frame) => packageOf(frame) ?? []),
  }
}

/**
 * The packages that are the application itself: that of the main module, and those that declare the route.
 */
export class ApplicationPackages {
  readonly #declared: CapturedStack
  #names: ReadonlySet<string | undefined> | undefined

  /** `declare`: the function that the application called to declare the route. */
  constructor(declare: Function) {
    this.#declared = new CapturedStack(declare)
  }

  includes(name: string): boolean {
    this.#names ??= new Set([mainPackage(), ...this.#declared.caller.packages])
    return this.#names.has(name)
  }
}

/** The package of the file with which the process was started; undefined: it belongs to none. */
function mainPackage(): string | undefined {
  const [, main = ''] = process.argv
  try {
    // A command of a package is a link to it.
    return packageOfFile(realpathSync(main))
  } catch {
    return packageOfFile(main)
  }
}

function positionOf(frame: NodeJS.CallSite): string {
  const position = `${fileOf(frame)}:${frame.getLineNumber()}:${frame.getColumnNumber()}`
  const name = frame.getFunctionName()
  return name === null ? position : `${name} (${position})`
}

/**
 * The folder of this package's files, which may stand in no `node_modules`; undefined in a bundle, where its
 * files are the application's.
 */
const OWN_FOLDER = ownFolder()

function ownFolder(): string | undefined {
  return /^(.*[\\/])request[\\/]caller\.[jt]s$/.exec(new CapturedStack(ownFolder).reader?.file ?? '')?.[1]
}

function packageOf(frame: NodeJS.CallSite): string | undefined {
  const file = fileOf(frame)
  return OWN_FOLDER !== undefined && file.startsWith(OWN_FOLDER) ? '@cattlegrid/http' : packageOfFile(file)
}

function packageOfFile(file: string): string | undefined {
  return PACKAGE.exec(file)?.[1]
}

function fileOf(frame: NodeJS.CallSite | undefined): string {
  return frame?.getFileName() ?? ''
}

/** True for Node and for V8, whose code has no file. */
function isNodes(file: string): boolean {
  return file === '' || file.startsWith('node:')
}

/** V8 formats the stack at the first read of `stack`. */
function framesOf(holder: { readonly stack?: unknown }): readonly NodeJS.CallSite[] {
  const before = Object.getOwnPropertyDescriptor(Error, 'prepareStackTrace')
  let frames: readonly NodeJS.CallSite[] = []
  const note = (_: Error, sites: readonly NodeJS.CallSite[]): void => {
    frames = sites
  }
  Reflect.set(Error, 'prepareStackTrace', note)
  void holder.stack
  if (before === undefined) Reflect.deleteProperty(Error, 'prepareStackTrace')
  else Reflect.defineProperty(Error, 'prepareStackTrace', before)
  return frames
}
