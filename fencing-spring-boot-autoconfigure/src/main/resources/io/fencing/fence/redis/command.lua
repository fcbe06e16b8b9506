-- One command, as ARGV: 'resp3' if its reply must have the form of RESP3, its name, its arguments.
if ARGV[1] == 'resp3' then
	redis.setresp(3)
end
local name = ARGV[2]
local reply = redis.pcall(unpack(ARGV, 2))
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
		return redis.call('HGET', ARGV[3], ARGV[4])
	elseif string.find(name, '^INCR') or string.find(name, '^DECR') then
		return redis.call('GET', ARGV[3])
	end
end
return reply
