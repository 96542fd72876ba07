// The switch between versions: the version of this site, its changelog, and the sites of earlier versions.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The sites of earlier versions that are still served, the newest first: `{ text: '0.1', link: 'https://…/0.1/' }`. */
const earlier: readonly { readonly text: string; readonly link: string }[] = []

/** The item of the navigation: all public packages have one version. */
export function versionSwitch(root: string): { text: string; items: { text: string; link: string }[] } {
  const { version } = JSON.parse(readFileSync(join(root, 'packages/core/package.json'), 'utf8')) as { version: string }
  return {
    text: `v${version}`,
    items: [
      { text: 'What has changed', link: '/CHANGELOG' },
      { text: 'What counts as breaking', link: '/docs/versions' },
      ...earlier,
    ],
  }
}
