import type { ServerLoadEvent } from '@sveltejs/kit'
import { learnBy } from '../../../lib/ways.ts'

export async function load(event: ServerLoadEvent) {
  return { learned: await learnBy(event) }
}
