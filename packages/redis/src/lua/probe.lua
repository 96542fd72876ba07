-- Tell whether the server runs the scripts of the store: it may know none, or be older than 7. Changes nothing.
--   KEYS[1] a key that nothing writes
-- Returns 1; an error where the server does not know a form of a command that the store sends.
-- Other refusals are none of its business: a server without memory serves reads.
local reply = redis.pcall('PEXPIRE', KEYS[1], '1', 'LT')
if type(reply) == 'table' and string.find(reply.err or '', 'rong number of arg') then
  return {err = 'ERR wrong number of arguments for PEXPIRE with LT'}
end
return 1
