import { readFileSync } from 'node:fs'
import { cpus, loadavg, release, totalmem } from 'node:os'

export interface Machine {
  readonly cpu: string
  readonly cores: number
  readonly memory: string
  readonly os: string
  readonly node: string
  /** How busy all its cores were during the run, in parts of 1: our own work and everybody else's. */
  readonly busy: number
  /** Processes that wanted a core over the minute before the run: everybody else's work. */
  readonly loadBefore: number
}

interface Ticks {
  readonly idle: number
  readonly all: number
}

/** Looks at the machine now; the function that it returns tells what the time between the two was like. */
export function watchMachine(): () => Machine {
  const began = ticks()
  const [loadBefore = 0] = loadavg()
  return () => {
    const ended = ticks()
    const [first] = cpus()
    return {
      cpu: first?.model.trim() ?? 'unknown',
      cores: cpus().length,
      memory: `${Math.round(totalmem() / 2 ** 30)} GB`,
      os: `${process.platform} ${release().split('-')[0] ?? ''}`,
      node: process.versions.node,
      busy: 1 - (ended.idle - began.idle) / Math.max(1, ended.all - began.all),
      loadBefore,
    }
  }
}

function ticks(): Ticks {
  const times = cpus().map((cpu) => cpu.times)
  const idle = times.reduce((sum, time) => sum + time.idle, 0)
  return { idle, all: times.reduce((sum, time) => sum + time.idle + time.user + time.sys + time.nice + time.irq, 0) }
}

/** User and system time of another process, ms; undefined where the system does not tell (no Linux). */
export function cpuOf(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name, in parentheses, may hold anything; utime and stime are fields 14 and 15, in hundredths of a second.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return (Number(fields[11]) + Number(fields[12])) * 10
  } catch {
    return undefined
  }
}
