-- Runs once on each new server, and is of this server alone.
SET sql_log_bin = 0;
-- The node's (docs/accounts.md says what for). Change the passwords, here and in application.yaml. Which address it has
-- in the networks of the engine isn't known beforehand, only that it is a private one.
CREATE USER quorate@'10.0.0.0/8' IDENTIFIED BY 'quorate',
            quorate@'172.16.0.0/12' IDENTIFIED BY 'quorate',
            quorate@'192.168.0.0/16' IDENTIFIED BY 'quorate';
GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, ALTER, INDEX, REFERENCES, CREATE TEMPORARY TABLES, LOCK TABLES,
      CREATE VIEW, SHOW VIEW, CREATE ROUTINE, ALTER ROUTINE, EXECUTE, TRIGGER, EVENT, CREATE TABLESPACE, CREATE USER,
      CREATE ROLE, DROP ROLE, RELOAD, SHOW DATABASES, PROCESS, REPLICATION SLAVE, REPLICATION CLIENT,
      XA_RECOVER_ADMIN, REPLICATION_APPLIER, SESSION_VARIABLES_ADMIN, SYSTEM_VARIABLES_ADMIN, CONNECTION_ADMIN,
      ROLE_ADMIN, SHOW_ROUTINE, SET_USER_ID, SYSTEM_USER, BACKUP_ADMIN, CLONE_ADMIN
   ON *.* TO quorate@'10.0.0.0/8', quorate@'172.16.0.0/12', quorate@'192.168.0.0/16'
   WITH GRANT OPTION;
-- Yours, to try it with.
CREATE USER app@'10.0.0.0/8' IDENTIFIED BY 'app',
            app@'172.16.0.0/12' IDENTIFIED BY 'app',
            app@'192.168.0.0/16' IDENTIFIED BY 'app';
GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, ALTER, INDEX, REFERENCES
   ON *.* TO app@'10.0.0.0/8', app@'172.16.0.0/12', app@'192.168.0.0/16';
