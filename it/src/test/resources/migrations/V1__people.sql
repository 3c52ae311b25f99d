CREATE TABLE person (
  id BIGINT AUTO_INCREMENT PRIMARY KEY,
  email VARCHAR(190) NOT NULL,
  name VARCHAR(190),
  created TIMESTAMP DEFAULT CURRENT_TIMESTAMP
);
CREATE UNIQUE INDEX by_email ON person (email);
INSERT INTO person (email, name) VALUES ('root@localhost', 'root');
