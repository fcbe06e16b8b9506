-- Several commands, as ARGV: for each the number of its words, its name, its arguments. Answers with a list of their
-- answers; after an error the next ones run, as in a pipeline. Locals and the short way past 'answer' save a fifth.
local words, run, some, answers = ARGV, redis.pcall, unpack, {}
local count, last = #words, 0
while last < count do
	local name = last + 2
	last = last + 1 + words[last + 1]
	local reply = run(some(words, name, last))
	local kind = type(reply)
	if kind == 'number' or kind == 'table' and reply.err then
		reply = answer(reply, words[name], words[name + 1], words[name + 2])
	end
	answers[#answers + 1] = reply
end
return answers
