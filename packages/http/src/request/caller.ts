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

/** The code that reads or assigns a watched property now; undefined: this package itself. It costs microseconds: not for the path of a hit. */
export function presentCaller(): Caller | undefined {
  const frames = presentFrames()
  const ownFile = frames[0]?.getFileName() ?? ''
  const own = OWN_FILE.test(ownFile) ? ownFile.replace(OWN_FILE, '') : undefined
  const isOwn = (frame: NodeJS.CallSite): boolean => own !== undefined && fileOf(frame).startsWith(own)
  const callers = frames.filter((frame) => !isOwn(frame) || !WATCHING.test(fileOf(frame).slice(own?.length)))
  const [nearest] = callers
  if (nearest !== undefined && isOwn(nearest)) return undefined
  const place = callers.find((frame) => packageOf(frame) === undefined) ?? nearest
  return { package: nearest && packageOf(nearest), place: place === undefined ? 'an unknown place' : placeOf(place) }
}

function placeOf(frame: NodeJS.CallSite): string {
  const place = `${fileOf(frame)}:${frame.getLineNumber()}:${frame.getColumnNumber()}`
  const name = frame.getFunctionName()
  return name === null ? place : `${name} (${place})`
}

function packageOf(frame: NodeJS.CallSite): string | undefined {
  return PACKAGE.exec(fileOf(frame))?.[1]
}

function fileOf(frame: NodeJS.CallSite): string {
  return frame.getFileName() ?? ''
}

/** Without those of Node and of V8. */
function presentFrames(): readonly NodeJS.CallSite[] {
  const before = {
    prepareStackTrace: Reflect.get(Error, 'prepareStackTrace') as unknown,
    stackTraceLimit: Error.stackTraceLimit,
  }
  let frames: readonly NodeJS.CallSite[] = []
  Error.stackTraceLimit = MAX_FRAMES
  Error.prepareStackTrace = (_, sites) => {
    frames = sites
  }
  const trace: { readonly stack?: unknown } = {}
  Error.captureStackTrace(trace)
  // The first read of `stack` formats it.
  void trace.stack
  Object.assign(Error, before)
  return frames.filter((frame) => !/^(?:node:|$)/.test(fileOf(frame)))
}
