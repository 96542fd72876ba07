import { Readable } from 'node:stream'
import { describeConnections } from '../../../test/connections.ts'
import { cache, listen, stepsOf, withApp } from './support/cached-app.ts'

describeConnections((page, play) =>
  withApp(async ({ app, cache: held }) => {
    app.get('/:page', { config: { cache } }, async ({ url }, reply) => {
      const { body, streamed = false, hangsUp = false, fields = {} } = await page(url)
      if (hangsUp) {
        reply.raw.destroy()
        return reply.hijack()
      }
      reply.headers(fields)
      return streamed ? Readable.from([body.slice(0, 3), body.slice(3)]) : body
    })
    await play({ ...stepsOf(held), port: await listen(app) })
  }),
)
