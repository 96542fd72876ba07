-- Tell the tag sequence and the numbers of tags; what has no number yet gets one.
--   KEYS[1] sequence   KEYS[2...] tags
--   ARGV[1] how long the entry that carries the tags may live, ms
-- Returns the sequence, then one number for each tag.
local sequence = redis.call('GET', KEYS[1])
if not sequence then
  local time = redis.call('TIME')
  sequence = string.format('%.0f', time[1] * 1000000 + time[2])
  redis.call('SET', KEYS[1], sequence)
end
local numbers = {sequence}
for place = 2, #KEYS do
  redis.call('SET', KEYS[place], sequence, 'NX')
  numbers[place] = redis.call('GET', KEYS[place])
  if redis.call('PTTL', KEYS[place]) < tonumber(ARGV[1]) then redis.call('PEXPIRE', KEYS[place], ARGV[1]) end
end
return numbers
