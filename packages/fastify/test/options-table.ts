/** For each option of the plugin, values that it must refuse. */
export const optionsTable: Record<string, Record<string, unknown>> = {
  CattlegridOptions: {
    cache: [null, 'memory', 1, {}, { lookup: 1 }],
    close: [null, true, 7, '5s', { drain: -1 }, { drain: 'soon' }, { wait: 1 }],
    defaults: [null, 'ttl=1', 1, [], { ttl: Number.NaN }, { ttl: -1 }, { timeToLive: 1 }],
  },
  RouteCacheOptions: {
    cache: [null, 'memory', 1, {}, { lookup: 1 }],
  },
}
