/** What the library promises; a guard serves one of these. */
export const guarantees = {
  G1: 'one load at a time for a key, in the whole fleet',
  G2: 'only who still holds the lease may write',
  G3: 'what was invalidated does not come back',
  G4: 'a dead or hung leader blocks nobody for long',
  G5: 'a failing loader is called once per cooldown, and hangs nobody',
  G6: 'a store that does not answer hangs nobody',
  G7: 'no clock of a host decides what is fresh',
  G8: 'nothing grows without a bound',
  G9: 'an unshareable result reaches its own caller only',
  HTTP: 'an answer goes to those who may have it, as it was made',
  API: 'a call gets what its options say, and is told the truth',
}
