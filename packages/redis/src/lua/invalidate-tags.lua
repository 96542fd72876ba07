-- Invalidate tags: give them a new number, greater than the sequence of every load that has begun.
--   KEYS[1] sequence   KEYS[2...] tags
--   ARGV[1] channel   ARGV[2] tags, for the message
-- Returns the number.
local time, last = redis.call('TIME'), 0
-- Greater than every known number: if the sequence is lost and the clock was set back, no tag's number may decrease.
for place = 1, #KEYS do
  local value = redis.pcall('GET', KEYS[place])
  local number = type(value) == 'string' and tonumber(value) or 0
  -- Ignore a value that is no tag number, or that is too great to increment exactly.
  if number > last and number < 9007199254740000 then last = number end
end
local number = string.format('%.0f', math.max(time[1] * 1000000 + time[2], last + 1))
-- The DEL comes first: a server without memory refuses the SET unless the script has already written.
redis.call('DEL', KEYS[1])
redis.call('SET', KEYS[1], number)
-- Only tags with a number: an entry that carries a tag without one is never served.
for place = 2, #KEYS do redis.call('SET', KEYS[place], number, 'XX', 'KEEPTTL') end
redis.pcall('PUBLISH', ARGV[1], 'tags ' .. number .. ' ' .. ARGV[2])
return number
