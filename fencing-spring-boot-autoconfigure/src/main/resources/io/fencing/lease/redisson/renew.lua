-- KEYS: lease. ARGV: owner, lease time in ms.
-- Answers {1} when renewed, {0} when the lease is gone or another owner's: it is never brought back.
-- A key of another type is not ours, and no error: many renewals share one pipeline.
local current = redis.pcall('GET', KEYS[1])
if type(current) == 'string' and string.match(current, '^%d+:(.*)$') == ARGV[1] then
	redis.call('PEXPIRE', KEYS[1], ARGV[2])
	return {1}
end
return {0}
