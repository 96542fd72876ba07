// Where the repository is, by its package.json: an empty address leaves out every link to it.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** @returns such as `https://github.com/owner/name`, or undefined where package.json has no address. */
export function repositoryAddress(root: string): string | undefined {
  const { repository } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest
  const url = typeof repository === 'string' ? repository : repository?.url
  const [, address] = /^(?:git\+)?(https:\/\/.+?)(?:\.git)?$/.exec(url ?? '') ?? []
  return address
}

interface Manifest {
  readonly repository?: string | { readonly url?: string }
}
