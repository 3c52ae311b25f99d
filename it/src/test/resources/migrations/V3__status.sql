ALTER TABLE purchase ADD COLUMN status VARCHAR(20) NOT NULL DEFAULT 'new';
CREATE INDEX by_status ON purchase (status);
CREATE VIEW open_purchase AS SELECT * FROM purchase WHERE status = 'new';
UPDATE purchase SET status = 'paid';
