/** For each option of the module, values that it must refuse. */
export const optionsTable: Record<string, Record<string, unknown>> = {
  CattlegridModuleOptions: {
    cache: [null, 'memory', 1, {}, { lookup: 1 }],
    options: [null, 'ttl=1', 1, { ttl: -1 }, { timeToLive: 1 }],
    defaults: [null, 'ttl=1', 1, [], { ttl: Number.NaN }, { ttl: -1 }, { timeToLive: 1 }],
  },
}
