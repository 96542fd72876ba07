import type { SideFigures } from './aftermath.ts'

export interface Told {
  /** The loads are further ones: the button stopped a first one. */
  readonly further?: boolean | undefined
  /** Outdated answers are what the button is about, so that none is told, too. */
  readonly outdated?: boolean | undefined
}

/** What a press led to, with the figures of cattlegrid and, for comparison, those of the naive lock. */
export function tell(deed: string, sides: readonly SideFigures[], told: Told = {}): string {
  const ours = sides.find(({ strategy }) => strategy === 'cattlegrid')
  const lock = sides.find(({ strategy }) => strategy === 'token-lock')
  if (ours === undefined || lock === undefined) return `${deed}.`
  const longest = seconds(ours.longestWait)
  return [
    `${deed}: ${loadsOf(ours, told)}, nobody waited longer than ${longest}${restOf(ours, told)}.`,
    `The naive lock: ${loadsOf(lock, told)}, ${seconds(lock.longestWait)}${restOf(lock, told)}.`,
  ].join(' ')
}

function loadsOf({ loads }: SideFigures, { further = false }: Told): string {
  return counted(loads, further ? 'further load' : 'load')
}

function restOf({ errors, outdated }: SideFigures, told: Told): string {
  const failed = errors > 0 ? `, ${counted(errors, 'error')}` : ''
  return outdated > 0 || told.outdated === true ? `${failed}, ${counted(outdated, 'outdated answer')}` : failed
}

function counted(count: number, noun: string): string {
  return `${count === 0 ? 'no' : count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(ms < 1_000 ? 2 : 1)} s`
}
