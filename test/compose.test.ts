import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { runOn, type Files } from './house/broken-law.ts'

const compose = readFileSync(resolve(__dirname, '../docker-compose.yml'), 'utf8')

/** The repository's own compose file with a reader of it. */
const clean: Files = {
  'docker-compose.yml': compose,
  'README.md':
    'Set REDIS_URL=redis://localhost:6379 and `postgresql://cattlegrid:cattlegrid@127.0.0.1:5432/cattlegrid`.\n',
  'packages/core/src/index.ts': "export const url = process.env['REDIS_URL'] ?? 'redis://cache.internal:7000'\n",
}

const composed = (from: string, to: string): Files => {
  expect(compose).toContain(from)
  return { 'docker-compose.yml': compose.replace(from, to) }
}

type Break = readonly [title: string, changes: () => Files, words: string]
const breaks: readonly Break[] = [
  ['a key that compose does not know', () => composed('retries:', 'retires:'), '"additionalProperty":"retires"'],
  [
    'a value of the wrong type',
    () => composed('image: redis:7-alpine', 'image: 7'),
    '/services/redis/image must be string',
  ],
  ['a service without a health check', () => composed('healthcheck:', 'x-healthcheck:'), 'redis needs a health check'],
  [
    'a port that other machines reach',
    () => composed("'127.0.0.1:6379", "'6379"),
    'redis must listen on 127.0.0.1 only',
  ],
  [
    'an image of whatever version',
    () => composed('redis:7-alpine', 'redis:latest'),
    'redis needs an image with a version',
  ],
  [
    'a document with another port',
    () => composed('127.0.0.1:6379:', '127.0.0.1:6380:'),
    'README.md:1  redis://localhost:6379 does not reach',
  ],
  [
    'a document with another password',
    () => composed('PASSWORD: cattlegrid', 'PASSWORD: other'),
    'README.md:1  postgresql://',
  ],
  [
    'a message with another database',
    () => ({ 'packages/core/src/a.ts': "const a = 'postgres://cattlegrid:cattlegrid@localhost/shop'\n" }),
    'a.ts:1  postgres://',
  ],
  [
    'a variable that no document tells of',
    () => ({ 'packages/core/src/a.ts': 'export const a = process.env.SECRET_SWITCH\n' }),
    'a.ts:1  reads SECRET_SWITCH',
  ],
]

describe('the check of docker-compose.yml', () => {
  it('passes when schema, documents and code agree', async () => {
    expect(await runOn(clean, 'check-compose.mjs')).toEqual({
      failed: false,
      text: expect.stringContaining('2 services'),
    })
  })
  it.each(breaks)('reports %s', async (_, changes, words) => {
    const { failed, text } = await runOn({ ...clean, ...changes() }, 'check-compose.mjs')
    expect(failed).toBe(true)
    expect(text).toContain(words)
  })
})
