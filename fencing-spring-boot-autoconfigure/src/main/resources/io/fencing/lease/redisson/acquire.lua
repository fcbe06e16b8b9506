-- KEYS: lease, token. ARGV: owner, lease time in ms, token retention in ms, ticket.
-- Answers {1, token, ticket} when granted, {0, remaining time in ms, ticket} when another owner has it.
-- Lease and token are given in this one step; the owner that has the lease gets the same token again.
local now = redis.call('TIME')
local current = redis.call('GET', KEYS[1])
local token
if current then
	local owner
	token, owner = string.match(current, '^(%d+):(.*)$')
	if owner ~= ARGV[1] then
		local remaining = redis.call('PTTL', KEYS[1])
		if remaining < 0 then
			-- nothing without an end is a lease: give it one
			redis.call('PEXPIRE', KEYS[1], ARGV[2])
			remaining = tonumber(ARGV[2])
		end
		return {0, remaining, ARGV[4]}
	end
	token = tonumber(token)
else
	local last = tonumber(redis.call('GET', KEYS[2]) or '') or 0
	token = math.max(last + 1, now[1] * 1000000 + now[2])
	if token >= 9007199254740992 then
		return redis.error_reply('ERR the tokens of this resource are used up')
	end
	redis.call('SET', KEYS[2], string.format('%.0f', token), 'PX', ARGV[3])
end
-- Lua alone would print 1.8e+15
token = string.format('%.0f', token)
redis.call('SET', KEYS[1], token .. ':' .. ARGV[1], 'PX', ARGV[2])
return {1, token, ARGV[4]}
