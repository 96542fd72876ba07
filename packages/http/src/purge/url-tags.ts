import { urlTag } from '../request/request-key.ts'

/**
 * The tags by which a purge finds the stored responses of a URL: that of routes whose key holds the host, and
 * that of routes whose key holds none. Only responses of routes with `invalidateOnUnsafe` carry them. The URL
 * must lack the parameters that the route leaves out of its key.
 *
 * @throws TypeError for a text that is no URL.
 * @example
 * import { urlTagsOf } from '@cattlegrid/http'
 *
 * await cache.invalidateTags(urlTagsOf('https://shop.example/products/7'))
 */
export function urlTagsOf(url: string): readonly [withHost: string, withoutHost: string] {
  const { protocol, host, pathname, search } = new URL(url)
  const parts = { scheme: protocol.slice(0, -1), target: pathname + search }
  return [urlTag({ ...parts, host }), urlTag({ ...parts, host: '' })]
}
