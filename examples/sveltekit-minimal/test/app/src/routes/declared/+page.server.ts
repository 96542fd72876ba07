import type { ServerLoadEvent } from '@sveltejs/kit'

let runs = 0

export function load({ setHeaders, url }: ServerLoadEvent) {
  runs += 1
  if (!url.searchParams.has('silent')) setHeaders({ 'cache-control': 'public, max-age=60' })
  return { runs }
}
