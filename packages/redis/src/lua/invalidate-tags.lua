-- Give tags a new number, greater than that of every load that has begun.
--   KEYS[1] sequence   KEYS[2...] tags
--   ARGV[1] channel   ARGV[2] tags, for the message
-- Returns the number.
local time, last = redis.call('TIME'), 0
-- Over every number that is known: should the sequence be lost and the clock have been set back, no tag's number may fall.
for place = 1, #KEYS do
  local value = redis.pcall('GET', KEYS[place])
  local number = type(value) == 'string' and tonumber(value) or 0
  -- What is no number of ours, or has lost its last digits, is not counted on from.
  if number > last and number < 9007199254740000 then last = number end
end
local number = string.format('%.0f', math.max(time[1] * 1000000 + time[2], last + 1))
-- A script that has written may go on writing: else a server without memory would refuse the SET.
redis.call('DEL', KEYS[1])
redis.call('SET', KEYS[1], number)
-- A tag without a number is on no entry that may still be served.
for place = 2, #KEYS do redis.call('SET', KEYS[place], number, 'XX', 'KEEPTTL') end
redis.pcall('PUBLISH', ARGV[1], 'tags ' .. number .. ' ' .. ARGV[2])
return number
