import type { Caller } from './caller.ts'

/** A key of the play, shown by its short name and kept under the play's own prefix. */
export interface Key {
  readonly key: string
}

export const LOCK: Key = { key: 'lock' }
export const ENTRY: Key = { key: 'entry' }

/** One message to the server: what it does happens at once, and between two of them anything may happen. */
export interface Command {
  readonly text: string
  send(caller: Caller): Promise<unknown>
}

/** Code that sends commands: it yields them one by one and is handed each reply, so that the lab can let it pause in between. */
export type Program<Result> = Generator<Command, Result, unknown>

type Word = string | number | Key

/** A plain Redis command. */
export function redis(...words: readonly Word[]): Command {
  return { text: textOf(words), send: ({ client, prefix }) => client.sendCommand(argumentsOf(words, prefix)) }
}

/** Commands in MULTI and EXEC: executed together, each with its own reply. */
export function multi(...commands: readonly (readonly Word[])[]): Command {
  return {
    text: `MULTI ${commands.map(textOf).join(', ')} EXEC`,
    async send({ client, prefix }) {
      const transaction = client.multi()
      for (const words of commands) transaction.addCommand(argumentsOf(words, prefix))
      return await transaction.exec()
    },
  }
}

/** A Lua script, shown by its name. */
export interface Script {
  readonly name: string
  readonly source: string
}

export function lua({ name, source }: Script, key: Key, ...args: readonly (string | number)[]): Command {
  return {
    text: textOf(['EVAL', `(${name})`, key, ...args]),
    send: ({ client, prefix }) => client.sendCommand(argumentsOf(['EVAL', source, 1, key, ...args], prefix)),
  }
}

/** A step that is not one of Redis's commands but a call of a store. */
export function call(text: string, send: (caller: Caller) => Promise<unknown>): Command {
  return { text, send }
}

function textOf(words: readonly Word[]): string {
  return words.map((word) => (typeof word === 'object' ? word.key : String(word))).join(' ')
}

function argumentsOf(words: readonly Word[], prefix: string): string[] {
  return words.map((word) => (typeof word === 'object' ? prefix + word.key : String(word)))
}
