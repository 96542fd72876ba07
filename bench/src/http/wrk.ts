import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Member } from '../run/member.ts'
import { installed } from './program.ts'

const CONNECTIONS = 64

/** Sends as many requests as are answered, for so many seconds: requests per second. */
export type Load = (url: string, seconds: number) => Promise<number>

export interface LoadGenerator {
  readonly name: string
  readonly load: Load
}

/** wrk where it is installed: it needs less of the machine than the server does. Else autocannon, in a process of its own. */
export function loadGenerator(herd: Member, smoke: boolean): LoadGenerator {
  const wrk = installed('wrk')
  if (wrk === undefined || smoke) return { name: 'autocannon', load: (url, seconds) => cannon(herd, url, seconds) }
  return {
    name: 'wrk',
    async load(url, seconds) {
      const args = ['-t1', '--timeout', '10s', `-c${CONNECTIONS}`, `-d${seconds}s`, url]
      const { stdout } = await promisify(execFile)(wrk, args)
      if (/Non-2xx|Socket errors/.test(stdout)) throw new Error(`${url} failed under load:\n${stdout}`)
      return Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)?.[1])
    },
  }
}

async function cannon(herd: Member, url: string, seconds: number): Promise<number> {
  const { rate, wrong } = await herd.ask<{ rate: number; wrong: number }>('load', url, CONNECTIONS, seconds)
  if (wrong > 0) throw new Error(`${url} failed under load: ${wrong} wrong answers`)
  return rate
}
