import { setTimeout as sleep } from 'node:timers/promises'
import { text } from '@sveltejs/kit'

let runs = 0

export async function GET() {
  await sleep(200)
  runs += 1
  return text(`run ${runs}`)
}

export function POST() {
  runs += 1
  return text(`posted ${runs}`)
}
