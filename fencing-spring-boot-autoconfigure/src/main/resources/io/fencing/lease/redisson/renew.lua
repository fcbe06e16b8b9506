-- KEYS: lease. ARGV: owner, lease time in ms, ticket.
-- Answers {1, ticket} when renewed, {0, ticket} when the lease is gone or another owner's: it is never brought back.
-- A key of another type is not ours, and no error: many renewals share one pipeline.
local current = redis.pcall('GET', KEYS[1])
if type(current) == 'string' and string.match(current, '^%d+:(.*)$') == ARGV[1] then
	redis.call('PEXPIRE', KEYS[1], ARGV[2])
	return {1, ARGV[3]}
end
return {0, ARGV[3]}
