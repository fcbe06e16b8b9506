package io.fencing.fence.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;

import io.fencing.FencedResourceFactory;
import io.fencing.FencingListeners;
import io.fencing.FencingToken;
import io.fencing.HeldResource;
import io.fencing.context.OperationContext;
import io.fencing.fence.UnfencedWrites;
import io.fencing.fence.redis.Admitted.Guard;
import io.fencing.fence.redis.FencedRedis.Held;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Rewritten arguments have, in this order, the number of keys, the keys of the command
 * (if it is a script), the guards, the command exactly as it was, and what is checked.
 */
class CommandRewriterTests {

	private static final long RETENTION = Duration.ofDays(7).toMillis();

	private final RedisFence fence = new RedisFence("redis",
			new RedisFenceSettings("fencing", Duration.ofMillis(RETENTION), UnfencedWrites.ALLOW),
			new FencingListeners(List.of()));

	private final CommandRewriter<byte[], byte[]> rewriter = new CommandRewriter<>(ByteArrayCodec.INSTANCE, true);

	@Property(tries = 300)
	void whenCommandIsRewrittenThenItSplitsBackIntoItself(@ForAll("commands") Sample sample,
			@ForAll("holdings") List<Held> held, @ForAll boolean granted) {
		Admission admission = admission(held, granted);
		CommandArgs<byte[], byte[]> args = args(sample);
		FenceScript script = this.rewriter.scriptFor(sample.name(), args, admission);
		List<byte[]> words = words(this.rewriter.command(script, sample.name(), args, List.of(), admission));
		int position = checkGuards(words, 0, held);
		if (script != FenceScript.EQUAL) {
			assertThat(text(words.get(position++))).isEqualTo("-");
		}
		assertThat(text(words.get(position++))).isEqualTo(sample.name());
		position = checkSame(words, position, sample.args());
		assertThat(script == FenceScript.EQUAL)
			.isEqualTo(granted && held.size() == 1 && !sample.name().startsWith("INCR"));
		checkEnd(words, position, held, granted, script == FenceScript.EQUAL);
	}

	@Property(tries = 100)
	void whenCommandsAreBundledThenTheySplitBackIntoThemselves(@ForAll("pipelines") List<Sample> samples,
			@ForAll("holdings") List<Held> held, @ForAll boolean granted) {
		Bundle<byte[], byte[]> bundle = new Bundle<>(ByteArrayCodec.INSTANCE);
		samples.forEach((sample) -> bundle.add(sample.name(),
				new Command<>(CommandType.SET, new StatusOutput<>(ByteArrayCodec.INSTANCE), args(sample))));
		CommandArgs<byte[], byte[]> args = this.rewriter.bundle(bundle, admission(held, granted));
		List<byte[]> words = words(args);
		// encoded once more, as after a lost connection
		assertThat(words(args)).hasSameSizeAs(words);
		assertThat(args.count()).isEqualTo(words.size());
		assertThat(words.get(0)).isEqualTo(FenceScript.BUNDLE.text());
		int position = checkGuards(words, 1, held);
		for (Sample sample : samples) {
			assertThat(text(words.get(position++))).isEqualTo(Integer.toString(1 + sample.args().size()));
			assertThat(text(words.get(position++))).isEqualTo(sample.name());
			position = checkSame(words, position, sample.args());
		}
		checkEnd(words, position, held, granted, false);
	}

	@Property(tries = 300)
	void whenUsersScriptIsRewrittenThenItSplitsBackIntoItself(@ForAll("arguments") List<byte[]> keys,
			@ForAll("arguments") List<byte[]> args, @ForAll("holdings") List<Held> held, @ForAll boolean granted) {
		List<byte[]> script = new ArrayList<>();
		script.add(bytes("return 1"));
		script.add(bytes(Integer.toString(keys.size())));
		script.addAll(keys);
		script.addAll(args);
		List<byte[]> words = words(this.rewriter.script(script, admission(held, granted)));
		assertThat(text(words.get(0))).isEqualTo(Integer.toString(keys.size() + held.size()));
		int position = checkSame(words, 1, keys);
		position = checkSame(words, position, guards(held));
		position = checkSame(words, position, args);
		checkEnd(words, position, held, granted, false);
	}

	private Admission admission(List<Held> held, boolean granted) {
		List<HeldResource> all = List.copyOf(held);
		Admitted admitted = new Admitted();
		if (granted) {
			all.forEach(
					(one) -> admitted.add(new Guard(one.getResource().getKey(), one.getToken(), 0, Admission.NO_SLOT)));
		}
		return new Admission(this.fence, new OperationContext("withdraw", all, null), all, admitted, 0,
				Admission.NO_SLOT);
	}

	private static CommandArgs<byte[], byte[]> args(Sample sample) {
		CommandArgs<byte[], byte[]> args = new CommandArgs<>(ByteArrayCodec.INSTANCE);
		for (int i = 0; i < sample.args().size(); i++) {
			byte[] arg = sample.args().get(i);
			if (i == 0) {
				args.addKey(arg);
			}
			else if (i % 2 == 0) {
				args.add(arg);
			}
			else {
				args.addValue(arg);
			}
		}
		return args;
	}

	private static List<byte[]> words(CommandArgs<byte[], byte[]> args) {
		return EncodedArguments.of(args).toBytes();
	}

	private List<byte[]> guards(List<Held> held) {
		return held.stream().map((one) -> new GuardKeys("fencing").guard(one.resource())).toList();
	}

	private int checkGuards(List<byte[]> words, int from, List<Held> held) {
		assertThat(text(words.get(from))).isEqualTo(Integer.toString(held.size()));
		return checkSame(words, from + 1, guards(held));
	}

	private static int checkSame(List<byte[]> words, int from, List<byte[]> expected) {
		IntStream.range(0, expected.size()).forEach((i) -> assertThat(words.get(from + i)).isEqualTo(expected.get(i)));
		return from + expected.size();
	}

	private static void checkEnd(List<byte[]> words, int from, List<Held> held, boolean granted, boolean equal) {
		List<String> end = new ArrayList<>();
		held.forEach((one) -> {
			end.add(one.token().value() + ":" + one.token().owner());
			end.add(granted ? "equal" : "claim");
		});
		end.add(Long.toString(RETENTION));
		end.add(Integer.toString(held.size()));
		assertThat(words.subList(from, words.size())).map(CommandRewriterTests::text)
			.isEqualTo(equal ? end.subList(0, 1) : end);
	}

	private static String text(byte[] bytes) {
		return new String(bytes, StandardCharsets.UTF_8);
	}

	private static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

	@Provide
	Arbitrary<List<byte[]>> arguments() {
		return Arbitraries.bytes().array(byte[].class).ofMaxSize(40).list().ofMaxSize(12);
	}

	@Provide
	Arbitrary<Sample> commands() {
		return Combinators.combine(Arbitraries.of("SET", "INCRBY", "GETSET", "NEW.COMMAND", "ZADD2"), arguments())
			.as(Sample::new);
	}

	@Provide
	Arbitrary<List<Sample>> pipelines() {
		return commands().list().ofMinSize(1).ofMaxSize(20);
	}

	@Provide
	Arbitrary<List<Held>> holdings() {
		FencedResourceFactory resources = new FencedResourceFactory("default", "secret");
		return Combinators
			.combine(Arbitraries.strings().ofMaxLength(20).map((name) -> "a" + name),
					Arbitraries.longs().between(1, 1L << 53),
					Arbitraries.strings().alpha().numeric().ofMinLength(1).ofMaxLength(30))
			.as((name, token, owner) -> new Held(resources.create(name), new FencingToken(token, owner),
					new AtomicLong()))
			.list()
			.uniqueElements(Held::resource)
			.ofMinSize(1)
			.ofMaxSize(4);
	}

	/** A command as a user sends it. */
	record Sample(String name, List<byte[]> args) {
	}

}
