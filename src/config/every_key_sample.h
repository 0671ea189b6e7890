// Every key at its default, as documented.
#pragma once

namespace spillway::config {

inline constexpr const char* kEveryKey = R"yaml(
outbox:
  store: postgresql://app@127.0.0.1:5432/app
  name: default
  table: spillway.outbox
  preset: native
  columns: {}
  cleanup: {keep: 24h}
  poll: {busy: 2ms, idle: 50ms}
  listen: ""
kafka:
  bootstrap.servers: 127.0.0.1:9092
route:
  topic: outbox.event.{aggregatetype}
  key: "{aggregateid}"
  reconcile_topic: outbox.reconcile
  on_rejected: set_aside
  unknown_topic_after: 30s
  cloudevents: false
delivery: at_least_once
lanes:
  live_age: 5s
  key_with_backlog: promote
  hold_live: on_collapse
governor:
  law: adaptive
  min: 50
  max: none
  backlog_min: 0
  tick: 250ms
  aimd: {increase: 50, decrease: 0.5}
signals:
  - name: bank
    kind: prometheus
    urls: [http://127.0.0.1:9100/metrics]
    every: 1s
    timeout: 500ms
    dead_time: 1s
    histogram: bank_call_seconds
    errors: bank_call_errors_total
    latency_ceiling: 400ms
    error_ceiling: 2%
    tolerance: 2%
  - {name: payments-lag, kind: kafka_lag, group: payments, ceiling: 2s}
  - {name: probe, kind: http_probe, url: "http://127.0.0.1:9101/deep", latency_ceiling: 400ms}
  - {name: pushed, kind: push, latency_ceiling: 400ms, error_ceiling: 2%}
  - {name: broker, kind: relay, latency_ceiling: 1s}
triage:
  replay_window: none
  rules:
    - {name: settled, when: {type: "payment.*", sql: "select 1 from ledger where transaction_id = $aggregateid"}, then: discard}
    - {name: expired-session, when: {type: "session.*", older_than: 30m}, then: discard}
    - {name: quote-superseded, when: {type: "quote.*", newer_for_key: true}, then: discard}
limits: {bytes_in_flight: 16MiB, events_in_flight: 20000, ahead: 100000}
shutdown: {limit: 5s}
log: {level: info, format: text}
http: {listen: 127.0.0.1:8787, token: "${file:/run/secrets/spillway}", insecure: false, show_payloads: false}
)yaml";

}  // namespace spillway::config
