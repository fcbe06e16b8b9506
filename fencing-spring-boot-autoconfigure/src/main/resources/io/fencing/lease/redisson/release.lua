-- KEYS: lease; where the order of arrival counts also: line, heard.
-- ARGV: owner, time in ms that the resource stays taken, channel of releases; then also: time in ms that a node may be
-- silent; ticket.
-- Answers {1, ticket} when given back, {0, ticket} when the lease was gone or another owner's; a place in the line is
-- given back in any case. The message is the node whose turn it is, or empty: anybody's.
local ticket = ARGV[#ARGV]
local left = KEYS[2] and redis.call('ZREM', KEYS[2], ARGV[1]) == 1
local current = redis.call('GET', KEYS[1])
local token, owner = string.match(current or '', '^(%d+):(.*)$')
local ours = owner == ARGV[1]
if ours and tonumber(ARGV[2]) > 0 then
	-- no owner is empty: taken, and nobody's
	redis.call('SET', KEYS[1], token .. ':', 'PX', ARGV[2])
elseif ours then
	redis.call('DEL', KEYS[1])
end
if ours or (left and not current) then
	local next = KEYS[2] and first(KEYS[2], KEYS[3], milliseconds(), tonumber(ARGV[4]))
	redis.call('PUBLISH', ARGV[3], next and node(next) or '')
end
return {ours and 1 or 0, ticket}
