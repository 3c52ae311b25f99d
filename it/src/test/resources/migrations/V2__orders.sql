CREATE TABLE purchase (
  id BIGINT AUTO_INCREMENT PRIMARY KEY,
  person BIGINT NOT NULL,
  total DECIMAL(10, 2) NOT NULL,
  CONSTRAINT of_person FOREIGN KEY (person) REFERENCES person (id)
);
INSERT INTO purchase (person, total) SELECT id, 0 FROM person;
