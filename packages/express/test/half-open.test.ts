import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, test } from '@jest/globals'
import { gate, onSite } from './support/site.ts'

// Once its client has closed its side, the handler reads whether it is still there.
test.each([
  ['has not left where the server keeps the other side open: its response is shared', true, ['run 1', 1]],
  ['has left elsewhere: its handler may have cut its response short, and the follower leads', false, ['run 2', 2]],
] as const)('a leader’s client that closes its side %s', async (_what, httpAllowHalfOpen, expected) => {
  const { opened, open } = gate()
  let runs = 0
  await onSite(
    (app, cached) => {
      app.get('/other', (_req, res) => void res.send('other'))
      app.get('/a', cached({ ttl: '1m' }), async (req, res) => {
        const run = (runs += 1)
        if (run === 1) await opened
        res.send(req.destroyed && run === 1 ? 'short' : `run ${run}`)
      })
    },
    async (site) => {
      Object.assign(site.server, { httpAllowHalfOpen })
      const leader = connect({ port: site.port, host: '127.0.0.1', allowHalfOpen: true })
      await once(leader, 'connect')
      leader.write('GET /a HTTP/1.1\r\nHost: shop\r\nConnection: close\r\n\r\n')
      await site.seen('load', 1)
      const following = site
        .get('/a')
        .set('host', 'shop')
        .then((answer) => answer.text)
      await site.seen('join', 1)
      leader.end()
      // The server has read what came before.
      for (let round = 0; round < 3; round += 1) await site.get('/other')
      open()
      expect(await text(leader)).toMatch(httpAllowHalfOpen ? /run 1$/ : /^$/)
      expect([await following, runs]).toEqual(expected)
    },
  )
})
