-- breaks rule 7: renews whatever is there, or is there no more
redis.call('SET', KEYS[1], '1:' .. ARGV[1], 'PX', ARGV[2])
return {1, ARGV[#ARGV]}
