import { type Figure, figure } from './figure.ts'

/** One of those that are compared; `measure` is called once a round and tells what it saw, by name. */
export interface Contender {
  readonly name: string
  readonly measure: () => Promise<Readonly<Record<string, number>>>
}

/** What each round saw, in the order of the rounds. */
export type Seen = ReadonlyMap<string, readonly Readonly<Record<string, number>>[]>

/**
 * Measures all contenders in turn, again and again: whatever slows the machine down for a while meets all of them. Who is first changes from
 * round to round, so that nobody always runs after the same neighbour.
 */
export async function interleave(contenders: readonly Contender[], rounds: number): Promise<Seen> {
  const seen = new Map(contenders.map(({ name }) => [name, [] as Readonly<Record<string, number>>[]]))
  for (let round = 0; round < rounds; round += 1) {
    for (let turn = 0; turn < contenders.length; turn += 1) {
      const contender = contenders[(turn + round) % contenders.length]
      if (contender === undefined) continue
      tellProgress(`round ${round + 1} of ${rounds}: ${contender.name}`)
      seen.get(contender.name)?.push(await contender.measure())
    }
  }
  tellProgress('')
  return seen
}

/** What two series of rounds saw of the same contenders. */
export function allRounds(first: Seen, second: Seen): Seen {
  return new Map([...second].map(([name, rounds]) => [name, [...(first.get(name) ?? []), ...rounds]]))
}

/** For who watches a terminal: nothing stays of it. */
function tellProgress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`)
}

/** One figure of one contender. */
export function figureOf(seen: Seen, name: string, what: string): Figure {
  return figure(valuesOf(seen, name, what))
}

/** Several figures of one contender, by their names. */
export function figuresOf(seen: Seen, name: string, what: readonly string[]): Readonly<Record<string, Figure>> {
  return Object.fromEntries(what.map((one) => [one, figureOf(seen, name, one)]))
}

/** How the contender stands to another: the ratio inside each round, so that a slow round slows both of them. */
export function ratio(seen: Seen, name: string, other: string, what: string): Figure {
  const ours = valuesOf(seen, name, what)
  const theirs = valuesOf(seen, other, what)
  return figure(ours.map((value, round) => value / (theirs[round] ?? Number.NaN)))
}

/** What the contender has more than another, inside each round. */
export function difference(seen: Seen, name: string, other: string, what: string): Figure {
  const theirs = valuesOf(seen, other, what)
  return figure(valuesOf(seen, name, what).map((value, round) => value - (theirs[round] ?? Number.NaN)))
}

export function inverse(value: Figure): Figure {
  return { median: 1 / value.median, low: 1 / value.high, high: 1 / value.low, rounds: value.rounds }
}

function valuesOf(seen: Seen, name: string, what: string): readonly number[] {
  return (seen.get(name) ?? []).flatMap((round) => round[what] ?? [])
}
