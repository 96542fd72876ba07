-- Acquire the lease of an entry, for a caller that has seen the present version of the entry.
--   KEYS[1] entry   KEYS[2] lease
--   ARGV[1] token   ARGV[2] duration, ms   ARGV[3] version seen, '' for no entry   ARGV[4] '1' to publish the end of the lease
--   ARGV[5] latest moment, server time in µs, '' for none   ARGV[6] longest cooldown to believe, ms, '' for any
--   ARGV[7] name of the caller's process, which no step reads
-- Returns {1, version to commit, attempts, server time, '1' if a foreign value was in its place} granted; {2, ms left, lease value} held; {3} changed; {4, ms left, attempts, failure} cooling;
--   {5, ms left, share} uncacheable; {6, ms left} held off; {7, server time} too late.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
-- The connection was given up, and delivers late: nobody would use the lease.
if now > (tonumber(ARGV[5]) or now) then return {7, string.format('%.0f', now)} end
local version = redis.call('GETRANGE', KEYS[1], 24, 39)
if version ~= ARGV[3] then return {3} end
local value, left = redis.pcall('GET', KEYS[2]), redis.call('PTTL', KEYS[2])
-- What no step writes is foreign: another type, another form, no time to live. It must not block the key.
local forms = {L = string.rep('[%w_-]', 22) .. '[+-]%d%d%d%d', X = string.rep('%d', 12), U = '[01]', H = '%d*$'}
local form = type(value) == 'string' and left >= 0 and forms[string.sub(value, 1, 1)]
local foreign = value and not (form and string.find(value, '^.' .. form))
if foreign or not value then value, left = '', 0 end
local kind, attempts, awaited = string.sub(value, 1, 1), 0, '-'
if kind == 'X' then attempts = tonumber(string.sub(value, 10, 13)) or 0 end
-- Each value says how long it can live. With more than that left, the server's clock was set back: it counts as ended. A second more is a correction of the clock.
local places = {L = string.sub(value, 45, 59), U = string.sub(value, 3, 17), H = string.sub(value, 2, 16), X = string.match(value, '\n%d(%d+)$')}
local longest = (tonumber(places[kind]) or left) + 1000
if left > 0 and left <= longest then
  if kind == 'U' then return {5, left, string.sub(value, 2, 2)} end
  if kind == 'H' then return {6, left} end
  if kind == 'X' then
    local cooling = left - (tonumber(string.sub(value, 2, 9)) or 0)
    if cooling > 0 and cooling <= (tonumber(ARGV[6]) or cooling) then return {4, cooling, attempts, string.sub(value, 14)} end
  elseif kind == 'L' and string.sub(value, 2, 23) == ARGV[1] then
    -- The same token: the reply to its first acquire was lost.
    awaited, attempts = string.sub(value, 24, 24), tonumber(string.sub(value, 25, 28)) or 0
  else
    local unawaited = kind == 'L' and string.sub(value, 24, 24) == '-'
    if unawaited and ARGV[4] == '1' then
      -- The PEXPIRE changes nothing: a server without memory refuses the SETRANGE unless the script has already written.
      redis.pcall('PEXPIRE', KEYS[2], left)
      redis.pcall('SETRANGE', KEYS[2], 23, '+')
    end
    return {2, left, string.sub(value, 1, 200)}
  end
end
-- Without the mark of an explicit expiry, which is a letter in the place of the first digit.
local digits = string.gsub(version, '^[p-y]', function(letter) return string.char(string.byte(letter) - 64) end)
local previous = tonumber(digits)
local next = (previous and previous >= now and previous < 9007199254740000) and previous + 1 or now
local head = 'L' .. ARGV[1] .. awaited .. string.format('%04.0f%016.0f%015.0f', attempts, now, tonumber(ARGV[2]) or 0)
redis.call('SET', KEYS[2], head .. (ARGV[7] or ''), 'PX', ARGV[2])
return {1, string.format('%016.0f', next), attempts, string.format('%.0f', now), foreign and '1' or '0'}
