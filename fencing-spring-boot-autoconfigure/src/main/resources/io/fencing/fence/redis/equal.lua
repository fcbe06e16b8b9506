-- The short form for one guard that must show the token: a command as ARGV, and token:owner at the end; the guard is the
-- last of KEYS. Sent as text in pipelines, so every byte counts.
local n = #ARGV
local shown = redis.call('GET', KEYS[#KEYS])
if shown ~= ARGV[n] then
	return redis.error_reply('FENCED OTHER 1 ' .. (shown or ''))
end
ARGV[n] = nil
local reply = redis.pcall(unpack(ARGV))
if type(reply) == 'table' and reply.err then
	reply.err = string.gsub(string.gsub(string.gsub(reply.err, '^@?user_script: ?%d+: ', ''), '^%-', ''), '[\r\n]+$', '')
end
return reply
