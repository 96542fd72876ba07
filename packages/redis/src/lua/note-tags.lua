-- Read the tag sequence and the numbers of tags, and create those that are missing or are no tag numbers.
--   KEYS[1] sequence   KEYS[2...] tags
--   ARGV[1] minimum time to keep the numbers of the tags, ms
-- Returns the sequence, then the number of the last invalidation of each tag.
local function read(key)
  local value = redis.pcall('GET', key)
  -- The number of the last invalidation, then that of an expiry, if there was one, and the end of that, if it has one.
  local number, rest = string.match(type(value) == 'string' and value or '', '^(%d+)(.*)$')
  if not number or rest ~= '' and not string.find(rest, '^ %d+$') and not string.find(rest, '^ %d+ %d+$') then return nil end
  for digits in string.gmatch(value, '%d+') do
    -- A greater number cannot be incremented exactly.
    if #digits > 16 or tonumber(digits) >= 9007199254740000 then return nil end
  end
  return number, rest
end
local sequence, rest = read(KEYS[1])
if not sequence or rest ~= '' then
  local time = redis.call('TIME')
  sequence = string.format('%.0f', time[1] * 1000000 + time[2])
  redis.call('SET', KEYS[1], sequence)
end
local numbers = {sequence}
for place = 2, #KEYS do
  numbers[place] = read(KEYS[place])
  if not numbers[place] then
    redis.call('SET', KEYS[place], sequence)
    numbers[place] = sequence
  end
  if redis.call('PTTL', KEYS[place]) < tonumber(ARGV[1]) then redis.call('PEXPIRE', KEYS[place], ARGV[1]) end
end
return numbers
