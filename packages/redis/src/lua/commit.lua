-- Write an entry and end the lease, but only if the token still holds it.
--   KEYS[1] entry   KEYS[2] lease   KEYS[3] temporary key with the record, if it is long
--   ARGV[1] token   ARGV[2] time to keep, ms   ARGV[3] channel   ARGV[4] message   ARGV[5] record, '' if it is long
--   ARGV[6] sharded channel, if the message belongs there
-- Returns 1 written, -1 no lease, -2 another token's, -3 the temporary key is gone.
local value = redis.pcall('GET', KEYS[2])
if type(value) ~= 'string' or string.sub(value, 1, 23) ~= 'L' .. ARGV[1] then
  if KEYS[3] then redis.call('UNLINK', KEYS[3]) end
  return value and -2 or -1
end
-- Other processes may have copies of an entry that was still fresh.
local head, fresh = redis.pcall('GETRANGE', KEYS[1], 0, 39), false
if type(head) == 'string' and #head == 40 and string.byte(head) == 197 then
  fresh = redis.call('PTTL', KEYS[1]) > struct.unpack('>I6', head, 11)
end
if KEYS[3] then
  -- Before the RENAME, which keeps the time to live: if Redis refuses the number, nothing has changed.
  if redis.call('PEXPIRE', KEYS[3], ARGV[2]) == 0 then return -3 end
  redis.call('RENAME', KEYS[3], KEYS[1])
else
  redis.call('SET', KEYS[1], ARGV[5], 'PX', ARGV[2])
end
redis.call('DEL', KEYS[2])
local tell = fresh or string.sub(value, 24, 24) == '+'
if tell and type(ARGV[6] and redis.pcall('SPUBLISH', ARGV[6], ARGV[4])) ~= 'number' then
  redis.pcall('PUBLISH', ARGV[3], ARGV[4])
end
return 1
