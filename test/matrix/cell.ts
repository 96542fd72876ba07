import { TestProcess } from '../fleet/process.ts'
import type { Command } from './command.ts'
import type { MatrixFault, Via } from './faults.ts'
import type { MemberReport } from './report.ts'

/** How much is asked, and for how long the fault lasts. Times in ms. */
export interface Scale {
  readonly processes: number
  /** Callers of each key in each process and wave. */
  readonly callers: number
  readonly waves: number
  /** Over how much time the callers of a wave come. */
  readonly spread: number
  /** From the break to the healing, or a little longer. */
  readonly down: number
  /** How long the recovery is waited for. */
  readonly patience: number
}

export interface ProcessReport extends Partial<MemberReport> {
  readonly alive: boolean
}

/** One fault, met over one kind of client. */
export interface Cell {
  readonly fault: string
  readonly via: Via
  readonly processes: readonly ProcessReport[]
}

/** The issue's own figures, and what a continuous run can afford. */
export const FULL: Scale = { processes: 8, callers: 200, waves: 3, spread: 500, down: 13_000, patience: 30_000 }
export const SMALL: Scale = { processes: 2, callers: 20, waves: 2, spread: 300, down: 1500, patience: 20_000 }

type Member = TestProcess<Command>

/** Breaks Redis under processes that are at work, lets callers come, heals it, and asks the processes how it was. */
export async function playCell(fault: MatrixFault, via: Via, scale: Scale, memberFile: string): Promise<Cell> {
  const scene = await fault.start()
  const members: Member[] = []
  const everybody = (command: Command): Promise<unknown> =>
    Promise.allSettled(members.map((member) => member.tell(command)))
  try {
    const env = { MATRIX_URL: scene.url, MATRIX_VIA: via }
    const starting = Array.from({ length: scale.processes }, () => TestProcess.start<Command>(memberFile, env))
    for (const started of await Promise.allSettled(starting))
      if (started.status === 'fulfilled') members.push(started.value)
    await Promise.all(starting)
    await warmUp(members)
    await scene.break(everybody)
    await meet(everybody, scale)
    await scene.heal(everybody)
    await everybody({ do: 'recover', patience: scale.patience, callers: Math.ceil(scale.callers / 10) })
    return { fault: fault.name, via, processes: await Promise.all(members.map((member) => reportOf(member))) }
  } finally {
    await Promise.all(members.map((member) => member.kill()))
    await scene.stop()
  }
}

/** Everybody knows the hot key and the stale one, which then expires. Fails where the healthy store does not answer. */
async function warmUp(members: readonly Member[]): Promise<void> {
  await members[0]?.tell({ do: 'fill' })
  await Promise.all(members.map((member) => member.tell({ do: 'know' })))
  await members[0]?.tell({ do: 'age' })
}

/** The first wave meets the fault with every guard unprepared, the last one just before it ends. */
async function meet(everybody: (command: Command) => Promise<unknown>, scale: Scale): Promise<void> {
  const { waves, spread, down, callers } = scale
  const begun = performance.now()
  for (let wave = 0; wave < waves; wave += 1) {
    const due = begun + (wave * (down - spread)) / Math.max(1, waves - 1)
    await new Promise((resolve) => setTimeout(resolve, due - performance.now()))
    await everybody({ do: 'wave', wave, callers, spread })
    await everybody({ do: 'write' })
  }
}

async function reportOf(member: Member): Promise<ProcessReport> {
  try {
    return { ...(await member.tell<MemberReport>({ do: 'report' })), alive: true }
  } catch {
    return { alive: false }
  }
}
