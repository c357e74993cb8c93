/**
 * `signalbox_signal`, with which triggers and programs in other languages send signals and messages: a function of the schema of the
 * journal, on Postgres. It writes what `send` of `sql/Messages.ts` writes, in the transaction of the caller.
 */
import type { Statement } from "@signalbox/sql/Migrations"
import { granted, mark } from "./SubmitFunction.ts"

/** A name, and a key in brackets, in which backslashes and closing brackets are escaped. */
const address = String.raw`^[^\[]+(\[([^\]\\]|\\[\]\\])*\])?$`

/** As in `Values.ts` and `Envelope.ts`, written out, since a migration stays as it is. */
const mostBytes = "1000000"
const encrypted = "signalbox-encrypted:1:"

/** Types are lower-case, because migrations translate the others. */
const signal = `CREATE FUNCTION signalbox_signal(
  flow text, key text, signal text, value jsonb DEFAULT NULL, message_id text DEFAULT NULL
) RETURNS text LANGUAGE plpgsql SECURITY DEFINER AS $body$
#variable_conflict use_column
DECLARE
  kept_flow text := replace(signalbox_signal.flow, ${mark}, ${mark} || '10fffe;');
  kept_key text := replace(signalbox_signal.key, ${mark}, ${mark} || '10fffe;');
  of_kind text := CASE WHEN signalbox_signal.message_id IS NULL THEN 'signal' ELSE 'inbox' END;
  of_id text := COALESCE(signalbox_signal.message_id, '');
  -- Its escapes are those of JSON.stringify.
  kept_address text := replace(
    '[' || to_json(of_kind)::text || ',' || to_json(signalbox_signal.signal)::text || ',' || to_json(of_id)::text || ']',
    ${mark}, ${mark} || '10fffe;'
  );
  kept_value text := NULLIF(signalbox_signal.value, 'null'::jsonb)::text;
  at_millis bigint := (extract(epoch FROM clock_timestamp()) * 1000)::bigint;
  run record;
  there record;
  is_same boolean := false;
BEGIN
  IF kept_flow IS NULL OR kept_key IS NULL OR signalbox_signal.signal IS NULL THEN
    RAISE EXCEPTION 'signalbox_signal: flow, key and signal must not be null' USING ERRCODE = 'null_value_not_allowed';
  END IF;
  IF signalbox_signal.signal !~ '${address}' THEN
    RAISE EXCEPTION 'signalbox_signal: expected the name of a signal, or one with a key as in name[a], not %', signalbox_signal.signal
      USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF signalbox_signal.message_id = '' THEN
    RAISE EXCEPTION 'signalbox_signal: message_id: expected at least one character' USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF octet_length(kept_value) > ${mostBytes} THEN
    RAISE EXCEPTION 'signalbox_signal: value: is % bytes of JSON, more than ${mostBytes}', octet_length(kept_value)
      USING HINT = 'Put large data in a file and send its name.', ERRCODE = 'program_limit_exceeded';
  END IF;
  IF starts_with(signalbox_signal.value #>> '{}', '${encrypted}') AND jsonb_typeof(signalbox_signal.value) = 'string' THEN
    RAISE EXCEPTION 'signalbox_signal: value: expected no text that begins with ${encrypted}, which marks encrypted values'
      USING ERRCODE = 'invalid_parameter_value';
  END IF;
  kept_key := signalbox_short(kept_key);
  kept_address := signalbox_short(kept_address);
  -- The next statement sees what was sent before.
  SELECT id, state, owner INTO run FROM flow_run
  WHERE flow_key = kept_key AND flow = kept_flow AND expired = 0 FOR NO KEY UPDATE;
  IF run.id IS NULL THEN
    RAISE EXCEPTION 'signalbox_signal: no execution of the flow % has the key %', signalbox_signal.flow, signalbox_signal.key
      USING ERRCODE = 'no_data_found';
  END IF;
  SELECT m.value INTO there FROM flow_message m WHERE m.execution = run.id AND m.address = kept_address;
  IF FOUND THEN
    BEGIN
      is_same := COALESCE(there.value::jsonb, 'null'::jsonb) = COALESCE(kept_value::jsonb, 'null'::jsonb);
    EXCEPTION WHEN data_exception THEN
      -- It has a NUL, which jsonb does not.
      is_same := false;
    END;
    IF NOT is_same THEN
      RAISE EXCEPTION 'signalbox_signal: the execution % already has another value for the signal %', run.id, signalbox_signal.signal
        USING ERRCODE = 'unique_violation';
    END IF;
    RETURN run.id;
  END IF;
  IF run.state IN ('completed', 'failed', 'cancelled') THEN
    RAISE EXCEPTION 'signalbox_signal: the execution % has ended and accepts no signals', run.id
      USING ERRCODE = 'object_not_in_prerequisite_state';
  END IF;
  WITH numbered AS (
    UPDATE flow_run SET mail = mail + 1, changed_at = at_millis, wake_at = CASE
      WHEN owner IS NOT NULL OR state = 'queued' OR wake_at <= at_millis THEN wake_at ELSE at_millis END
    WHERE id = run.id RETURNING mail
  )
  INSERT INTO flow_message (execution, seq, address, kind, name, message_id, value, at, token)
  SELECT run.id, mail, kept_address, of_kind, replace(signalbox_signal.signal, ${mark}, ${mark} || '10fffe;'),
    replace(of_id, ${mark}, ${mark} || '10fffe;'), kept_value, at_millis, gen_random_uuid()::text FROM numbered;
  IF run.owner IS NOT NULL OR run.state <> 'queued' THEN
    -- Sent when the transaction of the caller commits.
    PERFORM pg_notify(
      'signalbox_flows_' || left(encode(sha256(convert_to(current_schema(), 'UTF8')), 'hex'), 32),
      json_build_object('from', 'signalbox_signal', 'changes',
        json_build_array(json_build_array(run.owner, run.id, false)))::text
    );
  END IF;
  RETURN run.id;
END
$body$`

/** The form of a text in an index: itself, or the hash of a long one. See `sql/Texts.ts`; lengths are counted in the units of UTF-16. */
const short = `CREATE FUNCTION signalbox_short(kept text) RETURNS text LANGUAGE sql IMMUTABLE AS $body$
  SELECT CASE
    WHEN length(kept) + length(regexp_replace(kept, '[^\\U00010000-\\U0010FFFF]', '', 'g')) > 500
    THEN ${mark} || '#' || encode(sha256(convert_to(kept, 'UTF8')), 'hex') ELSE kept END
$body$`

/** Creates the function. */
export const signalFunction: ReadonlyArray<Statement> = [
  ...granted(short, "signalbox_short(text)"),
  ...granted(signal, "signalbox_signal(text, text, text, jsonb, text)")
]
