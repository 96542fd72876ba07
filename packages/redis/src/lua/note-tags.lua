-- Read the tag sequence and the numbers of tags, and create those that are missing or are no tag numbers.
--   KEYS[1] sequence   KEYS[2...] tags
--   ARGV[1] minimum time to keep the numbers of the tags, ms
-- Returns the sequence, then one number for each tag.
local function number(key)
  local value = redis.pcall('GET', key)
  -- A greater number cannot be incremented exactly.
  local known = type(value) == 'string' and #value <= 16 and string.find(value, '^%d+$')
  return known and tonumber(value) < 9007199254740000 and value or nil
end
local sequence = number(KEYS[1])
if not sequence then
  local time = redis.call('TIME')
  sequence = string.format('%.0f', time[1] * 1000000 + time[2])
  redis.call('SET', KEYS[1], sequence)
end
local numbers = {sequence}
for place = 2, #KEYS do
  numbers[place] = number(KEYS[place])
  if not numbers[place] then
    redis.call('SET', KEYS[place], sequence)
    numbers[place] = sequence
  end
  if redis.call('PTTL', KEYS[place]) < tonumber(ARGV[1]) then redis.call('PEXPIRE', KEYS[place], ARGV[1]) end
end
return numbers
