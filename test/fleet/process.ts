import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { bundled } from '../support/bundled.ts'

let commands = 0

/** A real process of ours that the test speaks to, stops, and kills. It says `{ ready: true }`, then answers `{ id, command }`. */
export class TestProcess<Command> {
  readonly #child: ChildProcess

  private constructor(child: ChildProcess) {
    this.#child = child
  }

  /** Starts a TypeScript file, and waits until it is ready. */
  static async start<Command>(file: string, env: Readonly<Record<string, string>>): Promise<TestProcess<Command>> {
    const child = spawn(process.execPath, [bundled(file)], {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    const ended = once(child, 'exit').then(() => 'ended' as const)
    if ((await Promise.race([once(child, 'message'), ended])) === 'ended')
      throw new Error(`${file} ended before it was ready`)
    return new TestProcess(child)
  }

  get alive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null
  }

  async tell<T>(command: Command): Promise<T> {
    const id = (commands += 1)
    const answer = new Promise<T>((resolve, reject) => {
      const lost = (): void => reject(new Error('The process ended'))
      const listen = (message: { id?: number; result?: T; error?: string }): void => {
        if (message.id !== id) return
        this.#child.off('message', listen).off('exit', lost)
        if (message.error === undefined) resolve(message.result as T)
        else reject(new Error(message.error))
      }
      this.#child.on('message', listen).once('exit', lost)
    })
    this.#child.send({ id, command })
    return answer
  }

  pause(): void {
    this.#child.kill('SIGSTOP')
  }

  resume(): void {
    this.#child.kill('SIGCONT')
  }

  async kill(): Promise<void> {
    if (!this.alive) return
    const gone = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await gone
  }
}
