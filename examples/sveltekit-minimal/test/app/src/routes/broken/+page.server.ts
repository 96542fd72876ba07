import { error, type ServerLoadEvent } from '@sveltejs/kit'

export function load({ url }: ServerLoadEvent) {
  error(Number(url.searchParams.get('status') ?? 404), 'none of these')
}
