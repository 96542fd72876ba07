import { Session } from 'node:inspector/promises'

/** One function, and its share of the time, calls into others left out. */
export interface SelfTime {
  readonly name: string
  /** `package file`, or what the engine calls it. */
  readonly where: string
  /** In parts of 1. */
  readonly share: number
}

const SAMPLE_EVERY_US = 100

/** Runs `work` under V8's sampling profiler, the one behind `node --cpu-prof`: only the work is in the profile, not the start. */
export async function profiled(work: () => Promise<unknown>): Promise<readonly SelfTime[]> {
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.setSamplingInterval', { interval: SAMPLE_EVERY_US })
  await session.post('Profiler.start')
  // Else the work would run inside the call that started the profiler, and that call would be told to take the time.
  await new Promise((resolve) => setImmediate(resolve))
  await work()
  const { profile } = await session.post('Profiler.stop')
  session.disconnect()
  const nodes = new Map(profile.nodes.map((node) => [node.id, node.callFrame]))
  const times = new Map<string, number>()
  let all = 0
  for (const [index, id] of (profile.samples ?? []).entries()) {
    const frame = nodes.get(id)
    if (frame === undefined || frame.functionName === '(idle)') continue
    const took = Math.max(0, profile.timeDeltas?.[index] ?? 0)
    const name = `${frame.functionName || '(anonymous)'}\0${place(frame.url, frame.lineNumber)}`
    times.set(name, (times.get(name) ?? 0) + took)
    all += took
  }
  return [...times]
    .toSorted(([, one], [, other]) => other - one)
    .map(([key, time]) => {
      const [name = '', where = ''] = key.split('\0')
      return { name, where, share: time / all }
    })
}

/** What a reader can find: the package and the file in it, never a path of this machine. */
function place(url: string, line: number): string {
  if (url === '') return 'engine'
  if (url.startsWith('node:')) return url
  const [, ours] = /\/packages\/(\w+\/dist\/esm\/.*)$/.exec(url) ?? []
  const [, library] = /.*\/node_modules\/(.*)$/.exec(url) ?? []
  const [, bench] = /\/bench\/dist\/(.*)$/.exec(url) ?? []
  const file =
    ours?.replace('/dist/esm', '') ??
    library ??
    (bench === undefined ? url.slice(url.lastIndexOf('/') + 1) : `bench/${bench}`)
  return ours === undefined ? file : `${file}:${line + 1}`
}
