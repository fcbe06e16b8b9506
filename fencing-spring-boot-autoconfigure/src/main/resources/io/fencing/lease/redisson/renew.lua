-- KEYS: lease. ARGV: owner, lease time in ms.
-- Answers {1} when renewed, {0} when the lease is gone or another owner's: it is never brought back.
local current = redis.call('GET', KEYS[1])
if current and string.match(current, '^%d+:(.*)$') == ARGV[1] then
	redis.call('PEXPIRE', KEYS[1], ARGV[2])
	return {1}
end
return {0}
