-- Invalidate tags, or expire them: give them a new number, greater than the sequence of every load that has begun.
--   KEYS[1] sequence   KEYS[2...] tags
--   ARGV[1] 'delete' or 'expire'   ARGV[2] channel   ARGV[3] tags, for the message   ARGV[4] end of the expiry, ms from now, or empty
-- Returns the number.
local time, last, invalidated, ends = redis.call('TIME'), 0, {}, {}
local now = time[1] * 1000000 + time[2]
-- Greater than every known number: if the sequence is lost and the clock was set back, no tag's number may decrease.
for place = 1, #KEYS do
  local value = redis.pcall('GET', KEYS[place])
  value = type(value) == 'string' and #value <= 50 and value or ''
  local known = string.find(value, '^%d+$') or string.find(value, '^%d+ %d+$') or string.find(value, '^%d+ %d+ %d+$')
  for digits in string.gmatch(value, '%d+') do
    -- Ignore a value with a number that is too great to increment exactly.
    if tonumber(digits) >= 9007199254740000 then known = nil end
  end
  local first, expired, ending = string.match(known and value or '', '^(%d+) ?(%d*) ?(%d*)$')
  last = math.max(last, tonumber(first) or 0, tonumber(expired) or 0)
  -- The end of an earlier expiry has come, or stays: a later one prolongs nothing.
  if ending and ending ~= '' and tonumber(ending) <= now then first, ending = expired, '' end
  invalidated[place], ends[place] = first, tonumber(ending or '')
end
local number = string.format('%.0f', math.max(now, last + 1))
-- The DEL comes first: a server without memory refuses the SET unless the script has already written.
redis.call('DEL', KEYS[1])
redis.call('SET', KEYS[1], number)
-- Only tags with a number: an entry that carries a tag without one is never served. An expiry keeps the number of the last invalidation in front, and its
-- end behind, as a time of this server, µs; where that number is unknown, it invalidates.
local own = tonumber(ARGV[4]) and now + tonumber(ARGV[4]) * 1000
for place = 2, #KEYS do
  local value, ending = number, own
  if ends[place] and ends[place] < (own or math.huge) then ending = ends[place] end
  if ARGV[1] == 'expire' and invalidated[place] then
    value = invalidated[place] .. ' ' .. number .. (ending and string.format(' %.0f', ending) or '')
  end
  redis.call('SET', KEYS[place], value, 'XX', 'KEEPTTL')
end
-- A process that hears of an expiry with an end asks for the numbers before it serves what carries the tag.
redis.pcall('PUBLISH', ARGV[2], 'tags ' .. number .. ' ' .. (own and 'delete' or ARGV[1]) .. ' ' .. ARGV[3])
return number
