-- Put before every script, as one line. The last KEYS are the guards, sorted as their resources. The last ARGV are,
-- for each guard, the token:owner that it must show and whether it may be raised to that ('claim') or must show it
-- already ('equal'); then the retention in ms and the number of guards. Refuses before anything has been written;
-- else raises the guards and takes all of this off KEYS and ARGV.
local guards = tonumber(ARGV[#ARGV])
local retention = tonumber(ARGV[#ARGV - 1])
local keys = #KEYS - guards
local args = #ARGV - 2 - 2 * guards
local raise
for i = 1, guards do
	local mine = ARGV[args + 2 * i - 1]
	local shown = redis.pcall('GET', KEYS[keys + i])
	if type(shown) == 'table' then
		if string.find(shown.err, 'WRONGTYPE') then
			return redis.error_reply('WRONGTYPE ' .. KEYS[keys + i] .. ' is a guard and must be a string; delete it')
		end
		shown = redis.call('GET', KEYS[keys + i])
	end
	if shown ~= mine then
		if ARGV[args + 2 * i] ~= 'claim' then
			return redis.error_reply('FENCED OTHER ' .. i .. ' ' .. (shown or ''))
		end
		local token = tonumber(string.match(mine, '^%d+'))
		local time = redis.call('TIME')
		local now = time[1] * 1000000 + time[2]
		if shown then
			if tonumber(string.match(shown, '^%d+') or '') == nil or tonumber(string.match(shown, '^%d+')) >= token then
				return redis.error_reply('FENCED STALE ' .. i .. ' ' .. shown)
			end
		elseif token < now - retention * 1000 then
			return redis.error_reply('FENCED EXPIRED ' .. i .. ' ' .. string.format('%.0f', now))
		end
		raise = raise or {}
		raise[#raise + 1] = i
		raise[#raise + 1] = string.format('%.0f', retention + math.max(0, math.ceil((token - now) / 1000)))
	end
end
if raise then
	for r = 1, #raise, 2 do
		local done = redis.pcall('SET', KEYS[keys + raise[r]], ARGV[args + 2 * raise[r] - 1], 'PX', raise[r + 1])
		if done.err then
			return redis.error_reply((string.gsub(string.gsub(string.gsub(done.err, '^@?user_script: ?%d+: ', ''), '^%-', ''), '[\r\n]+$', '')))
		end
	end
end
for i = #KEYS, keys + 1, -1 do
	KEYS[i] = nil
end
for i = #ARGV, args + 1, -1 do
	ARGV[i] = nil
end
