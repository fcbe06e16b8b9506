-- breaks rule 7: does not know the owner that asks again
local ttl = redis.call('PTTL', KEYS[1])
if ttl > 0 then
	return {0, ttl, ARGV[#ARGV]}
end
local now = redis.call('TIME')
local token = string.format('%.0f', now[1] * 1000000 + now[2])
redis.call('SET', KEYS[1], token .. ':' .. ARGV[1], 'PX', ARGV[2])
return {1, token, ARGV[#ARGV]}
