-- Write an entry without a lease, with a version newer than the present one, and void the lease.
--   KEYS[1] entry   KEYS[2] lease   KEYS[3] temporary key with the record, if it is long
--   ARGV[1] time to keep, ms   ARGV[2] channel   ARGV[3] message   ARGV[4] record, if it is short
-- Returns the version written, or '' when the temporary key is gone.
local time, previous = redis.call('TIME'), tonumber(redis.call('GETRANGE', KEYS[1], 24, 39))
local now = time[1] * 1000000 + time[2]
local next = (previous and previous >= now and previous < 9007199254740000) and previous + 1 or now
local version = string.format('%016.0f', next)
if KEYS[3] then
  if redis.call('PEXPIRE', KEYS[3], ARGV[1]) == 0 then return '' end
  redis.call('SETRANGE', KEYS[3], 24, version)
  redis.call('RENAME', KEYS[3], KEYS[1])
else
  local record = string.sub(ARGV[4], 1, 24) .. version .. string.sub(ARGV[4], 41)
  redis.call('SET', KEYS[1], record, 'PX', ARGV[1])
end
redis.call('DEL', KEYS[2])
redis.pcall('PUBLISH', ARGV[2], ARGV[3])
return version
