import { execFileSync } from 'node:child_process'

/** The state of a process as `ps` shows it, such as S, or T for stopped. Empty if it has ended: an orphan may stay a zombie, which is not alive. */
export function stateOf(pid: number): string {
  try {
    const state = execFileSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' })
      .trim()
      .charAt(0)
    return state === 'Z' ? '' : state
  } catch {
    return ''
  }
}

/** The processes that this one has started, and those of its group, which outlive it: Redis is one of them. */
export function familyOf(pid: number): number[] {
  const rows = execFileSync('ps', ['-eo', 'pid=,ppid=,pgid='], { encoding: 'utf8' }).trim().split('\n')
  const family = rows.map((row) => row.trim().split(/\s+/).map(Number)).filter(([, ...owners]) => owners.includes(pid))
  return family.flatMap(([member = pid]) => (member === pid ? [] : [member]))
}
