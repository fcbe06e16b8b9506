-- Put before scripts that run commands, as one line: makes of a reply of a command what the command alone is answered.
local function answer(reply, name, key, field)
	if type(reply) == 'table' and reply.err then
		-- the script engine's own errors come with a position, a dash and a line end
		local text = string.gsub(reply.err, '^@?user_script: ?%d+: ', '')
		text = string.gsub(text, '^%-', '')
		if string.find(text, '^Wrong number of args') then
			text = "ERR wrong number of arguments for '" .. string.lower(name) .. "' command"
		end
		return redis.error_reply((string.gsub(text, '[\r\n]+$', '')))
	elseif type(reply) == 'number' and math.abs(reply) >= 9007199254740992 then
		-- Lua has lost digits; the value itself is exact
		if name == 'HINCRBY' then
			return redis.call('HGET', key, field)
		elseif string.find(name, '^INCR') or string.find(name, '^DECR') then
			return redis.call('GET', key)
		end
	end
	return reply
end
