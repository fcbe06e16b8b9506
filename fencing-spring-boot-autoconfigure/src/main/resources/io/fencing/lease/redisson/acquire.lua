-- KEYS: lease, token; where the order of arrival counts also: line, heard.
-- ARGV: owner, lease time in ms, token retention in ms; then also: time in ms that a node may be silent; ticket.
-- Answers {1, token, ticket} when granted, {0, remaining time in ms, ticket} when another owner has it or comes first.
-- Lease and token are given in this one step; the owner that has the lease gets the same token again.
local ticket = ARGV[#ARGV]
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
		return {0, remaining, ticket}
	end
	token = tonumber(token)
else
	if KEYS[3] then
		local now, silence = milliseconds(), tonumber(ARGV[4])
		local before = first(KEYS[3], KEYS[4], now, silence)
		local place = before and redis.call('ZSCORE', KEYS[3], ARGV[1])
		if before and not (place and node(before) == node(ARGV[1])) then
			return {0, silence - (now - redis.call('ZSCORE', KEYS[4], node(before))), ticket}
		end
		if place then
			-- who comes first among the waiting of a node is the node's affair: they change places
			redis.call('ZADD', KEYS[3], place, before)
			redis.call('ZREM', KEYS[3], ARGV[1])
		end
	end
	local now = redis.call('TIME')
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
return {1, token, ticket}
