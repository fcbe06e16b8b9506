package io.fencing.sample.lab;

import io.fencing.sample.servers.ConditionalOnOwnServers;

import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

/**
 * The lab over HTTP.
 */
@RestController
@RequestMapping("/lab")
@ConditionalOnOwnServers
class LabController {

	private final StaleWriteLab lab;

	LabController(StaleWriteLab lab) {
		this.lab = lab;
	}

	@PostMapping("/stale-write")
	LabReport staleWrite(@RequestParam boolean fencing, @RequestParam(defaultValue = "short") String pause,
			@RequestParam(defaultValue = "postgresql") String storage) throws InterruptedException {
		if (!this.lab.getStorages().contains(storage)) {
			throw new ResponseStatusException(HttpStatus.BAD_REQUEST, "A storage is one of " + this.lab.getStorages());
		}
		return this.lab.run(storage, fencing, pausePoint(pause));
	}

	private static PausePoint pausePoint(String pause) {
		return switch (pause) {
			case "short" -> PausePoint.BEFORE_STORAGE;
			case "long" -> PausePoint.BEFORE_LOCAL_CHECK;
			default -> throw new ResponseStatusException(HttpStatus.BAD_REQUEST, "A pause is 'short' or 'long'");
		};
	}

}
