import { type Cache, createCache } from '@cattlegrid/core'
import { describe, expect, jest, test } from '@jest/globals'
import Fastify, { type FastifyInstance } from 'fastify'
import type { cattlegrid } from '../src/index.ts'

type Plugin = typeof cattlegrid

/** As `require` in the line that registers it: the app is made, and the plugin's module was never loaded before. */
async function importLate(): Promise<Plugin> {
  let plugin: Plugin | undefined
  await jest.isolateModulesAsync(async () => {
    plugin = (await import('../src/index.ts')).default
  })
  if (plugin === undefined) throw new Error('the module has no default export')
  return plugin
}

/** A hook that writes the user into each page. */
function showUser(app: FastifyInstance): void {
  app.addHook('onSend', async (request, _reply, payload) =>
    String(payload).replace('NAME', String(request.headers['x-user'])),
  )
}

function page(app: FastifyInstance): void {
  app.get('/page', { config: { cache: { ttl: '1h' } } }, async () => 'Hello NAME')
}

const FORMS: Readonly<Record<string, (app: FastifyInstance, plugin: Plugin, cache: Cache) => void>> = {
  'at the top level': (app, plugin, cache) => {
    showUser(app)
    void app.register(plugin, { cache })
    void app.register(async (child) => page(child))
  },
  'in an encapsulated plugin, below a hook of the app': (app, plugin, cache) => {
    showUser(app)
    void app.register(async (child) => {
      await child.register(plugin, { cache })
      page(child)
    })
  },
  'in an encapsulated plugin, after a hook of its own': (app, plugin, cache) => {
    void app.register(async (child) => {
      showUser(child)
      await child.register(plugin, { cache })
      page(child)
    })
  },
  'between folders that another plugin loads': (app, plugin, cache) => {
    const folders = [async () => showUser(app), async () => await app.register(plugin, { cache })]
    for (const folder of folders) void app.register(Object.assign(folder, { [Symbol.for('skip-override')]: true }))
    void app.register(async (child) => page(child))
  },
  'at the top level, before a hook that its child inherits': (app, plugin, cache) => {
    void app.register(plugin, { cache })
    void app.register(async (child) => page(child))
    showUser(app)
  },
}

describe('a plugin that is loaded after the app was made', () => {
  test.each(Object.keys(FORMS))(
    'registered %s, records the response before the hooks that write a user into it',
    async (form) => {
      const app = Fastify()
      FORMS[form]?.(app, await importLate(), createCache())
      try {
        const ask = async (user: string): Promise<string> =>
          (await app.inject({ url: '/page', headers: { 'x-user': user } })).body
        expect([await ask('admin'), await ask('bob')]).toEqual(['Hello admin', 'Hello bob'])
      } finally {
        await app.close()
      }
    },
  )

  test('sends a text to Node as bytes where no hook sees it, as one that was loaded before', async () => {
    const app = Fastify()
    const sent: unknown[] = []
    app.addHook('onRequest', async (_request, { raw }) => {
      const end = raw.end.bind(raw)
      raw.end = (...args: unknown[]) => {
        sent.push(typeof args[0])
        return Reflect.apply(end, raw, args)
      }
    })
    await app.register(await importLate(), { cache: createCache() })
    page(app)
    try {
      for (let turn = 0; turn < 2; turn += 1) expect((await app.inject('/page')).body).toBe('Hello NAME')
      expect(sent).toEqual(['string', 'object'])
    } finally {
      await app.close()
    }
  })

  test('does not let the app start with a route that was declared before it', async () => {
    const app = Fastify()
    page(app)
    app.get('/plain', async () => 'one')
    void app.register(await importLate(), { cache: createCache() })
    await expect(app.ready()).rejects.toMatchObject({
      code: 'CATTLEGRID_ROUTE_BEFORE_PLUGIN',
      message: expect.stringContaining('GET /page'),
    })
    await app.close()
  })

  test('does not let the app start with a route that is declared in the line after its registration, which is not awaited', async () => {
    const app = Fastify()
    void app.register(await importLate(), { cache: createCache() })
    page(app)
    await expect(app.ready()).rejects.toMatchObject({ code: 'CATTLEGRID_ROUTE_BEFORE_PLUGIN' })
    await app.close()
  })
})

test.each(['fastify.hooks', 'fastify.404'])(
  'a Fastify that has no %s is refused at registration',
  async (description) => {
    const plugin = await importLate()
    const other = new Proxy(Fastify(), {
      ownKeys: (app) =>
        Reflect.ownKeys(app).filter((key) => typeof key === 'string' || key.description !== description),
    })
    await expect(plugin(other, { cache: createCache() })).rejects.toMatchObject({
      code: 'CATTLEGRID_UNSUPPORTED_FASTIFY',
      message: expect.stringContaining(description),
    })
  },
)
