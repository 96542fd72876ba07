-- End the permit of a background refresh. If nothing was loaded, give its share of the rate back.
--   KEYS[1] rate: the moment at which the next permit would be due, µs   KEYS[2] running: tokens, each with its end
--   ARGV[1] token ':' time to hold, ms   ARGV[2] the rate to give a share back to: most in a second, '0' for none
-- Returns 1.
redis.call('ZREM', KEYS[2], ARGV[1])
local due, rate = tonumber(redis.call('GET', KEYS[1])), tonumber(ARGV[2])
if due and rate > 0 then
  redis.call('SET', KEYS[1], string.format('%.0f', due - 1000000 / (0.9 * rate)), 'XX', 'KEEPTTL')
end
return 1
