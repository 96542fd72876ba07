import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--allow-natives-syntax')

/** True if V8 keeps the properties of the object in a table, and so makes no hidden class for them. */
export const hasPropertyTable = runInNewContext('(object) => !%HasFastProperties(object)') as (
  object: object,
) => boolean

/** True on Node 20 and 22, whose V8 does not share the hidden classes of objects with a replaced prototype. */
export const tablesPay: boolean = Number.parseInt(process.versions.v8, 10) < 13
