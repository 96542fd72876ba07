/** What the cache needs of SvelteKit's `RequestEvent`: every version of 2 has it. */
export interface SvelteKitEvent {
  readonly request: Request
  readonly url: URL
  readonly params: Partial<Record<string, string>>
  readonly route: { readonly id: string | null }
  readonly cookies: SvelteKitCookies
  readonly locals: object
  readonly platform?: unknown
  readonly isDataRequest: boolean
  readonly isSubRequest: boolean
  readonly isRemoteRequest?: boolean
  readonly fetch: typeof fetch
  readonly setHeaders: (headers: Record<string, string>) => void
  readonly getClientAddress: () => string
}

/** The reading methods of SvelteKit's `Cookies`. */
export interface SvelteKitCookies {
  get: (name: string, options?: { decode?: (value: string) => string }) => string | undefined
  getAll: (options?: { decode?: (value: string) => string }) => { name: string; value: string }[]
}
