import { describe, expect, test } from '@jest/globals'
import { systemRuntime } from '@cattlegrid/core/extend'
import type { RedisClient, RedisCluster } from '@cattlegrid/redis'
import { ClusterLink } from '../../src/link/cluster-link.ts'
import { NodeRedisCluster } from '../../src/link/node-redis-cluster.ts'

// Moments that no real cluster can be held in: between two redirections, and between a broken connection and the next.

interface Sent {
  readonly command: unknown
  readonly isReadonly: boolean
  readonly answer: (reply: string) => void
}

/** A cluster whose one node is as `node` says, and whose own commands are answered by the test. */
function clusterWith(node: Partial<RedisClient>): { readonly link: ClusterLink; readonly sent: readonly Sent[] } {
  const sent: Sent[] = []
  const silent = { on: () => undefined, off: () => undefined }
  const master = { address: 'node:1', client: { ...silent, ...node } as RedisClient }
  const cluster: RedisCluster = {
    isOpen: true,
    masters: [master],
    slots: Array.from({ length: 16_384 }, () => ({ master })),
    nodeClient: () => undefined,
    sendCommand: (_key, isReadonly, [command]) =>
      new Promise((answer) => {
        sent.push({ command, isReadonly, answer })
      }),
    ...silent,
  }
  return { link: new ClusterLink(new NodeRedisCluster(cluster, systemRuntime, false), systemRuntime), sent }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('a link to a cluster', () => {
  test('redirects two commands for a moved key one after the other, both to a master', async () => {
    const moved = (): Promise<never> => Promise.reject(new Error('MOVED 1 node:2'))
    const { link, sent } = clusterWith({ isReady: true, sendCommand: moved })
    const both = link.inOrder('ns:{k}', (server) =>
      Promise.all([server.send(['PTTL'], 'text'), server.send(['GET'], 'text')]),
    )
    await turn()
    expect(sent.map(({ command }) => command)).toEqual(['PTTL'])
    sent[0]?.answer('1')
    await turn()
    expect(sent.map(({ command, isReadonly }) => [command, isReadonly])).toEqual([
      ['PTTL', false],
      ['GET', false],
    ])
    sent[1]?.answer('body')
    expect(await both).toEqual(['1', 'body'])
  })

  test('sends nothing to a client that is not ready: the command would be executed at an unknown later time', async () => {
    const commands: unknown[] = []
    const sendCommand = (command: unknown): Promise<unknown> => Promise.resolve(commands.push(command))
    const { link, sent } = clusterWith({ isReady: false, sendCommand })
    await expect(link.send('ns:{k}', ['GET', 'ns:{k}'], 'text')).rejects.toThrow('node:1 is not connected')
    await expect(link.inOrder('ns:{k}', (server) => server.send(['GET'], 'text'))).rejects.toThrow('not connected')
    expect([commands, sent, link.subscriberConnection()]).toEqual([[], [], undefined])
  })

  test('redirects no command that was refused for another reason', async () => {
    const busy = (): Promise<never> => Promise.reject(new Error('BUSY somebody MOVED something'))
    const { link, sent } = clusterWith({ isReady: true, sendCommand: busy })
    await expect(link.send('ns:{k}', ['GET', 'ns:{k}'], 'text')).rejects.toThrow('BUSY')
    expect(sent).toEqual([])
  })
})
