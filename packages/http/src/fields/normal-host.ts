const DEFAULT_PORTS: Readonly<Record<string, RegExp>> = { http: /:80$/, https: /:443$/ }

/** A host in lower case and without the default port, as the key holds it. */
export function normalHost(scheme: string, host: string): string {
  return host.toLowerCase().replace(DEFAULT_PORTS[scheme] ?? /$^/, '')
}
