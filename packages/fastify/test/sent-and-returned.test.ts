import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from '@jest/globals'
import { cache, withApp } from './cached-app.ts'

test.each([
  ['nothing', undefined],
  ['something else', 'other'],
])(
  'an async handler that sends its response and returns %s has sent it, also while an asynchronous onSend hook holds it',
  async (_title, returned) => {
    await withApp(async ({ app, bodies }) => {
      app.addHook('onSend', async (_request, _reply, payload) => {
        await turn()
        return `${String(payload)}!`
      })
      app.get('/a', { config: { cache } }, async (_request, reply) => {
        void reply.send('sent')
        return returned
      })
      expect(await bodies('/a', 3)).toEqual(['sent!', 'sent!', 'sent!'])
    })
  },
)

test('of a handler that sends twice while an asynchronous onSend hook holds the first payload, nothing is stored', async () => {
  await withApp(async ({ app, bodies }) => {
    app.addHook('onSend', async (_request, _reply, payload) => {
      await turn()
      return `${String(payload)}!`
    })
    app.get('/a', { config: { cache } }, (_request, reply) => {
      void reply.send('first')
      void reply.send('second')
    })
    expect(await bodies('/a', 3)).toEqual(['first!', 'first!', 'first!'])
  })
})
