-- End a lease without a commit, but only if the token still holds it: delete it, or put a mark in its place.
--   KEYS[1] lease   KEYS[2] entry, if it is to be deleted too
--   ARGV[1] token   ARGV[2] mark, '' for none   ARGV[3] time to keep the mark, ms   ARGV[4] channel   ARGV[5] message
--   ARGV[6] sharded channel, if the message belongs there
-- Returns 1 ended, -1 no lease, -2 another token's.
local value = redis.pcall('GET', KEYS[1])
if not value then return -1 end
if type(value) ~= 'string' or string.sub(value, 1, 23) ~= 'L' .. ARGV[1] then return -2 end
-- Other processes may have copies of the deleted entry.
local tell = KEYS[2] and redis.call('UNLINK', KEYS[2]) == 1 or string.sub(value, 24, 24) == '+'
-- If the server has no memory for the mark, the lease ends without one.
if ARGV[2] == '' or redis.pcall('SET', KEYS[1], ARGV[2], 'PX', ARGV[3]).err then redis.call('DEL', KEYS[1]) end
if tell and type(ARGV[6] and redis.pcall('SPUBLISH', ARGV[6], ARGV[5])) ~= 'number' then
  redis.pcall('PUBLISH', ARGV[4], ARGV[5])
end
return 1
