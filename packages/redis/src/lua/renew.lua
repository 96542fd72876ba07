-- Extend leases, each only if its token still holds it.
--   KEYS[1...] leases
--   ARGV[1] duration from now, ms   ARGV[2...] their tokens
-- Returns a list, in the order of the leases: 1 renewed, -1 no lease, -2 another token's.
local answers, tokens = {}, {unpack(ARGV, 2)}
for index = 1, #KEYS do
  local lease = KEYS[index]
  local value = redis.pcall('GET', lease)
  if not value then
    answers[index] = -1
  elseif type(value) ~= 'string' or string.sub(value, 1, 23) ~= 'L' .. tokens[index] then
    answers[index] = -2
  else
    redis.call('PEXPIRE', lease, ARGV[1])
    -- The lease says how long it can live.
    if tonumber(ARGV[1]) > (tonumber(string.sub(value, 45, 59)) or 0) then
      redis.pcall('SETRANGE', lease, 44, string.format('%015.0f', tonumber(ARGV[1])))
    end
    answers[index] = 1
  end
end
return answers
