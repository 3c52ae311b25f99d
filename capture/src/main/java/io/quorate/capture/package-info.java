/**
 * Turns binlog events into writesets. Debezium's MySQL connector holds the connection; a tap on its binlog client sees
 * every event first. The way in is {@link io.quorate.capture.MySqlCapture}.
 */
package io.quorate.capture;
