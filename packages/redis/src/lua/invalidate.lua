-- Delete or expire an entry, and void its lease, cooldown or uncacheable mark.
--   KEYS[1] entry   KEYS[2] lease
--   ARGV[1] 'delete' or 'expire'   ARGV[2] channel   ARGV[3] message   ARGV[4] hold-off, ms, '0' for none: a longer one that runs stays
--   ARGV[5] sharded channel, if the message belongs there: only if another node serves that is it published on the channel of all
-- Returns 1.
local held, left = redis.pcall('GET', KEYS[2]), 0
if type(held) == 'string' and string.sub(held, 1, 1) == 'H' then
  left = redis.call('PTTL', KEYS[2])
  -- More than it can have left: the server's clock was set back, and it counts as ended.
  if left > (tonumber(string.sub(held, 2, 16)) or left) + 1000 then left = 0 end
end
-- The lease first: after an error below, a lease that still exists could commit.
redis.call('DEL', KEYS[2])
if ARGV[1] == 'delete' then
  redis.call('UNLINK', KEYS[1])
else
  local head, stale = redis.pcall('GETRANGE', KEYS[1], 0, 39), 0
  -- Leave a foreign value as it is: it is never fresh.
  if type(head) == 'string' and #head == 40 and string.byte(head) == 197 then
    for place = 11, 16 do stale = stale * 256 + string.byte(head, place) end
    local left = redis.call('PTTL', KEYS[1])
    -- The mark beside the version makes the entry stale whatever its time to live: the server's clock may step back. A process that does not know the mark
    -- finds a stale window as long as the whole life of the entry, so that it is never fresh there, either.
    local mark = string.char(bit.bor(string.byte(head, 25), 64))
    redis.call('SETRANGE', KEYS[1], 10, string.sub(head, 5, 10) .. string.sub(head, 17, 24) .. mark)
    if stale == 0 then
      redis.call('UNLINK', KEYS[1])
    elseif left > stale or left == -1 then
      redis.call('PEXPIRE', KEYS[1], string.format('%.0f', stale))
    end
  end
end
local holdOff = left > (tonumber(ARGV[4]) or 0) and string.format('%.0f', left) or ARGV[4]
if holdOff ~= '0' then redis.call('SET', KEYS[2], 'H' .. string.format('%015.0f', tonumber(holdOff) or 0), 'PX', holdOff) end
if type(ARGV[5] and redis.pcall('SPUBLISH', ARGV[5], ARGV[3])) ~= 'number' then redis.pcall('PUBLISH', ARGV[2], ARGV[3]) end
return 1
