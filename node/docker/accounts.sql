-- Runs once on each new server, and is of this server alone.
SET sql_log_bin = 0;
-- The node's (docs/accounts.md says what for). Change the passwords, here and in application.yaml. Its address in the networks of
-- the engine isn't known beforehand, but is a private one.
CREATE USER quorate@'10.0.0.0/255.0.0.0' IDENTIFIED BY 'quorate',
            quorate@'172.16.0.0/255.240.0.0' IDENTIFIED BY 'quorate',
            quorate@'192.168.0.0/255.255.0.0' IDENTIFIED BY 'quorate';
GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, ALTER, INDEX, REFERENCES, CREATE TEMPORARY TABLES, LOCK TABLES,
      CREATE VIEW, SHOW VIEW, CREATE ROUTINE, ALTER ROUTINE, EXECUTE, TRIGGER, EVENT, CREATE USER, CREATE ROLE, DROP ROLE,
      RELOAD, SHOW DATABASES, PROCESS, REPLICATION SLAVE, REPLICATION CLIENT,
      XA_RECOVER_ADMIN, REPLICATION_APPLIER, SESSION_VARIABLES_ADMIN, SYSTEM_VARIABLES_ADMIN, CONNECTION_ADMIN,
      ROLE_ADMIN, SHOW_ROUTINE, SET_USER_ID, SYSTEM_USER, BACKUP_ADMIN, CLONE_ADMIN
   ON *.* TO quorate@'10.0.0.0/255.0.0.0', quorate@'172.16.0.0/255.240.0.0', quorate@'192.168.0.0/255.255.0.0'
   WITH GRANT OPTION;
-- Yours, to try it with.
CREATE USER app@'10.0.0.0/255.0.0.0' IDENTIFIED BY 'app',
            app@'172.16.0.0/255.240.0.0' IDENTIFIED BY 'app',
            app@'192.168.0.0/255.255.0.0' IDENTIFIED BY 'app';
GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, ALTER, INDEX, REFERENCES
   ON *.* TO app@'10.0.0.0/255.0.0.0', app@'172.16.0.0/255.240.0.0', app@'192.168.0.0/255.255.0.0';
