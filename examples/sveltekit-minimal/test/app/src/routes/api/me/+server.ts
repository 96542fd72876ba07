import { type RequestEvent, text } from '@sveltejs/kit'

export function GET({ cookies }: RequestEvent) {
  return text(cookies.get('user') ?? 'nobody')
}

export const POST = GET
