import type { Socket } from 'node:net'

/** Calls `hear` with each line that the socket receives. An error of the socket ends it, and nothing else. */
export function hearLines(socket: Socket, hear: (line: string) => void): void {
  let rest = ''
  socket
    .setEncoding('latin1')
    .setNoDelay()
    .on('error', () => undefined)
    .on('data', (text: string) => {
      const lines = (rest + text).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) hear(line)
    })
}
