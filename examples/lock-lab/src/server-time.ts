import type { Client } from './worlds/connections.ts'
import { until } from './worlds/world.ts'

/**
 * Takes so many milliseconds off a key's time to live, so that a play need not wait for them, and lets the server remove the key where
 * none are left. Returns the time to live after that: -1 for a key that has none and stays, -2 for one that is gone.
 */
export async function letPass(lab: Client, key: string, ms: number): Promise<number> {
  const timeToLive = async (): Promise<number> => Number(await lab.sendCommand(['PTTL', key]))
  const left = await timeToLive()
  if (left > ms) await lab.sendCommand(['PEXPIRE', key, String(left - ms)])
  else if (left >= 0) {
    await lab.sendCommand(['PEXPIRE', key, '1'])
    await until(`${key} has expired`, async () => (await timeToLive()) === -2)
  }
  return await timeToLive()
}
