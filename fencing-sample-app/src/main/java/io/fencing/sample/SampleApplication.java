package io.fencing.sample;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

/**
 * The application. It needs nothing installed: without connection settings it starts
 * servers of its own.
 */
@SpringBootApplication
public class SampleApplication {

	/**
	 * Start the application.
	 * @param args the arguments of Spring Boot
	 */
	public static void main(String[] args) {
		SpringApplication.run(SampleApplication.class, args);
	}

}
