import type { Later } from '../run/cleanup.ts'
import { type Member, startMember } from '../run/member.ts'

/** Starts a process of a contender, which `later` ends. `place`: its number among those of this contender. */
export type StartApp = (later: Later, place?: number) => Promise<Member>

/**
 * A new process for each contender: two of one code may differ, for as long as they live, by more than two contenders do. A smoke run measures nothing:
 * there, the process of a place opens one app after the other, and ends with the bench. `node`: the program that runs them. Default: the running one.
 */
export function appStarter(smoke: boolean, atEnd: Later, node: string = process.execPath): StartApp {
  const startNew: StartApp = async (later) => {
    const member = await startMember('http/member.js', [], [], node)
    later(() => member.stop())
    return member
  }
  if (!smoke) return startNew
  const kept = new Map<number, Promise<Member>>()
  return async (_, place = 0) => {
    const member = kept.get(place) ?? startNew(atEnd)
    kept.set(place, member)
    return await member
  }
}
