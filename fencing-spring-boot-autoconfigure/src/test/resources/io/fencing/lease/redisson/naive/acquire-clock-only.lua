-- breaks rule 6: the clock alone goes back when it is set back, and gives nothing to lift
local current = redis.call('GET', KEYS[1])
if current and string.match(current, '^%d+:(.*)$') ~= ARGV[1] then
	return {0, redis.call('PTTL', KEYS[1]), ARGV[#ARGV]}
end
local now = redis.call('TIME')
local token = string.format('%.0f', now[1] * 1000000 + now[2])
redis.call('SET', KEYS[1], token .. ':' .. ARGV[1], 'PX', ARGV[2])
return {1, token, ARGV[#ARGV]}
