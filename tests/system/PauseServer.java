// SPDX-License-Identifier: BSD-2-Clause
// PauseServer PORT: a server of HTTP with garbage to collect. It prints when a thread of its own stood still for
// 5 ms or more: until when, in ns of the monotonic clock, and how many ms.
import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.util.LinkedList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

public class PauseServer {
    static final byte[][] kept = new byte[3000][];
    static final AtomicInteger served = new AtomicInteger();

    public static void main(String[] arguments) throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(arguments[0])), 0);
        server.createContext("/", exchange -> {
            Object[] garbage = new Object[2000];
            for (int i = 0; i < garbage.length; i++)
                garbage[i] = new LinkedList<>(List.of(i, i + 1));
            kept[served.getAndIncrement() % kept.length] = new byte[40000];
            try {
                Thread.sleep(3);
            } catch (InterruptedException end) {
                return;
            }
            byte[] answer = ("" + garbage.length).getBytes();
            exchange.sendResponseHeaders(200, answer.length);
            exchange.getResponseBody().write(answer);
            exchange.close();
        });
        server.setExecutor(Executors.newFixedThreadPool(16));
        server.start();
        for (long last = System.nanoTime();;) {
            Thread.sleep(1);
            long now = System.nanoTime();
            if (now - last > 5_000_000)
                System.out.println(now + " " + (now - last) / 1e6);
            last = now;
        }
    }
}
