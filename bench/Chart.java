// SPDX-License-Identifier: Apache-2.0
import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Font;
import java.awt.Graphics2D;
import java.awt.RenderingHints;
import java.awt.image.BufferedImage;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import javax.imageio.ImageIO;

/** Draws what appliers.sh measured: a panel for each number of writers, a line for each system over the appliers. */
class Chart {
    private static final int WIDTH = 420;
    private static final int HEIGHT = 330;
    private static final int LEFT = 70;
    private static final int TOP = 50;
    private static final Color[] COLORS = {new Color(0x0B62A4), new Color(0xD1495B), new Color(0x6A994E)};

    private record Point(String system, int writers, int appliers, double rate) {}

    public static void main(String[] args) throws Exception {
        List<Point> points = Files.readAllLines(Path.of(args[0])).stream()
                .map(line -> line.split("\t"))
                .map(c -> new Point(c[0], Integer.parseInt(c[1]), Integer.parseInt(c[2]), Double.parseDouble(c[3])))
                .toList();
        List<String> systems = points.stream().map(Point::system).distinct().toList();
        Map<Integer, List<Point>> panels = new TreeMap<>();
        points.forEach(p -> panels.computeIfAbsent(p.writers, w -> new ArrayList<>()).add(p));
        double most = points.stream().mapToDouble(Point::rate).max().orElse(1);
        double step = Math.pow(10, Math.floor(Math.log10(most)));
        step = most / step < 3 ? step / 2 : step;
        double top = Math.ceil(most / step) * step;

        int width = panels.size() * (WIDTH + 20) + LEFT;
        BufferedImage image = new BufferedImage(width, TOP + HEIGHT + 90, BufferedImage.TYPE_INT_RGB);
        Graphics2D g = image.createGraphics();
        g.setRenderingHint(RenderingHints.KEY_ANTIALIASING, RenderingHints.VALUE_ANTIALIAS_ON);
        g.setColor(Color.WHITE);
        g.fillRect(0, 0, image.getWidth(), image.getHeight());
        g.setFont(new Font(Font.SANS_SERIF, Font.PLAIN, 13));
        int x = LEFT;
        for (Map.Entry<Integer, List<Point>> panel : panels.entrySet()) {
            panel(g, x, panel.getKey(), panel.getValue(), systems, top, step);
            x += WIDTH + 20;
        }
        legend(g, systems);
        ImageIO.write(image, "png", new File(args[1]));
    }

    private static void panel(
            Graphics2D g, int x, int writers, List<Point> points, List<String> systems, double top, double step) {
        List<Integer> appliers = points.stream().map(Point::appliers).distinct().sorted().toList();
        g.setStroke(new BasicStroke(1));
        for (double v = 0; v <= top + 1; v += step) {
            int y = y(v, top);
            g.setColor(new Color(0xDDDDDD));
            g.drawLine(x, y, x + WIDTH - 30, y);
            g.setColor(Color.DARK_GRAY);
            if (x == LEFT) {
                String text = String.format("%,d", Math.round(v));
                g.drawString(text, x - 8 - g.getFontMetrics().stringWidth(text), y + 5);
            }
        }
        g.setColor(Color.BLACK);
        g.drawString("written by " + writers + (writers == 1 ? " thread" : " threads"), x, TOP - 15);
        for (int i = 0; i < appliers.size(); i++) {
            g.drawString(String.valueOf(appliers.get(i)), x(x, i, appliers.size()) - 4, TOP + HEIGHT + 20);
        }
        g.drawString("applying threads", x + WIDTH / 2 - 70, TOP + HEIGHT + 40);
        for (int s = 0; s < systems.size(); s++) {
            g.setColor(COLORS[s % COLORS.length]);
            g.setStroke(new BasicStroke(2.5f));
            int lastX = -1;
            int lastY = -1;
            for (int i = 0; i < appliers.size(); i++) {
                for (Point p : points) {
                    if (p.system.equals(systems.get(s)) && p.appliers == appliers.get(i)) {
                        int px = x(x, i, appliers.size());
                        int py = y(p.rate, top);
                        if (lastX >= 0) {
                            g.drawLine(lastX, lastY, px, py);
                        }
                        g.fillOval(px - 4, py - 4, 9, 9);
                        lastX = px;
                        lastY = py;
                    }
                }
            }
        }
    }

    private static void legend(Graphics2D g, List<String> systems) {
        int x = LEFT;
        for (int s = 0; s < systems.size(); s++) {
            g.setColor(COLORS[s % COLORS.length]);
            g.fillRect(x, TOP + HEIGHT + 60, 14, 14);
            g.setColor(Color.BLACK);
            g.drawString(systems.get(s) + ", transactions/s", x + 20, TOP + HEIGHT + 72);
            x += 300;
        }
    }

    private static int x(int left, int i, int count) {
        return left + 20 + i * (WIDTH - 80) / Math.max(1, count - 1);
    }

    private static int y(double value, double top) {
        return TOP + HEIGHT - (int) Math.round(value / top * HEIGHT);
    }
}
