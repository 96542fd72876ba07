import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { transformSync } from 'esbuild'

export const root = resolve(__dirname, '..')

/** A command of a page, and what it prints: the comment below it. */
export interface Command {
  readonly command: string
  readonly prints: string
}

/** The programs that a page shows: the block `run=name`, and in `cjs=name` the lines that stand for its imports in CommonJS. */
export class ShownPrograms {
  readonly text: string
  readonly #blocks: ReadonlyMap<string, string>

  constructor(page: string) {
    this.text = readFileSync(join(root, page), 'utf8')
    this.#blocks = new Map(
      [...this.text.matchAll(/^```\w+ ((?:run|cjs)=[\w-]+)\n([\s\S]*?)^```/gm)].map(([, label = '', code = '']) => [
        label,
        code,
      ]),
    )
  }

  names(kind: 'run' | 'cjs'): string[] {
    return [...this.#blocks.keys()].filter((label) => label.startsWith(`${kind}=`)).map((label) => label.slice(4))
  }

  /** A program as the page shows it. */
  modules(name: string): string {
    return this.#block(`run=${name}`)
  }

  /** The lines of CommonJS that stand for the imports of a program. */
  requires(name: string): string {
    return this.#block(`cjs=${name}`)
  }

  /** A program in CommonJS: without its types, and in an async function if it awaits outside of one. */
  commonJs(name: string, program = this.modules(name)): string {
    const { code } = transformSync(program.replaceAll(/^import .*\n/gm, ''), { loader: 'ts', target: 'es2022' })
    const awaits = /^(?! ).*\bawait\b/m.test(code)
    return this.requires(name) + (awaits ? `async function start() {\n${code}}\nstart()\n` : code)
  }

  /** What a program prints, as the comments behind its lines say. */
  printedBy(name: string): string {
    const comments = this.modules(name).matchAll(/^console\.log\(.*\) \/\/ (.*)$/gm)
    return [...comments].map(([, line]) => `${line}\n`).join('')
  }

  /** The commands of the last block of `sh` below a heading. */
  commandsBelow(heading: string): Command[] {
    const [, below = ''] = RegExp(`^#+ ${heading}$([\\s\\S]*?)(?=^##+ |(?![\\s\\S]))`, 'm').exec(this.text) ?? []
    const code = [...below.matchAll(/^```sh\n([\s\S]*?)^```/gm)].at(-1)?.[1] ?? ''
    const lines = code.replaceAll('|\n ', '|').matchAll(/^([^#\n].*)\n(?:# (.*)\n)?/gm)
    return [...lines].map(([, command = '', prints = '']) => ({ command, prints }))
  }

  #block(label: string): string {
    const code = this.#blocks.get(label)
    if (code === undefined) throw new Error(`no block ${label}`)
    return code
  }
}
