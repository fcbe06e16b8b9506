CREATE TABLE IF NOT EXISTS account (
	id      VARCHAR(64)    PRIMARY KEY,
	balance NUMERIC(19, 2) NOT NULL CHECK (balance >= 0)
);

CREATE TABLE IF NOT EXISTS entry (
	id         BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	account    VARCHAR(64)    NOT NULL REFERENCES account (id),
	amount     NUMERIC(19, 2) NOT NULL,
	balance    NUMERIC(19, 2) NOT NULL,
	token      BIGINT         NOT NULL,
	created_at TIMESTAMPTZ    NOT NULL DEFAULT now()
);
