import { type RequestEvent, text } from '@sveltejs/kit'
import { learnBy } from '../../../../lib/ways.ts'

export async function GET(event: RequestEvent) {
  return text(await learnBy(event))
}
