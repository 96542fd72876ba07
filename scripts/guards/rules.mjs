/** What the protocol of docs/protocol.md must not do without: a simpler one has been seen to break where each of these is missing. */
export const rules = {
  'no-end': 'A value at a lease key without an end is free',
  'void-first': 'An invalidation voids the lease before anything that may fail',
  'life-first': 'A record has its time to live before it takes the entry’s name',
  'foreign-strings': 'Expiring by hand changes no string that is not ours',
  'zero-version': 'What was expired by hand is never fresh, whatever the time left says',
  'time-first': 'A read asks for the time left before the bytes',
  'late-grant': 'A grant that comes too late is given back, and adopted by nobody',
  'two-flights': 'A read is joined until its answer, a load until its commit is sent',
  'at-the-answer': 'An invalidation lets go of what began before it when it is answered',
  'same-epoch': 'A copy is kept only of a read that no invalidation has overtaken',
  'two-passes': 'A clear removes all leases before it removes an entry',
  'sequence-first': 'The tag sequence is noted before the load begins',
  'missing-tag': 'A tag that has no number any more counts as fallen',
  'tags-again': 'The tags’ numbers are read again with the commit',
  'ask-again': 'A tag’s number that seems too great is asked for again before anybody loads',
}
