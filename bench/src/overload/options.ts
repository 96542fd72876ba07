import type { BenchOptions } from '../run/bench.ts'
import { FULL, type Length, SHORT, SMOKE } from './scenes.ts'

/** The options that this bench alone has. */
export const OWN_OPTIONS = {
  /** The seed of the first round; the next round has the next seed. */
  seed: { type: 'string' },
  /** A ttl of 15 s and a run of 45 s, once. */
  short: { type: 'boolean' },
  /** The sizes of the source, such as `3,30,300`. */
  'at-once': { type: 'string' },
  /** For a slow or busy machine: a share of the calls, keys and loads; 10: a tenth. */
  scale: { type: 'string' },
  /** Some of the parts: `flush;changed;healthy;lone`. */
  parts: { type: 'string' },
} as const

export const PARTS = ['flush', 'changed', 'healthy', 'lone'] as const
export type Part = (typeof PARTS)[number]

export interface OverloadOptions extends BenchOptions {
  readonly seed: number
  readonly atOnce: readonly number[]
  readonly parts: readonly string[]
  readonly length: Length
}

const MOST_ROUNDS = 3
const SOURCES = [3, 30, 300]

/** @throws where an option is not what it has to be. */
export function overloadOptions(options: BenchOptions): OverloadOptions {
  const { smoke, own } = options
  const short = own['short'] === true
  const seed = Number(own['seed'] ?? 1)
  const atOnce = typeof own['at-once'] === 'string' ? own['at-once'].split(',').map(Number) : smoke ? [30] : SOURCES
  if (!Number.isInteger(seed) || seed < 1) throw new Error('--seed: a whole number from 1 on')
  if (!atOnce.every((one) => Number.isInteger(one) && one > 0)) throw new Error('--at-once: such as 3,30,300')
  const parts = typeof own['parts'] === 'string' ? own['parts'].split(';') : PARTS
  if (!parts.every((part) => PARTS.some((one) => one === part))) throw new Error(`--parts: of ${PARTS.join(';')}`)
  const length = smoke ? SMOKE : short ? SHORT : FULL
  const scale = Number(own['scale'] ?? length.scale)
  if (!Number.isInteger(scale) || scale < 1) throw new Error('--scale: a whole number from 1 on')
  const rounds = Math.min(options.rounds, short ? 1 : MOST_ROUNDS)
  return { ...options, rounds, seed, atOnce, parts, length: { ...length, scale } }
}
