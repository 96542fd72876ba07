import { type RequestEvent, text } from '@sveltejs/kit'

function me({ cookies }: RequestEvent) {
  return text(cookies.get('user') ?? 'nobody')
}

export function GET(event: RequestEvent) {
  return me(event)
}

export function POST(event: RequestEvent) {
  return me(event)
}
