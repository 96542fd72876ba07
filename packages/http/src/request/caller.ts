const PACKAGE = /.*[\\/]node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+)[\\/]/
/** The place of this file in its package, which a bundler does not keep. */
const OWN_FILE = /request[\\/]caller\.[cm]?[jt]s$/
/** The files that stand between a watched property and its reader. */
const WATCHING = /^request[\\/](?:caller|watched-property|personal-reads)\./
const MAX_FRAMES = 30

/** Code that reads or assigns a watched property. */
export interface Caller {
  /** The package that its file belongs to, by its folder in `node_modules`; undefined: the application's own code. */
  readonly package: string | undefined
  /** The nearest place in the application's own code, such as `page (/app/routes.js:12:5)`; without one, the place of the call. */
  readonly place: string
}

/** The stack of a moment, which costs little as long as nobody asks for its caller. */
export class Trace {
  readonly #holder: { readonly stack?: unknown } = {}
  #caller: Caller | undefined | null = null

  constructor() {
    const { stackTraceLimit } = Error
    // No assignments: `Error` may be frozen.
    Reflect.set(Error, 'stackTraceLimit', MAX_FRAMES)
    Error.captureStackTrace(this.#holder)
    Reflect.set(Error, 'stackTraceLimit', stackTraceLimit)
  }

  /** The code that read or assigned a watched property; undefined: this package itself. */
  get caller(): Caller | undefined {
    if (this.#caller === null) this.#caller = callerIn(framesOf(this.#holder))
    return this.#caller
  }
}

function callerIn(frames: readonly NodeJS.CallSite[]): Caller | undefined {
  const ownFile = fileOf(frames[0])
  const own = OWN_FILE.test(ownFile) ? ownFile.replace(OWN_FILE, '') : undefined
  const isOwn = (frame: NodeJS.CallSite): boolean => own !== undefined && fileOf(frame).startsWith(own)
  const callers = frames.filter((frame) => !isOwn(frame) || !WATCHING.test(fileOf(frame).slice(own?.length)))
  const [nearest] = callers
  if (nearest !== undefined && isOwn(nearest)) return undefined
  const place = callers.find((frame) => packageOf(frame) === undefined) ?? nearest
  return {
    package: nearest && packageOf(nearest),
    place: place === undefined ? 'an unknown place' : placeOf(place),
  }
}

function placeOf(frame: NodeJS.CallSite): string {
  const place = `${fileOf(frame)}:${frame.getLineNumber()}:${frame.getColumnNumber()}`
  const name = frame.getFunctionName()
  return name === null ? place : `${name} (${place})`
}

function packageOf(frame: NodeJS.CallSite): string | undefined {
  return PACKAGE.exec(fileOf(frame))?.[1]
}

function fileOf(frame: NodeJS.CallSite | undefined): string {
  return frame?.getFileName() ?? ''
}

/** Returns the frames without those of Node and V8. V8 formats the stack at the first read of `stack`. */
function framesOf(holder: { readonly stack?: unknown }): readonly NodeJS.CallSite[] {
  const prepareStackTrace: unknown = Reflect.get(Error, 'prepareStackTrace')
  let frames: readonly NodeJS.CallSite[] = []
  const note = (_: Error, sites: readonly NodeJS.CallSite[]): void => {
    frames = sites
  }
  Reflect.set(Error, 'prepareStackTrace', note)
  void holder.stack
  Reflect.set(Error, 'prepareStackTrace', prepareStackTrace)
  return frames.filter((frame) => !/^(?:node:|$)/.test(fileOf(frame)))
}
