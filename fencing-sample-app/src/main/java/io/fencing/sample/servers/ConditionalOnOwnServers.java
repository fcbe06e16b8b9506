package io.fencing.sample.servers;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Matches while the application runs on servers of its own only.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@ConditionalOnNothingGiven({ OwnServersConfiguration.REDIS, OwnServersConfiguration.POSTGRES })
public @interface ConditionalOnOwnServers {

}
