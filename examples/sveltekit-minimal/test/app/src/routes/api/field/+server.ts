import { type RequestEvent, text } from '@sveltejs/kit'

export function GET({ request }: RequestEvent) {
  return text(request.headers.get('cookie') ?? 'nobody')
}
