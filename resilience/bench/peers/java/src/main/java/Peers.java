import io.github.resilience4j.bulkhead.Bulkhead;
import io.github.resilience4j.bulkhead.BulkheadConfig;
import io.github.resilience4j.circuitbreaker.CircuitBreaker;
import io.github.resilience4j.circuitbreaker.CircuitBreakerConfig;
import io.github.resilience4j.decorators.Decorators;
import io.github.resilience4j.ratelimiter.RateLimiter;
import io.github.resilience4j.ratelimiter.RateLimiterConfig;
import io.github.resilience4j.retry.Retry;
import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** The four measured paths in resilience4j, in a plain loop. Prints "name best median" in nanoseconds. */
public final class Peers {
  private static volatile Object sink;

  private static void measure(String name, int n, Runnable body) {
    final int repetitions = 201;
    double[] results = new double[repetitions];
    for (int r = -100; r < repetitions; ++r) { // the first hundred warm up
      long start = System.nanoTime();
      for (int i = 0; i < n; ++i) body.run();
      if (r >= 0) results[r] = (double) (System.nanoTime() - start) / n;
    }
    Arrays.sort(results);
    System.out.printf(Locale.ROOT, "%s %.1f %.1f%n", name, results[0], results[repetitions / 2]);
  }

  private static CircuitBreaker breaker() {
    return CircuitBreaker.of("b", CircuitBreakerConfig.custom().slidingWindowSize(100).minimumNumberOfCalls(20)
        .waitDurationInOpenState(Duration.ofHours(1)).build());
  }

  public static void main(String[] args) {
    CircuitBreaker closed = breaker();
    measure("breaker", 20_000, () -> {
      if (closed.tryAcquirePermission()) closed.onSuccess(1, TimeUnit.MILLISECONDS);
    });

    CircuitBreaker open = breaker();
    open.transitionToOpenState();
    measure("refusal", 20_000, () -> sink = open.tryAcquirePermission());

    BulkheadConfig slots = BulkheadConfig.custom().maxConcurrentCalls(100).maxWaitDuration(Duration.ZERO).build();
    Bulkhead bulkhead = Bulkhead.of("b", slots);
    measure("bulkhead", 20_000, () -> {
      if (bulkhead.tryAcquirePermission()) bulkhead.onComplete();
    });

    RateLimiter rate = RateLimiter.of("r", RateLimiterConfig.custom().limitForPeriod(1_000_000_000)
        .limitRefreshPeriod(Duration.ofSeconds(1)).build());
    // Its time limiter needs a future and a scheduler; left out.
    Supplier<Integer> guarded = Decorators.ofSupplier(() -> 7).withBulkhead(Bulkhead.of("p", slots))
        .withRateLimiter(rate).withCircuitBreaker(breaker()).withRetry(Retry.ofDefaults("r"))
        .withFallback(error -> 0).decorate();
    measure("pipeline", 10_000, () -> sink = guarded.get());
  }
}
