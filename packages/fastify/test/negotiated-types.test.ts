import { expect, test } from '@jest/globals'
import { cache, withApp } from './support/cached-app.ts'

test('a hit has the type and the language of its body, where an outer layer chooses them for each client', async () => {
  await withApp(async ({ app }) => {
    app.addHook('preHandler', async (request, reply) => {
      const { accept = '', 'accept-language': language } = request.headers
      reply.type(accept)
      if (language !== undefined) reply.header('content-language', language)
    })
    app.get('/a', { config: { cache } }, async () => '<p>1</p>')
    const ask = async (headers: Readonly<Record<string, string>>): Promise<unknown> => {
      const { body, headers: fields } = await app.inject({ url: '/a', headers })
      return [body, fields['content-type'], fields['content-language']]
    }
    const first = await ask({ accept: 'text/html', 'accept-language': 'de' })
    expect(first).toEqual(['<p>1</p>', 'text/html', 'de'])
    expect(await ask({ accept: 'application/x-pairs', 'accept-language': 'fr' })).toEqual(first)
    expect(await ask({ accept: 'image/x' })).toEqual(first)
  })
})

test('a hit has no type if its body has none, though an outer layer declares one for its client', async () => {
  await withApp(async ({ app }) => {
    app.addHook('onRequest', async ({ headers: { accept } }, reply) => {
      if (accept !== undefined) reply.type(accept)
    })
    app.get('/a', { config: { cache } }, (_request, reply) => void reply.send())
    const answers = [await app.inject('/a'), await app.inject({ url: '/a', headers: { accept: 'image/x' } })]
    expect(answers.map(({ headers }) => headers['content-type'])).toEqual([undefined, undefined])
  })
})
