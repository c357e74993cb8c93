/**
 * `signalbox_submit`, with which triggers and programs in other languages start executions: a function of the schema of the journal, on
 * Postgres. An execution that it creates is `queued` without a place in a queue: the process that claims it reads its input, and puts it
 * into the queue of its limits (`Unprepared.ts`).
 */
import type { Statement } from "@signalbox/sql/Migrations"

/** Before what cannot be stored, and before the hash of a long text: see `Texts.ts`. */
export const mark = "U&'\\+10FFFE'"

/** Types are lower-case, because migrations translate the others. */
const submit = `CREATE FUNCTION signalbox_submit(flow text, key text, input jsonb, version double precision DEFAULT NULL)
RETURNS text LANGUAGE plpgsql SECURITY DEFINER AS $body$
#variable_conflict use_column
DECLARE
  named text := replace(signalbox_submit.flow, ${mark}, ${mark} || '10fffe;');
  whole text := replace(signalbox_submit.key, ${mark}, ${mark} || '10fffe;');
  address text := whole;
  chosen double precision := signalbox_submit.version;
  made text := gen_random_uuid()::text;
  digest bytea := sha256(convert_to(made, 'UTF8'));
  at_millis bigint := (extract(epoch FROM clock_timestamp()) * 1000)::bigint;
  found_id text;
BEGIN
  IF named IS NULL OR whole IS NULL THEN
    RAISE EXCEPTION 'signalbox_submit: flow and key must not be null' USING ERRCODE = 'null_value_not_allowed';
  END IF;
  -- Counted in the units of UTF-16.
  IF length(whole) + length(regexp_replace(whole, '[^\\U00010000-\\U0010FFFF]', '', 'g')) > 500 THEN
    address := ${mark} || '#' || encode(sha256(convert_to(whole, 'UTF8')), 'hex');
  END IF;
  SELECT id INTO found_id FROM flow_run WHERE flow_key = address AND flow = named;
  IF found_id IS NOT NULL THEN
    RETURN found_id;
  END IF;
  IF chosen IS NULL THEN
    SELECT max((f ->> 'version')::double precision) INTO chosen
    FROM flow_process p, json_array_elements(p.flows::json) f
    WHERE p.reaped = 0 AND f ->> 'flow' = signalbox_submit.flow AND f ->> 'drain' IS DISTINCT FROM 'true';
  END IF;
  IF chosen IS NULL THEN
    -- No process runs it now: that of the last one that has begun, by the indexes of lists.
    SELECT max(r.version) INTO chosen FROM unnest(ARRAY['completed', 'failed', 'cancelled']) s(state), LATERAL (
      SELECT version FROM flow_run WHERE flow = named AND shown_state = s.state ORDER BY started_at DESC LIMIT 1
    ) r;
    SELECT greatest(chosen, max(version)) INTO chosen FROM flow_run WHERE flow = named AND ended_at IS NULL;
  END IF;
  IF chosen IS NULL THEN
    RAISE EXCEPTION 'signalbox_submit: no process has registered the flow %', signalbox_submit.flow
      USING HINT = 'Start a program that registers it, or pass its version.', ERRCODE = 'no_data_found';
  END IF;
  LOOP
    INSERT INTO flow_run (
      id, flow, version, flow_key, long_key, input, state, chapter, round, tags, epoch, wake_at, mail, seen, asides, token,
      started_at, changed_at, expired, partition_no
    ) VALUES (
      made, named, chosen, address, CASE WHEN address <> whole THEN whole END,
      NULLIF(signalbox_submit.input, 'null'::jsonb)::text, 'queued', 0, 0, '[]', 0, at_millis, 0, 0, 0, made,
      at_millis, at_millis, 0, (get_byte(digest, 0) * 256 + get_byte(digest, 1)) % 1024
    ) ON CONFLICT DO NOTHING RETURNING id INTO found_id;
    IF found_id IS NOT NULL THEN
      -- Sent when the transaction of the caller commits.
      PERFORM pg_notify(
        'signalbox_flows_' || left(encode(sha256(convert_to(current_schema(), 'UTF8')), 'hex'), 32),
        json_build_object('from', 'signalbox_submit', 'changes',
          json_build_array(json_build_array(null, made, false)))::text
      );
      RETURN made;
    END IF;
    SELECT id INTO found_id FROM flow_run WHERE flow_key = address AND flow = named;
    IF found_id IS NOT NULL THEN
      RETURN found_id;
    END IF;
  END LOOP;
END
$body$`

/**
 * Creates a function that reads and writes the tables of its schema whoever calls it, and that only those may call who are granted it.
 */
export const granted = (create: string, signature: string): ReadonlyArray<Statement> =>
  [
    create,
    `DO $body$ BEGIN
  EXECUTE format('ALTER FUNCTION ${signature} SET search_path = %I, pg_temp', current_schema());
END $body$`,
    `REVOKE ALL ON FUNCTION ${signature} FROM PUBLIC`
  ].map((postgres) => ({ sqlite: "SELECT 1", postgres }))

/** Creates the function. */
export const submitFunction = granted(submit, "signalbox_submit(text, text, jsonb, double precision)")
