-- breaks rule 6: a counter that starts again at 1 when it is lost
local current = redis.call('GET', KEYS[1])
if current and string.match(current, '^%d+:(.*)$') ~= ARGV[1] then
	return {0, redis.call('PTTL', KEYS[1]), ARGV[#ARGV]}
end
local token = string.format('%.0f', redis.call('INCR', KEYS[2]))
redis.call('SET', KEYS[1], token .. ':' .. ARGV[1], 'PX', ARGV[2])
return {1, token, ARGV[#ARGV]}
