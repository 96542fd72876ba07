const noText = [null, Number.NaN, Infinity, -1, 0, 1, true, {}, [], () => undefined]
const noObject = [null, Number.NaN, Infinity, -1, '30s', '', true, {}, [], () => undefined]

/** What each option refuses. */
export const optionsTable: Record<string, Record<string, unknown>> = {
  RedisStoreOptions: {
    client: [...noObject, 'redis://127.0.0.1:6379', { sendCommand: () => undefined }],
    url: [...noText, '', '127.0.0.1:6379', 'http://127.0.0.1', 'redis://', 'redis://:port', '250ms'],
    namespace: [...noText, '', 'a b', 'a{b', 'a}b', 'a\nb', '\uD800', 'n'.repeat(129)],
    watchdog: [null, Number.NaN, Infinity, -1, 0, 99, 60_001, true, 'soon', '2', {}, [], () => undefined],
    shardedNotices: [null, Number.NaN, 0, 1, 'true', {}, [], () => undefined],
    runtime: [...noObject, { now: () => 0 }],
  },
}
