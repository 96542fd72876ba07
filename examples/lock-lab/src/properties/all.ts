import { PROPERTY_NAMES, type PropertyName } from '../property-name.ts'
import { foreignRelease, foreignRenew, uniqueToken } from './foreign.ts'
import type { Property } from './property.ts'
import { clockSkew, livenessAfterCrash, losersDoNotExtend, twoConcurrentCallers } from './taking.ts'
import { doubleCheck, failover, lateWrite, lockEvicted, serverRestarted, writeAfterInvalidation } from './writing.ts'

const byName: Readonly<Record<PropertyName, Property>> = {
  'liveness after crash': livenessAfterCrash,
  'losers do not extend': losersDoNotExtend,
  'two concurrent callers': twoConcurrentCallers,
  'foreign release': foreignRelease,
  'foreign renew': foreignRenew,
  'unique token': uniqueToken,
  'clock skew': clockSkew,
  'late write': lateWrite,
  'write after invalidation': writeAfterInvalidation,
  'double check': doubleCheck,
  'lock evicted': lockEvicted,
  'server restarted': serverRestarted,
  failover,
}

export const properties: readonly Property[] = PROPERTY_NAMES.map((name) => byName[name])
