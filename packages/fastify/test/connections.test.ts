import { Readable } from 'node:stream'
import { describeConnections } from '../../../test/connections.ts'
import { cache, listen, stepsOf, withApp } from './cached-app.ts'

describeConnections((page, play) =>
  withApp(async ({ app, cache: held }) => {
    app.get('/:page', { config: { cache } }, async ({ url }, reply) => {
      const { body, streamed = false, fields = {} } = await page(url)
      reply.headers(fields)
      return streamed ? Readable.from([body.slice(0, 3), body.slice(3)]) : body
    })
    await play({ ...stepsOf(held), port: await listen(app) })
  }),
)
