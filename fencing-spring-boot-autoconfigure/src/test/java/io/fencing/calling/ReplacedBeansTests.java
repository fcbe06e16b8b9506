package io.fencing.calling;

import io.fencing.autoconfigure.FencingAopAutoConfiguration;
import io.fencing.autoconfigure.FencingAutoConfiguration;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.test.context.bean.override.mockito.MockitoBean;
import org.springframework.test.context.bean.override.mockito.MockitoSpyBean;
import org.springframework.test.context.junit.jupiter.SpringJUnitConfig;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The tests of an application may replace beans that have operations.
 */
@SpringJUnitConfig({ CallingShapesTests.Leases.class, CodeShapes.Plain.class, CodeShapes.Implementing.class })
@ImportAutoConfiguration({ AopAutoConfiguration.class, FencingAutoConfiguration.class,
		FencingAopAutoConfiguration.class })
class ReplacedBeansTests {

	@MockitoBean
	private CodeShapes.Plain mock;

	@MockitoSpyBean
	private CodeShapes.Implementing spy;

	@Test
	void whenBeanIsAMockThenItIsLeftAsItIs(@Autowired CodeShapes.Plain bean) {
		assertThat(bean).isSameAs(this.mock);
		assertThat(bean.withdraw("42")).isNull();
	}

	@Test
	void whenBeanIsSpiedOnThenItIsFenced(@Autowired CodeShapes.Accounts bean) {
		assertThat(bean.withdraw("42")).isEqualTo("account:42");
	}

}
