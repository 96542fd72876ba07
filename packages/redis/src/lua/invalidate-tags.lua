-- Give tags a new number, greater than that of every load that has begun.
--   KEYS[1] sequence   KEYS[2...] tags
--   ARGV[1] channel   ARGV[2] tags, for the message
-- Returns the number.
local time, last = redis.call('TIME'), tonumber(redis.call('GET', KEYS[1]) or 0) or 0
local number = string.format('%.0f', math.max(time[1] * 1000000 + time[2], last + 1))
redis.call('SET', KEYS[1], number)
-- A tag without a number is on no entry that may still be served.
for place = 2, #KEYS do redis.call('SET', KEYS[place], number, 'XX', 'KEEPTTL') end
redis.pcall('PUBLISH', ARGV[1], 'tags ' .. number .. ' ' .. ARGV[2])
return number
