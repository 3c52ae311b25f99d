// SPDX-License-Identifier: Apache-2.0
package io.quorate.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** What makes packets late: a program in the router's namespace, to which they are routed. Needs Python 3. */
final class Delay implements AutoCloseable {
    static final String DEVICE = "late0";

    private final Process program;
    private final Writer told;

    private Delay(Process program) {
        this.program = program;
        this.told = program.outputWriter(StandardCharsets.UTF_8);
    }

    /** @param enter the command that enters the namespace */
    static Delay start(List<String> enter) throws IOException {
        Path script = ModuleTable.root().resolve("it/src/test/delay.py");
        List<String> command = new ArrayList<>(enter);
        command.addAll(List.of("python3", script.toString(), DEVICE, "0"));
        Process program = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        Delay delay = new Delay(program);
        BufferedReader answers =
                new BufferedReader(new InputStreamReader(program.getInputStream(), StandardCharsets.UTF_8));
        assertThat(answers.readLine()).as("what %s says", script).isEqualTo("ready");
        return delay;
    }

    /** From now on every packet is so much late. */
    void is(double millis) throws IOException {
        told.write(millis + "\n");
        told.flush();
    }

    @Override
    public void close() {
        program.destroyForcibly();
        try {
            program.waitFor(10, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
