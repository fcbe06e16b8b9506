package io.fencing.aop;

import java.util.List;

import io.fencing.FencedOperation;
import io.fencing.OperationTransaction;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.From;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.Size;

import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.util.StringUtils;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Whatever an argument contains, it arrives in the resource as it is.
 */
class ResourceTemplatePropertyTests {

	private final FencedOperationSource source = new FencedOperationSource(new DefaultListableBeanFactory());

	@Property(tries = 500)
	void whenArgumentIsAnyTextThenItIsData(@ForAll("texts") String id) throws Exception {
		assertThat(resources("one", String.class, id)).containsExactly("account:" + id + "/" + id);
	}

	@Property(tries = 200)
	void whenArgumentIsAnyListThenEachElementIsAResource(@ForAll @Size(min = 1) List<@From("texts") String> ids)
			throws Exception {
		assertThat(resources("several", List.class, ids)).isEqualTo(ids);
	}

	@Provide
	Arbitrary<String> texts() {
		return Arbitraries.strings().filter(StringUtils::hasText);
	}

	private List<String> resources(String method, Class<?> type, Object argument) throws Exception {
		FencedOperationMetadata metadata = this.source.getMetadata(Operations.class.getDeclaredMethod(method, type),
				Operations.class);
		assertThat(metadata).isNotNull();
		return metadata.toRequest(new Operations(), new Object[] { argument }, null, () -> OperationTransaction.DEFAULT)
			.resources();
	}

	static class Operations {

		@FencedOperation("account:#{#id}/#{#p0}")
		void one(String id) {
		}

		@FencedOperation("#{#ids}")
		void several(List<String> ids) {
		}

	}

}
