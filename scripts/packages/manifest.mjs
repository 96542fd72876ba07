// What the manifest of each public package says, as npm shows it and as provenance demands it. The root's manifest says once for all where the repository is.
import { isDeepStrictEqual } from 'node:util'

/** What the root says of all packages, as the manifest of one. */
const wanted = (root, name) => ({
  type: 'module',
  license: root.license,
  repository: { ...root.repository, directory: `packages/${name}` },
  homepage: `${root.homepage}/tree/main/packages/${name}#readme`,
  bugs: root.bugs,
  engines: root.engines,
  sideEffects: false,
  publishConfig: { access: 'public', provenance: true },
})

/** What is wrong with a package that is packed beside these. */
export function manifestFaults(root, { name, manifest, files }, packages) {
  const faults = Object.entries(wanted(root, name))
    .filter(([field, value]) => !isDeepStrictEqual(manifest[field], value))
    .map(([field, value]) => `${field} is ${JSON.stringify(manifest[field])}, not ${JSON.stringify(value)}`)
  if (!/^[A-Z].*\.$/.test(manifest.description ?? '')) faults.push('description is no sentence')
  if (!manifest.keywords?.includes('cattlegrid')) faults.push('keywords do not name cattlegrid')
  for (const file of ['README.md', 'LICENSE']) if (!files.includes(file)) faults.push(`the tarball has no ${file}`)
  for (const file of files)
    if (!/^(dist|src|grafana)\/|^(README\.md|LICENSE|package\.json)$/.test(file) || file.endsWith('.tsbuildinfo'))
      faults.push(`the tarball has ${file}`)
  for (const other of packages) {
    const asked = manifest.dependencies?.[other.manifest.name]
    if (asked !== undefined && asked !== other.manifest.version)
      faults.push(`depends on ${other.manifest.name} ${asked}: all are released together, as ${other.manifest.version}`)
  }
  return faults
}
