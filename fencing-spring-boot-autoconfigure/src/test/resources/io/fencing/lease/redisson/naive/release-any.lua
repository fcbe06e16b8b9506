-- breaks rule 7: deletes whatever is there
return {redis.call('DEL', KEYS[1]), ARGV[#ARGV]}
