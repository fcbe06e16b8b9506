-- One command with more arguments than unpack takes, in parts, in this one step. ARGV: how its arguments can be split,
-- its name, its arguments.
local shape, name = ARGV[1], ARGV[2]
local prefix, unit, combine = string.match(shape, '^(%d+) (%d+) (%a+)$')
prefix, unit = tonumber(prefix), tonumber(unit)
if name == 'ZADD' then
	while string.find(' NX XX GT LT CH INCR ', ' ' .. string.upper(ARGV[3 + prefix]) .. ' ', 1, true) do
		prefix = prefix + 1
	end
end
local size = math.floor(7000 / unit) * unit
local function parts(command, use)
	for first = 3 + prefix, #ARGV, size do
		local part = {command}
		for i = 3, 2 + prefix do
			part[#part + 1] = ARGV[i]
		end
		for i = first, math.min(first + size - 1, #ARGV) do
			part[#part + 1] = ARGV[i]
		end
		local reply = use(part)
		if reply then
			return reply
		end
	end
end
if name == 'MSETNX' then
	local taken = 0
	for i = 3, #ARGV, 2 do
		taken = taken + redis.call('EXISTS', ARGV[i])
	end
	if taken > 0 then
		return 0
	end
	name = 'MSET'
end
local result
local failure = parts(name, function(part)
	local reply = answer(redis.pcall(unpack(part)), name)
	if type(reply) == 'table' and reply.err then
		return reply
	elseif combine == 'sum' then
		result = (result or 0) + reply
	elseif combine == 'max' then
		result = math.max(result or 0, reply)
	elseif combine == 'all' then
		result = result or {}
		for i = 1, #part - 1 - prefix do
			result[#result + 1] = reply[i]
		end
	elseif combine == 'one' then
		result = 1
	else
		result = reply
	end
end)
return failure or result
