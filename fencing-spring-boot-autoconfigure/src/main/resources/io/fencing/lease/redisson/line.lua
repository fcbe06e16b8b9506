-- Goes before the scripts that keep the order of arrival. The line holds owners by their places, 'heard' holds
-- the nodes that wait by the time in ms when they were last heard of.

-- an owner is an invocation of a node: what comes before the hyphen
local function node(owner)
	return string.match(owner, '^[^-]*')
end

local function milliseconds()
	local now = redis.call('TIME')
	return now[1] * 1000 + math.floor(now[2] / 1000)
end

-- The first owner in the line whose node still waits; those before it are dropped.
local function first(line, heard, now, silence)
	redis.call('ZREMRANGEBYSCORE', heard, '-inf', string.format('(%.0f', now - silence))
	-- the clock was set back
	redis.call('ZREMRANGEBYSCORE', heard, string.format('(%.0f', now), '+inf')
	while true do
		local owner = redis.call('ZRANGE', line, 0, 0)[1]
		if not owner or redis.call('ZSCORE', heard, node(owner)) then
			return owner
		end
		redis.call('ZREM', line, owner)
	end
end

