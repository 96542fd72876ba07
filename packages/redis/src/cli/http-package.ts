import type * as http from '@cattlegrid/http'
import { ifMissing } from '../link/installed-package.ts'
import { CommandError } from './command-error.ts'

export type { RecordedResponse, Stored } from '@cattlegrid/http'

/** The package that stores HTTP responses; undefined: it is not installed. Imported when it is needed, because that takes longer than most commands. */
export async function httpPackage(): Promise<typeof http | undefined> {
  try {
    return await import('@cattlegrid/http')
  } catch (error) {
    return ifMissing(error)
  }
}

/** The tags of the responses of a page. @throws CommandError when the package that makes them is not installed. */
export async function tagsOfPage(page: string): Promise<readonly string[]> {
  const installed = await httpPackage()
  if (installed !== undefined) return installed.urlTagsOf(page)
  throw new CommandError(
    1,
    "'--page' needs the package @cattlegrid/http, which makes the tag of a URL.",
    'Run the command where @cattlegrid/express or @cattlegrid/fastify is installed, or run npm install @cattlegrid/http.',
  )
}
