-- KEYS: token. ARGV: token that a storage has accepted, token retention in ms, ticket.
-- Answers {1, ticket}; the next token is above the given one, and never below what it would have been.
local last = tonumber(redis.call('GET', KEYS[1]) or '') or 0
redis.call('SET', KEYS[1], string.format('%.0f', math.max(last, tonumber(ARGV[1]))), 'PX', ARGV[2])
return {1, ARGV[3]}
