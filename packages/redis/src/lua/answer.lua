-- Append the answers of one process to those to a question, unless there are too many.
--   KEYS[1] list of answers
--   ARGV[1] answers of the process   ARGV[2] time to keep the list, ms   ARGV[3] most processes
-- Returns 1 appended, 0 too many.
if redis.call('LLEN', KEYS[1]) >= tonumber(ARGV[3]) then return 0 end
redis.call('RPUSH', KEYS[1], ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
