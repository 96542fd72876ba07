import type { Runtime } from '@cattlegrid/core/extend'
import { cureOf, reasonOf } from './connection-error.ts'
import { installedPackage, MissingPackageError } from './installed-package.ts'
import { OwnClient } from './own-client.ts'

/**
 * The client that the store makes for a URL, by the package that is installed.
 *
 * @param warn called once, after this function has returned, if the first connection fails.
 */
export function ownUrlClient(
  url: string,
  runtime: Runtime,
  maxSilence: number | false,
  warn: (message: string) => void,
): OwnClient {
  const own = new OwnClient({
    runtime,
    maxSilence,
    make: async () => (await installedPackage())(url, runtime),
    onUnreachable: (error) => {
      warn(unreachable(url, error))
      return true
    },
  })
  own.open()
  return own
}

function unreachable(url: string, error: unknown): string {
  if (error instanceof MissingPackageError) return `redisStore({ url }): ${error.message}`
  // Without the url's user and password.
  const { host } = new URL(url)
  return `Redis at ${host} cannot be reached (${reasonOf(error)}): check \`url\`; ${cureOf(error)}. Until it answers, each process loads on its own.`
}
