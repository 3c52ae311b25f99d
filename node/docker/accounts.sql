-- Runs once on each new server, and is of this server alone.
SET sql_log_bin = 0;
-- The node's (docs/accounts.md says what for). Change the passwords, here and in application.yaml.
CREATE USER quorate@'%' IDENTIFIED BY 'quorate';
GRANT ALL ON *.* TO quorate@'%' WITH GRANT OPTION;
-- Yours, to try it with.
CREATE USER app@'%' IDENTIFIED BY 'app';
GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, ALTER, INDEX, REFERENCES ON *.* TO app@'%';
