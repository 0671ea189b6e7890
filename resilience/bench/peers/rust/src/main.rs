//! The four measured paths in Rust: the breaker of `failsafe`, the semaphore under `tower`'s concurrency limit, and a
//! stack of both. Prints "name best median" in nanoseconds.
use std::hint::black_box;
use std::time::{Duration, Instant};

use failsafe::{backoff, failure_policy, Config};
use tower::{Service, ServiceBuilder, ServiceExt};

fn measure(name: &str, n: u32, mut body: impl FnMut()) {
    const REPETITIONS: usize = 201;
    let mut results = Vec::new();
    for r in 0..=REPETITIONS {
        let start = Instant::now();
        for _ in 0..n {
            body();
        }
        if r > 0 {
            // the first one warms up
            results.push(start.elapsed().as_nanos() as f64 / f64::from(n));
        }
    }
    results.sort_by(f64::total_cmp);
    println!("{name} {:.1} {:.1}", results[0], results[REPETITIONS / 2]);
}

fn policy() -> impl failure_policy::FailurePolicy {
    let wait = backoff::constant(Duration::from_secs(3600));
    failure_policy::success_rate_over_time_window(0.5, 20, Duration::from_secs(10), wait)
}

fn main() {
    let closed = Config::new().failure_policy(policy()).build();
    measure("breaker", 20_000, || {
        if black_box(closed.is_call_permitted()) {
            closed.on_success();
        }
    });

    let wait = backoff::constant(Duration::from_secs(3600));
    let open = Config::new().failure_policy(failure_policy::consecutive_failures(1, wait)).build();
    open.on_error();
    measure("refusal", 20_000, || {
        black_box(open.is_call_permitted());
    });

    let slots = tokio::sync::Semaphore::new(100);
    measure("bulkhead", 20_000, || {
        black_box(slots.try_acquire().ok());
    });

    // tower brings no breaker: failsafe's stands around its stack.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let breaker = Config::new().failure_policy(policy()).build();
    runtime.block_on(async {
        let mut service = ServiceBuilder::new()
            .rate_limit(1_000_000_000, Duration::from_secs(1))
            .concurrency_limit(100)
            .timeout(Duration::from_millis(500))
            .service_fn(|_: ()| async { Ok::<u32, std::convert::Infallible>(7) });
        let mut results = Vec::new();
        for r in 0..=201 {
            let start = Instant::now();
            for _ in 0..5_000 {
                if breaker.is_call_permitted() {
                    let answer = service.ready().await.unwrap().call(()).await;
                    match black_box(answer) {
                        Ok(_) => breaker.on_success(),
                        Err(_) => breaker.on_error(),
                    }
                }
            }
            if r > 0 {
                results.push(start.elapsed().as_nanos() as f64 / 5_000.0);
            }
        }
        results.sort_by(f64::total_cmp);
        println!("pipeline {:.1} {:.1}", results[0], results[100]);
    });
}
