-- Put the text of one process on a board, take down those whose time is over, and read the rest.
--   KEYS[1] board: a hash; '#' has the round and the heading, every other field the end of a text, µs, and the text
--   ARGV[1] process   ARGV[2] text   ARGV[3] time to keep it, ms   ARGV[4] round that the heading follows, '' for no heading   ARGV[5] heading   ARGV[6] time to keep the board, ms
-- Returns the moment, µs, the round, the heading, and each process with its text.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
redis.call('HSET', KEYS[1], ':' .. ARGV[1], string.format('%.0f', now + ARGV[3] * 1000) .. ' ' .. ARGV[2])
local top = redis.call('HGET', KEYS[1], '#') or '0 '
local round, heading = string.match(top, '^(%d+) (.*)$')
if ARGV[4] ~= '' and ARGV[4] == round then
  round, heading = string.format('%.0f', round + 1), ARGV[5]
  redis.call('HSET', KEYS[1], '#', round .. ' ' .. heading)
end
local reply = { string.format('%.0f', now), round, heading }
local fields = redis.call('HGETALL', KEYS[1])
for place = 1, #fields, 2 do
  local process, ends, text = string.match(fields[place], '^:(.*)$'), string.match(fields[place + 1], '^(%d+) (.*)$')
  -- A text with more left than any process asks for was posted before the clock was set back.
  if process and (tonumber(ends) <= now or tonumber(ends) > now + ARGV[6] * 1000) then
    redis.call('HDEL', KEYS[1], fields[place])
  elseif process then
    reply[#reply + 1], reply[#reply + 2] = process, text
  end
end
redis.call('PEXPIRE', KEYS[1], ARGV[6])
return reply
