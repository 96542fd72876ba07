import { connect } from 'node:net'

const PATIENCE = 5000

/** Sends one command whose reply is a status, a number or a string. Rejects if the server replies with an error or not at all. */
export function askRedis(port: number, command: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    let said = ''
    const end = (error: Error): void => {
      socket.destroy()
      reject(error)
    }
    socket.setTimeout(PATIENCE, () => end(new Error(`The server at ${port} does not answer ${command}`)))
    socket.on('error', end)
    socket.on('close', () => end(new Error(`The server at ${port} hung up on ${command}`)))
    socket.on('data', (chunk) => {
      said += chunk.toString()
      const answer = answerIn(said)
      if (answer === undefined) return
      if (answer.startsWith('-')) return end(new Error(`The server at ${port} refuses ${command}: ${answer.slice(1)}`))
      socket.destroy()
      resolve(answer)
    })
    socket.write(`${command}\r\n`)
  })
}

/** The complete reply; undefined until all of it has arrived. */
function answerIn(said: string): string | undefined {
  const [, kind = '', rest = ''] = /^([-+:$])(.*?)\r\n/s.exec(said) ?? []
  if (kind !== '$') return kind === '' ? undefined : `${kind === '-' ? '-' : ''}${rest}`
  const start = rest.length + 3
  const end = start + Number(rest)
  return said.length >= end + 2 ? said.slice(start, end) : undefined
}

/** Repeats the command until `says` accepts the reply, for at most `patience` ms. A server that does not answer yet is asked again. */
export async function untilRedis(
  port: number,
  command: string,
  says: (answer: string) => boolean,
  patience: number = 30_000,
): Promise<string> {
  const deadline = performance.now() + patience
  for (let last = ''; ;) {
    try {
      last = await askRedis(port, command)
      if (says(last)) return last
    } catch (error) {
      last = String(error)
    }
    if (performance.now() > deadline) throw new Error(`Not within ${patience} ms: ${command} at ${port} says\n${last}`)
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
}
