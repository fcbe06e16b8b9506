-- KEYS: line, heard. ARGV: owner, time in ms that a node may be silent, ticket.
-- Takes the last place of the line for an owner that has none, and tells that its node still waits. Answers {1, ticket}.
local last = redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')
redis.call('ZADD', KEYS[1], 'NX', string.format('%.0f', (tonumber(last[2]) or 0) + 1), ARGV[1])
redis.call('ZADD', KEYS[2], string.format('%.0f', milliseconds()), node(ARGV[1]))
redis.call('PEXPIRE', KEYS[1], ARGV[2])
redis.call('PEXPIRE', KEYS[2], ARGV[2])
return {1, ARGV[3]}
