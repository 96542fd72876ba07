import { register } from 'node:module'

// Node 22.18 and later strip the types themselves.
if (process.features.typescript === undefined || process.features.typescript === false) {
  process.setSourceMapsEnabled(true)
  register('./hooks.mjs', import.meta.url)
}
