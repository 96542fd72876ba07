// What the real middleware and plugins around the adapters, and other versions of HTTP, would notice.
const http = (name) => `packages/http/src/${name}.ts`
const express = (name) => [`packages/express/test/${name}.test.ts`]
const fastify = (name) => [`packages/fastify/test/${name}.test.ts`]

/** @type {import('../table.mjs').Guard[]} */
export const guards = [
  {
    guarantee: 'HTTP',
    guard: 'a leader over HTTP/2, whose raw fields cannot be assigned to, leads',
    file: http('normalise'),
    find: "Object.defineProperty(req, 'rawHeaders', { value, configurable: true, enumerable: true, writable: true })",
    replace: 'req.rawHeaders = value',
    tests: fastify('http2'),
    titles: 'fields of a connection',
  },
  {
    guarantee: 'HTTP',
    guard: 'a handler over HTTP/2 that fails because its stream was reset fails for nobody else',
    file: 'packages/fastify/src/raw-response.ts',
    find: 'return raw.destroyed || socket.destroyed',
    replace: 'return raw.destroyed',
    tests: fastify('http2'),
    titles: 'whose handler fails because of that',
  },
  {
    guarantee: 'G9',
    guard: 'the cookie that express-session sends while the head goes down keeps the answer from everybody else',
    file: http('storable'),
    find: " || 'set-cookie' in outer",
    replace: '',
    tests: express('sessions'),
    titles: '50 visitors',
  },
  {
    guarantee: 'G9',
    guard: 'the cookie that @fastify/session sends in its own hook keeps the answer from everybody else',
    file: 'packages/fastify/src/record.ts',
    find: 'outer: fields, bodyLength',
    replace: 'outer: {}, bodyLength',
    tests: fastify('sessions'),
    titles: '50 visitors',
  },
  {
    guarantee: 'G9',
    guard: 'what cors and helmet set for a leader is not stored',
    file: http('recorded-fields'),
    find: 'sameValue(value, before[name])) continue',
    replace: 'false) continue',
    tests: express('security-fields'),
  },
]
