-- KEYS: lease. ARGV: owner, time in ms that the resource stays taken, channel of releases, ticket.
-- Answers {1, ticket} when given back, {0, ticket} when the lease was gone or another owner's.
local current = redis.call('GET', KEYS[1])
local token, owner = string.match(current or '', '^(%d+):(.*)$')
if owner ~= ARGV[1] then
	return {0, ARGV[4]}
end
if tonumber(ARGV[2]) > 0 then
	-- no owner is empty: taken, and nobody's
	redis.call('SET', KEYS[1], token .. ':', 'PX', ARGV[2])
else
	redis.call('DEL', KEYS[1])
end
redis.call('PUBLISH', ARGV[3], '')
return {1, ARGV[4]}
