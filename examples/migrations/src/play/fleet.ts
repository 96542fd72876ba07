import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join, resolve } from 'node:path'
import type { Answers, Command } from './member.ts'

interface Answer {
  readonly number: number
  readonly value?: unknown
  readonly error?: string
}

/** A process that runs the examples, as `npm start` would. */
export class Member {
  readonly #child: ChildProcess
  #sent = 0

  constructor(env: Readonly<Record<string, string>>) {
    const settings = resolve(import.meta.dirname, '../../tsconfig.json')
    this.#child = fork(join(import.meta.dirname, 'member.ts'), {
      execArgv: ['--import', 'tsx'],
      // In a test Express prints no errors.
      env: { ...process.env, ...env, NODE_ENV: 'test', TSX_TSCONFIG_PATH: settings },
    })
  }

  /** @throws what the command throws there, and where the process ends before it answers. */
  async tell(command: Command): Promise<unknown> {
    const number = (this.#sent += 1)
    return await new Promise((done, fail) => {
      const ended = (): void => fail(new Error('the process has ended'))
      const listen = (answer: Answer): void => {
        if (answer.number !== number) return
        this.#child.off('message', listen).off('exit', ended)
        if (answer.error === undefined) done(answer.value)
        else fail(new Error(answer.error))
      }
      this.#child.on('message', listen).once('exit', ended)
      this.#child.send({ number, command })
    })
  }

  async read(id: string, callers: number): Promise<Answers> {
    return (await this.tell({ do: 'read', id, callers })) as Answers
  }

  async end(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const ended = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await ended
  }
}
