import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { jest } from '@jest/globals'

/** Runs `play` and returns the texts of the warnings with this code that it caused. */
export async function warningsOf(code: string, play: () => unknown): Promise<readonly string[]> {
  const warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined)
  try {
    await play()
    const calls = warned.mock.calls as unknown as readonly (readonly [
      text: string,
      options: { readonly code: string },
    ])[]
    return calls.filter(([, options]) => options.code === code).map(([text]) => text)
  } finally {
    warned.mockRestore()
  }
}

/** Runs `play` and returns what was published to this channel of `node:diagnostics_channel` meanwhile. */
export async function publishedTo(channel: string, play: () => unknown): Promise<readonly object[]> {
  const events: object[] = []
  const listen = (event: unknown): void => void events.push(event as object)
  subscribe(channel, listen)
  try {
    await play()
  } finally {
    unsubscribe(channel, listen)
  }
  return events
}
