package io.fencing.calling;

/**
 * What is defined as a hidden class, which a nested one cannot be.
 */
class AnnotatedAccounts implements CodeShapes.Annotated {

	@Override
	public String withdraw(String id) {
		return Seen.record();
	}

}
