#include "postgres/days_sql.h"

namespace spillway::postgres {

// Both run with the rights of the table's owner, so that a relay needs none on the table itself but to read and clean.
//
// outbox_add_day: CREATE … PARTITION OF would lock the whole table; ATTACH locks the DEFAULT partition alone, and reads
// all of it meanwhile, hence the limit on its size.
//
// outbox_drop_day: a row with a transaction id below every id that the saved place could miss is finished, so the
// newest id of a day decides for all its rows by one look into an index, cheap enough to repeat under the lock. DETACH
// … CONCURRENTLY is not to be had beside a DEFAULT partition. The table is locked first, as readers and writers do.
const char* const kDaysSql = R"sql(
create or replace function @add_day@(moment timestamptz default clock_timestamp(), largest bigint default 67108864)
returns date language plpgsql security definer
set search_path = pg_catalog, pg_temp set timezone = 'UTC' set lock_timeout = '200ms' as $$
declare
  day date;
  part text;
begin
  for ahead in 0..7 loop
    day := (moment at time zone 'UTC')::date + ahead;
    part := format('%I.%I', @schema_text@, left(@name_text@, 54) || to_char(day, '_YYYYMMDD'));
    continue when to_regclass(part) is not null or exists (select from @default_partition@
      where created_at >= day::timestamptz and created_at < (day + 1)::timestamptz);
    if pg_relation_size(@default_text@) > largest then
      raise exception 'no partitions by day are added while % is larger than %', @default_text@, pg_size_pretty(largest)
        using hint = 'Writers would wait while it is read.';
    end if;
    begin
      execute format('create table %s (like %s including all)', part, @qualified_text@);
      execute format('create unique index on %s (id)', part);
      execute format('alter table %s attach partition %s for values from (%L) to (%L)', @qualified_text@, part,
                     day::timestamptz, (day + 1)::timestamptz);
      return day;
    exception
      -- A row of that day came into the DEFAULT partition, somebody's own partition covers it, or another was quicker.
      when check_violation or invalid_object_definition or duplicate_table or unique_violation then null;
    end;
  end loop;
  return null;
end $$;
comment on function @add_day@(timestamptz, bigint) is
  'Adds the first partition that is missing for the day of moment and the seven after it; null when none is.';
create or replace function @drop_day@(relayed text, keep_seconds bigint)
returns text language plpgsql security definer
set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO, YMD' set lock_timeout = '200ms' as $$
declare
  kept_from timestamptz := clock_timestamp() - make_interval(secs => keep_seconds);
  first_unsure xid8;
  part record;
  finished text;
  answer boolean;
begin
  select pg_snapshot_xmin(coalesce(nullif(seen.snapshot, ''), '1:1:')::pg_snapshot) into first_unsure
  from (select live_from, backlog from (
      select saved_at, live_from, backlog from spillway.saved_positions where outbox = relayed
      union all select saved_at, live_from, backlog from spillway.progress where outbox = relayed) saved
    where saved_at <= kept_from order by saved_at desc limit 1) place,
    lateral (select live_from union all select b."from" from jsonb_to_recordset(backlog) as b("from" text)) seen(snapshot)
  order by 1 limit 1;
  for part in
    select c.relname as label, format('%I.%I', n.nspname, c.relname) as name
    from pg_inherits i join pg_class c on c.oid = i.inhrelid join pg_namespace n on n.oid = c.relnamespace,
      lateral regexp_match(pg_get_expr(c.relpartbound, c.oid),
        '^FOR VALUES FROM \(''([-0-9]{10}) 00:00:00\+00''\) TO \(''([-0-9]{10}) 00:00:00\+00''\)$') bounds
    where i.inhparent = @qualified_text@::regclass and bounds[2]::date = bounds[1]::date + 1
      and c.relname = left(@name_text@, 54) || to_char(bounds[1]::date, '_YYYYMMDD')
      and bounds[2]::date::timestamptz <= kept_from and first_unsure is not null
    order by c.relname
  loop
    finished := format('select not exists (select from (select tx from %1$s order by tx desc limit 1) newest '
      'where tx >= $1) and not exists (select from spillway.settled s where s.outbox = $2 and s.state <> ''done'' '
      'and s.seq between (select min(seq) from %1$s) and (select max(seq) from %1$s) '
      'and exists (select from %1$s o where o.seq = s.seq))', part.name);
    execute finished into answer using first_unsure, relayed;
    continue when not answer;
    execute format('select exists (select from spillway.settled s where s.outbox = $1 and s.changed_at > $2 '
      'and s.seq between (select min(seq) from %1$s) and (select max(seq) from %1$s) '
      'and exists (select from %1$s o where o.seq = s.seq))', part.name) into answer using relayed, kept_from;
    continue when answer;
    execute format('lock table only %s in access exclusive mode', @qualified_text@);
    perform set_config('lock_timeout', '50ms', true);
    execute format('lock table only %s in access exclusive mode', part.name);
    execute finished into answer using first_unsure, relayed;
    if not answer then return null; end if;
    execute format('alter table %s detach partition %s', @qualified_text@, part.name);
    execute format('drop table %s', part.name);
    return part.label;
  end loop;
  return null;
end $$;
comment on function @drop_day@(text, bigint) is
  'Drops the first partition of a day of which every row is finished and has been for keep_seconds; its name, or null.';
revoke all on function @add_day@(timestamptz, bigint), @drop_day@(text, bigint) from public;
do $$ begin
  if exists (select from pg_roles where rolname = 'spillway_relay' and has_schema_privilege(oid, 'spillway', 'usage'))
  then
    grant execute on function @add_day@(timestamptz, bigint), @drop_day@(text, bigint) to spillway_relay;
    grant select, delete on @default_partition@ to spillway_relay;
  end if;
end $$;
)sql";

const char* const kFirstDaysSql = R"sql(
do $$ begin
  while @add_day@() is not null loop end loop;
exception when lock_not_available or raise_exception then raise warning '%', sqlerrm;
end $$;
)sql";

}  // namespace spillway::postgres
