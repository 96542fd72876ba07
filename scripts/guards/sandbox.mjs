// A copy of the tree to break things in. The checkout is never touched: somebody may be working in it.
import { execFile } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const left = new Set(['node_modules', '.git', 'dist', 'coverage'])

/** Dependencies are linked one by one, so that a package of the workspace is the copy's own. */
function linkModules(root, copy) {
  const modules = join(root, 'node_modules')
  if (!existsSync(modules)) return
  mkdirSync(join(copy, 'node_modules/@cattlegrid'), { recursive: true })
  for (const name of readdirSync(modules)) {
    if (name !== '@cattlegrid') symlinkSync(join(modules, name), join(copy, 'node_modules', name))
  }
  for (const name of readdirSync(join(copy, 'packages'))) {
    symlinkSync(join(copy, 'packages', name), join(copy, 'node_modules/@cattlegrid', name))
  }
}

export class Sandbox {
  constructor(root) {
    this.path = mkdtempSync(join(tmpdir(), 'guards-'))
    cpSync(root, this.path, { recursive: true, filter: (source) => source === root || !left.has(basename(source)) })
    linkModules(root, this.path)
  }

  /** Takes the guard away while `look` runs. */
  async without({ file, find, replace }, look) {
    const path = join(this.path, file)
    const whole = readFileSync(path, 'utf8')
    try {
      await this.#write(
        path,
        whole.replace(find, () => replace),
      )
      return await look()
    } finally {
      await this.#write(path, whole)
    }
  }

  remove() {
    rmSync(this.path, { recursive: true, force: true, maxRetries: 5 })
  }

  async #write(path, text) {
    writeFileSync(path, text)
    // Scripts of Redis are read from the module that is generated from them.
    if (path.endsWith('.lua')) await run(process.execPath, ['scripts/embed-lua.mjs'], { cwd: this.path })
  }
}
