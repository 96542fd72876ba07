/** For each option of a route, values that it must refuse. */
export const optionsTable: Record<string, Record<string, unknown>> = {
  RouteOptions: {
    ttl: [null, Number.NaN, -1, 0, '30 parsecs', '30', 'Origin', '', true, {}, [], Number.POSITIVE_INFINITY],
    staleWhileRevalidate: [null, Number.NaN, -1, '5 min', false, {}, Number.POSITIVE_INFINITY, '50d'],
    staleIfError: [null, Number.NaN, -1, '1hour', false, {}, Number.POSITIVE_INFINITY, '50d'],
    softTimeout: [null, Number.NaN, -1, '1 s', true, {}, Number.POSITIVE_INFINITY],
    jitter: [null, Number.NaN, -0.1, 1, '10%', true, Number.POSITIVE_INFINITY],
    loadTimeout: [null, Number.NaN, -1, 0, 'never', false, {}, Number.POSITIVE_INFINITY],
    waitTimeout: [null, Number.NaN, -1, 'never', false, {}, Number.POSITIVE_INFINITY],
    lease: [
      ...[null, Number.NaN, -1, '5s', true, [], Number.POSITIVE_INFINITY],
      ...[
        { duration: 1 },
        { duration: Number.NaN },
        { maxHold: null },
        { length: 1 },
        { duration: '10s', maxHold: '5s' },
      ],
    ],
    failureCooldown: [
      ...[null, Number.NaN, -1, '5s', false, [], Number.POSITIVE_INFINITY],
      ...[{ min: 0 }, { max: 'soon' }, { mid: 1 }, { min: '10s', max: '1s' }],
    ],
    negativeTtl: [null, Number.NaN, -1, '5', true, {}, Number.POSITIVE_INFINITY],
    skip: [null, Number.NaN, -1, true, 'GET', {}, Number.POSITIVE_INFINITY],
    maxBodyBytes: [null, Number.NaN, -1, '1 mb', '1m', true, {}, Number.POSITIVE_INFINITY],
    cacheStatus: [null, Number.NaN, -1, 1, '', 'two words', 'a;b', 'a\r\nb', '1st', {}, Number.POSITIVE_INFINITY],
  },
}
