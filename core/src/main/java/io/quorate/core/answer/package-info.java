// SPDX-License-Identifier: Apache-2.0
/**
 * What a node's endpoints answer, in the JSON of {@code /actuator}: the node writes these records, the command line
 * reads them. A component's name is the name of its JSON field, and so public API.
 *
 * <p>Readers and nodes may be of different versions. A field that this version doesn't know has to be ignored. For a
 * field that is missing, a number is 0, a flag false, a text, list or map empty, or null where the record says that it
 * may be. Times are in ISO 8601, addresses {@code host:port}.
 */
package io.quorate.core.answer;
