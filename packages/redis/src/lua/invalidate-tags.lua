-- Invalidate tags, or expire them: give them a new number, greater than the sequence of every load that has begun.
--   KEYS[1] sequence   KEYS[2...] tags
--   ARGV[1] 'delete' or 'expire'   ARGV[2] channel   ARGV[3] tags, for the message
-- Returns the number.
local time, last, invalidated = redis.call('TIME'), 0, {}
-- Greater than every known number: if the sequence is lost and the clock was set back, no tag's number may decrease.
for place = 1, #KEYS do
  local value = redis.pcall('GET', KEYS[place])
  value = type(value) == 'string' and #value <= 33 and value or ''
  local known = string.find(value, '^%d+$') or string.find(value, '^%d+ %d+$')
  for digits in string.gmatch(value, '%d+') do
    local number = tonumber(digits)
    -- Ignore a value with a number that is too great to increment exactly.
    if number >= 9007199254740000 then known = nil elseif number > last then last = number end
  end
  invalidated[place] = known and string.match(value, '^%d+')
end
local number = string.format('%.0f', math.max(time[1] * 1000000 + time[2], last + 1))
-- The DEL comes first: a server without memory refuses the SET unless the script has already written.
redis.call('DEL', KEYS[1])
redis.call('SET', KEYS[1], number)
-- Only tags with a number: an entry that carries a tag without one is never served. An expiry keeps the number of the last invalidation in front; where
-- that is unknown, it invalidates.
for place = 2, #KEYS do
  local kept = ARGV[1] == 'expire' and invalidated[place]
  redis.call('SET', KEYS[place], kept and kept .. ' ' .. number or number, 'XX', 'KEEPTTL')
end
redis.pcall('PUBLISH', ARGV[2], 'tags ' .. number .. ' ' .. ARGV[1] .. ' ' .. ARGV[3])
return number
