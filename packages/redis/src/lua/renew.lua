-- Extend a lease, but only if the token still holds it.
--   KEYS[1] lease
--   ARGV[1] token   ARGV[2] duration from now, ms
-- Returns 1 renewed, -1 no lease, -2 another token's.
local value = redis.pcall('GET', KEYS[1])
if not value then return -1 end
if type(value) ~= 'string' or string.sub(value, 1, 23) ~= 'L' .. ARGV[1] then return -2 end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
-- The lease says how long it can live.
if tonumber(ARGV[2]) > (tonumber(string.sub(value, 45, 59)) or 0) then
  redis.pcall('SETRANGE', KEYS[1], 44, string.format('%015.0f', tonumber(ARGV[2])))
end
return 1
