package io.fencing.sample;

import java.time.Duration;

import org.springframework.http.MediaType;
import org.springframework.http.client.JdkClientHttpRequestFactory;
import org.springframework.test.web.servlet.client.RestTestClient;

/**
 * Sends requests to the application.
 */
public final class Http {

	private final RestTestClient client;

	public Http(int port) {
		this(RestTestClient.bindToServer(requests()).baseUrl("http://127.0.0.1:" + port).build());
	}

	private Http(RestTestClient client) {
		this.client = client;
	}

	public Http withHeader(String name, String... values) {
		return new Http(this.client.mutate().defaultHeader(name, values).build());
	}

	public RestTestClient.ResponseSpec get(String uri, Object... variables) {
		return this.client.get().uri(uri, variables).exchange();
	}

	public RestTestClient.ResponseSpec post(String uri, Object... variables) {
		return this.client.post().uri(uri, variables).exchange();
	}

	public RestTestClient.ResponseSpec postJson(String json, String uri, Object... variables) {
		return this.client.post().uri(uri, variables).contentType(MediaType.APPLICATION_JSON).body(json).exchange();
	}

	private static JdkClientHttpRequestFactory requests() {
		JdkClientHttpRequestFactory requests = new JdkClientHttpRequestFactory();
		requests.setReadTimeout(Duration.ofSeconds(60));
		return requests;
	}

}
