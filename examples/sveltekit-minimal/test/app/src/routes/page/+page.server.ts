import type { ServerLoadEvent } from '@sveltejs/kit'

export async function load({ url, fetch }: ServerLoadEvent) {
  const list = (await (await fetch('/api/list')).json()) as object
  return { search: url.search, path: url.pathname, list }
}
