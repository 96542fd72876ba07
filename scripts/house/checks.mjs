import { checkComments } from './comments.mjs'
import { checkDocs } from './docs.mjs'
import { checkGuards } from './guards.mjs'
import { checkLua } from './lua.mjs'
import { checkMaps } from './maps.mjs'
import { checkNames } from './names.mjs'
import { checkOptions } from './options.mjs'
import { checkTests } from './tests.mjs'
import { checkWords } from './words.mjs'

/** The checks by the name of each. */
export const checks = {
  lua: checkLua,
  names: checkNames,
  words: checkWords,
  comments: checkComments,
  maps: checkMaps,
  options: checkOptions,
  docs: checkDocs,
  guards: checkGuards,
  tests: checkTests,
}
