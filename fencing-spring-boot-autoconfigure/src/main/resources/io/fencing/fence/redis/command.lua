-- One command, as ARGV: 'resp3' if its reply must have the form of RESP3, its name, its arguments.
if ARGV[1] == 'resp3' then
	redis.setresp(3)
end
return answer(redis.pcall(unpack(ARGV, 2)), ARGV[2], ARGV[3], ARGV[4])
