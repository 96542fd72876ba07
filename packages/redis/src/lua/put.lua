-- Write an entry without a lease, with a version newer than the present one, and void the lease. Give tags that have no number the tag sequence.
--   KEYS[1] entry   KEYS[2] lease   KEYS[3...] temporary key, if the record is long; the tag sequence and the tags, if there are any
--   ARGV[1] time to keep, ms   ARGV[2] channel   ARGV[3] message   ARGV[4] record, '' if it is long
--   ARGV[5] latest moment, server time in µs, '' for none   ARGV[6] minimum time to keep the numbers of the tags, ms
--   ARGV[7] sharded channel, if the message belongs there
-- Returns {1, version written, server time}; {0} the temporary key is gone; {7, server time} too late.
local time, temporary = redis.call('TIME'), ARGV[4] == '' and KEYS[3] or nil
local now = time[1] * 1000000 + time[2]
if now > (tonumber(ARGV[5]) or now) then
  -- The connection was given up, and delivers late: later steps have been executed by now.
  if temporary then redis.call('UNLINK', temporary) end
  return {7, string.format('%.0f', now)}
end
-- Without the mark of an explicit expiry, which is a letter in the place of the first digit.
local unmark = function(letter) return string.char(string.byte(letter) - 64) end
local digits = string.gsub(redis.call('GETRANGE', KEYS[1], 24, 39), '^[p-y]', unmark)
local previous = tonumber(digits)
local next = (previous and previous >= now and previous < 9007199254740000) and previous + 1 or now
local version, sequence = string.format('%016.0f', next), nil
if temporary and redis.call('PEXPIRE', temporary, ARGV[1]) == 0 then return {0} end
-- The first of these keys is the tag sequence. It also replaces what is no tag number, or is too great to increment exactly.
for place = temporary and 4 or 3, #KEYS do
  local value = redis.pcall('GET', KEYS[place])
  local number, rest = string.match(type(value) == 'string' and value or '', '^(%d+)(.*)$')
  -- The number of an expiry may follow that of the last invalidation of a tag.
  local known = number and #number <= 16 and #rest <= 17 and (rest == '' or sequence and string.find(rest, '^ %d+$'))
  if not known or tonumber(number) >= 9007199254740000 or (tonumber(rest) or 0) >= 9007199254740000 then
    number = sequence or string.format('%.0f', now)
    redis.call('SET', KEYS[place], number)
  end
  if not sequence then
    sequence = number
  elseif redis.call('PTTL', KEYS[place]) < tonumber(ARGV[6]) then
    redis.call('PEXPIRE', KEYS[place], ARGV[6])
  end
end
local packed = sequence and struct.pack('>I8', tonumber(sequence))
if temporary then
  redis.call('SETRANGE', temporary, 24, version)
  if packed then redis.call('SETRANGE', temporary, 44, packed) end
  redis.call('RENAME', temporary, KEYS[1])
else
  local tail = packed and string.sub(ARGV[4], 41, 44) .. packed .. string.sub(ARGV[4], 53) or string.sub(ARGV[4], 41)
  redis.call('SET', KEYS[1], string.sub(ARGV[4], 1, 24) .. version .. tail, 'PX', ARGV[1])
end
redis.call('DEL', KEYS[2])
if type(ARGV[7] and redis.pcall('SPUBLISH', ARGV[7], ARGV[3])) ~= 'number' then redis.pcall('PUBLISH', ARGV[2], ARGV[3]) end
return {1, version, string.format('%.0f', now)}
