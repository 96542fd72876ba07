-- Grant the permit of one background refresh, within a rate and a number at once.
--   KEYS[1] rate: the moment at which the next permit would be due, µs   KEYS[2] running: tokens, each with its end, µs
--   ARGV[1] token ':' time to hold, ms   ARGV[2] most in a second, '0' for no limit   ARGV[3] most at once, '0' for no limit   ARGV[4] time after which the refresh counts as ended, ms
-- Returns 0 granted, else the ms after which to ask again.
local time, rate, most = redis.call('TIME'), tonumber(ARGV[2]), tonumber(ARGV[3])
local now, early, interval = time[1] * 1000000 + time[2], math.floor(rate / 20), 0
if rate > 0 then interval = 1000000 / (0.9 * rate) end
local stored = rate > 0 and tonumber(redis.call('GET', KEYS[1])) or 0
-- Never further ahead than full use makes it: the clock may have been set back.
local due = math.max(now, math.min(stored, now + (early + 1) * interval))
local wait = due - early * interval - now
if wait > 0 then
  -- Written, too: else it would be as far ahead at each request until the clock is where it was.
  if stored > due + 1 then redis.call('SET', KEYS[1], string.format('%.0f', due), 'PX', math.ceil((due - now) / 1000) + 1000) end
  return math.ceil(wait / 1000)
end
if most > 0 then
  redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', string.format('%.0f', now))
  -- A permit with more left than it was granted for, because the clock was set back, counts as ended. Few others have more left than this one.
  local late = redis.call('ZRANGEBYSCORE', KEYS[2], string.format('(%.0f', now + (ARGV[4] + 1000) * 1000), '+inf', 'WITHSCORES')
  for place = 1, #late, 2 do
    local held = tonumber(string.match(late[place], ':(%d+)$'))
    if held and late[place + 1] - now > (held + 1000) * 1000 then redis.call('ZREM', KEYS[2], late[place]) end
  end
  if redis.call('ZCARD', KEYS[2]) >= most then return 50 end
  redis.call('ZADD', KEYS[2], string.format('%.0f', now + ARGV[4] * 1000), ARGV[1])
  if redis.call('PTTL', KEYS[2]) < tonumber(ARGV[4]) then redis.call('PEXPIRE', KEYS[2], ARGV[4]) end
end
if rate > 0 then
  redis.call('SET', KEYS[1], string.format('%.0f', due + interval), 'PX', math.ceil((due + interval - now) / 1000) + 1000)
end
return 0
