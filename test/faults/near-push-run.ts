// How long an invalidation takes from one process's call to another process's near cache: `npm test -- near-push`.
import { startRedis } from '@cattlegrid/testkit'
import { delaysOf, NearFleet, type Round, sayDelays } from './near-push.ts'

const ROUNDS = 500
const READERS = 3

const server = await startRedis()
const fleet = await NearFleet.start({ url: server.url, maxAge: '10m', readers: READERS, folder: import.meta.dirname })
const rounds: Round[] = []
for (let round = 0; round < ROUNDS; round += 1) rounds.push(await fleet.round([`k${round % 20}`]))
console.log(sayDelays(delaysOf(rounds)))
await fleet.stop()
await server.stop()
