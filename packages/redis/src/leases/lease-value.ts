import { hostname } from 'node:os'
import type { Failure, LeaseHolder } from '@cattlegrid/core'
import type { Ending, Inspection } from '@cattlegrid/core/extend'
import { wholeMs } from '../entries/record.ts'

// The value at a lease key. Its fields have fixed positions, because the scripts read them with string.sub:
//
//   'L' token (22)  '+' awaited or '-'  attempts (4 digits)  granted at (16 digits, server time in µs)  life  pid ' ' host    held
//   'X' kept after the cooldown, ms (8 digits)   attempts (4 digits)  name \n code \n message \n lines given (1 digit)  life    cooling
//   'U' '1' shared or '0'  life                                                                           uncacheable
//   'H' life                                                                                              held off
//
// Life, 15 digits: the longest time to live that the value can have, ms. With more left, the server's clock
// was set back, and the value counts as ended. A smaller step than CORRECTION changes nothing. The values of
// earlier versions have no life.

/** The correction of a clock that ends no state, ms; the scripts have it, too. */
const CORRECTION = 1000
/**
 * How long the count of failures outlives its cooldown, ms: a key that is asked for once a minute must still
 * back off.
 */
const SHORTEST_SURVIVAL = 60_000
const LONGEST_SURVIVAL = 99_999_999
const MOST_ATTEMPTS = 9999
const MOST_BYTES = 256
/** This process, in the leases that it is granted: a process that is frozen cannot say that it holds one. */
export const PROCESS_NAME: string = `${process.pid} ${hostname().slice(0, 64)}`

/** The value that replaces a lease when it ends, and its time to live, ms. An empty `value` means none. */
export interface EncodedKeyState {
  readonly value: string
  readonly duration: number
}

const NO_STATE: EncodedKeyState = { value: '', duration: 1 }

export function encodeKeyState(ending: Ending): EncodedKeyState {
  switch (ending.kind) {
    case 'handover':
      return NO_STATE
    case 'uncacheable':
      return ending.for > 0 ? withLife(`U${ending.share ? 1 : 0}`, wholeMs(ending.for)) : NO_STATE
    case 'failed': {
      const survival = wholeMs(Math.max(SHORTEST_SURVIVAL, 2 * ending.cooldown), LONGEST_SURVIVAL)
      const attempts = Math.min(Math.max(0, Math.trunc(ending.attempts)), MOST_ATTEMPTS)
      const value = `X${digits(survival, 8)}${digits(attempts, 4)}${failureText(ending.failure)}`
      return withLife(value, wholeMs(ending.cooldown) + survival)
    }
  }
}

function withLife(value: string, duration: number): EncodedKeyState {
  return { value: value + digits(duration, 15), duration }
}

/** One line each for name, code and message, and the number of those that are given. */
function failureText({ name, code, message }: Failure): string {
  const given = message === undefined ? (code === undefined ? 1 : 2) : 3
  const lines = [name, code ?? '', message ?? ''].map((line) => clip(line.replaceAll('\n', ' ')))
  return [...lines, given].join('\n')
}

/** `text`: what follows the attempts in a value. */
export function failureOf(text: string): Failure {
  const lines = text.split('\n')
  // An earlier version leaves the lines out that are not given.
  const given = lines.length === 4 ? Number(lines[3]?.[0]) : 3
  const [name = '', code, message] = lines.slice(0, given)
  if (message !== undefined) return code === '' ? { name, message } : { name, code, message }
  return code === undefined ? { name } : { name, code }
}

/** Shortens `text` to MOST_BYTES without splitting a character. */
function clip(text: string): string {
  const bytes = Buffer.from(text, 'utf8')
  if (bytes.length <= MOST_BYTES) return text
  let end = MOST_BYTES
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1
  return bytes.toString('utf8', 0, end)
}

function digits(value: number, length: number): string {
  return String(value).padStart(length, '0')
}

/**
 * The process that holds a lease, by its value, with the end of its token as events name it; undefined for
 * the lease of a version that does not name it.
 */
export function holderOf(value: string): LeaseHolder | undefined {
  const [, token = '', pid, host = ''] = /^L(.{22})[+-]\d{20}(?:\d{15})?(\d{1,10}) (.{1,64})$/s.exec(value) ?? []
  return pid === undefined ? undefined : { lease: token.slice(-8), pid: Number(pid), host }
}

/** Decodes a lease value for inspection. `left`: its time to live, ms; `now`: the server's time, µs. */
export function inspectLease(value: string, left: number, now: number): Pick<Inspection, 'lease' | 'cooldown'> {
  if (left > longestLife(value)) return { lease: undefined, cooldown: undefined }
  const held = /^L.{22}([+-])\d{4}(\d{16})/s.exec(value)
  if (held !== null && left > 0) {
    const heldFor = Math.max(0, (now - Number(held[2])) / 1000)
    const lease = { heldFor, remaining: left, awaited: held[1] === '+', holder: holderOf(value) }
    return { lease, cooldown: undefined }
  }
  const [, survival, attempts, failure = ''] = /^X(\d{8})(\d{4})(.*)$/s.exec(value) ?? []
  const remaining = left - Number(survival)
  return {
    lease: undefined,
    cooldown: remaining > 0 ? { remaining, attempts: Number(attempts), failure: failureOf(failure) } : undefined,
  }
}

/** The longest time to live with which a value counts, ms. */
function longestLife(value: string): number {
  const life = /^L.{22}[+-]\d{20}(\d{15})/s.exec(value)?.[1] ?? /^X.*\n\d(\d{15})$/s.exec(value)?.[1]
  return life === undefined ? Infinity : Number(life) + CORRECTION
}
