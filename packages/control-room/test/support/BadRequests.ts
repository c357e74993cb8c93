/** Requests with bad input: what is refused, with which status and message. */
import { type RawRequest } from "./Service.ts"

export const unknownId = "01900000-0000-7000-8000-000000000000"

export const nested = (depth: number, open = "[", close = "]") => open.repeat(depth) + close.repeat(depth)

export const json = { "content-type": "application/json" }

/** A request that is refused. */
export interface Case {
  readonly name: string
  readonly method?: string
  readonly path: string
  readonly request?: RawRequest
  readonly status: number
  /** Matches the message. */
  readonly says?: RegExp
}

/** What a request is made of: an item, its process, and another workspace. */
interface Made {
  readonly item: { readonly id: string }
  readonly process: { readonly id: string; readonly name: string }
  readonly other: string
}

/** Every kind of bad input. */
export const badRequests = ({ item, other, process }: Made): ReadonlyArray<Case> => {
  const post = (name: string, body: string | Uint8Array, status: number, says?: RegExp): Case => ({
    name,
    method: "POST",
    path: "work-items",
    request: { body, headers: json },
    status,
    ...(says === undefined ? {} : { says })
  })
  const withPayload = (text: string) => `{"process":{"id":"${process.id}"},"payload":${text}}`
  const start = (name: string, body: string, status: number, says?: RegExp): Case => ({
    ...post(name, body, status, says),
    path: `processes/${process.id}/process-runs`
  })
  const file = (name: string, fields: unknown, status: number, says?: RegExp): Case => ({
    ...post(name, JSON.stringify(fields), status, says),
    path: `work-items/${item.id}/files`
  })
  const define = (name: string, fields: object, status: number, says?: RegExp): Case => ({
    ...post(name, JSON.stringify({ name: "x", steps: [], ...fields }), status, says),
    path: "processes"
  })
  return [
    post("malformed JSON", "{process:1}", 400, /JSON/),
    post("truncated JSON", '{"process":{"id":"', 400, /JSON/),
    post("two JSON values", "{} {}", 400, /JSON/),
    post("invalid UTF-8", Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]), 400, /UTF-8/),
    post(
      "invalid UTF-8 within a string",
      Buffer.concat([Buffer.from('{"process":"'), Buffer.from([0xc3, 0x28]), Buffer.from('"}')]),
      400,
      /UTF-8/
    ),
    post("UTF-16", Buffer.from('{"process":{}}', "utf16le"), 400),
    post("10,000 arrays deep", withPayload(nested(10_000)), 400, /256/),
    post("10,000 objects deep", withPayload('{"a":'.repeat(10_000) + "1" + "}".repeat(10_000)), 400, /256/),
    post("100,000 open brackets", "[".repeat(100_000), 400, /256/),
    post("one level too deep", withPayload(nested(256)), 400, /256/),
    post("a number beyond all numbers", withPayload("1e999"), 400, /payload/),
    post("a negative one, deep inside", withPayload('{"a":[-1e999]}'), 400, /payload/),
    post("an empty body", "", 400),
    post("null", "null", 400),
    post("an array", "[]", 400),
    post("a string", '"x"', 400),
    post("a missing member", '{"payload":1}', 400, /process/),
    post("a wrong type", '{"process":{"id":5}}', 400, /process\.id/),
    post("an id that is no UUID", '{"process":{"id":"nope"}}', 404, /nope/),
    post("an id with a NUL", '{"process":{"id":"a\\u0000b"}}', 404),
    post("an id with half a surrogate pair", '{"process":{"id":"\\ud800"}}', 404),
    post("an unknown process", `{"process":{"id":"${unknownId}"}}`, 404, new RegExp(unknownId)),
    post("a payload above 1 MB", withPayload(`"${"x".repeat(1024 * 1024)}"`), 413, /payload/),
    post("a body above 8 MB", withPayload(`"${"x".repeat(8 * 1024 * 1024)}"`), 413),
    {
      name: "a chunked body above 8 MB",
      method: "POST",
      path: "work-items",
      request: { body: Buffer.alloc(9 * 1024 * 1024, 0x20), headers: { ...json, "transfer-encoding": "chunked" } },
      status: 413
    },
    {
      ...post("XML", "<a/>", 415, /xml/),
      request: { body: "<a/>", headers: { "content-type": "application/xml" } }
    },
    { ...post("a made-up type", "{}", 415), request: { body: "{}", headers: { "content-type": "nonsense" } } },
    start("an unknown type of start", '{"type":"with_everything"}', 400),
    start("payloads of the wrong type", '{"type":"with_payloads","payloads":{}}', 400, /payloads/),
    start("no payloads", '{"type":"with_payloads","payloads":[]}', 400, /payloads/),
    start(
      "1,001 payloads",
      `{"type":"with_payloads","payloads":[${Array.from({ length: 1001 }, () => "1").join(",")}]}`,
      400,
      /payloads/
    ),
    start(
      "a payload above 1 MB",
      `{"type":"with_payloads","payloads":[1,"${"x".repeat(1024 * 1024)}"]}`,
      413,
      /payloads\.1/
    ),
    start("an array as start", "[]", 400),
    start("a number as start", "5", 400),
    start("a text as start", '"with_inputs"', 400),
    start(
      "items named twice",
      `{"type":"with_work_item_ids","work_item_ids":["${item.id}","${item.id}"]}`,
      409,
      /twice/
    ),
    start("items that are not there", `{"type":"with_work_item_ids","work_item_ids":["${unknownId}"]}`, 409),
    file("a file without a name", { file_name: "", file_size: 1 }, 400, /file_name/),
    file("a file with a path", { file_name: "../../etc/passwd", file_size: 1 }, 400, /file_name/),
    file("a file with a Windows path", { file_name: "..\\x", file_size: 1 }, 400, /file_name/),
    file("a file named ..", { file_name: "..", file_size: 1 }, 400, /file_name/),
    file("a file name with a NUL", { file_name: "a\0b", file_size: 1 }, 400, /file_name/),
    file("a file name with a line break", { file_name: "a\r\nb", file_size: 1 }, 400, /file_name/),
    file("a file name with half a surrogate pair", { file_name: "a\ud800", file_size: 1 }, 400, /file_name/),
    file("a file name of 256 characters", { file_name: "x".repeat(256), file_size: 1 }, 400, /file_name/),
    file("a negative size", { file_name: "a", file_size: -1 }, 400, /file_size/),
    file("a size with a fraction", { file_name: "a", file_size: 1.5 }, 400, /file_size/),
    file("a size beyond all files", { file_name: "a", file_size: 1e308 }, 400, /file_size/),
    file("a size as text", { file_name: "a", file_size: "5" }, 400, /file_size/),
    file("a file above 1 GB", { file_name: "a", file_size: 2 ** 30 + 1 }, 413, /file_size/),
    define("a process without a name", { name: "" }, 400, /name/),
    define("a process name with a NUL", { name: "a\0b" }, 400, /name/),
    define("a process name of 256 characters", { name: "n".repeat(256) }, 400, /name/),
    define("a process name that is taken", { name: process.name }, 409, /name/),
    define("a description with a NUL", { name: "d", description: "a\0" }, 400, /description/),
    define(
      "two steps of one name",
      {
        steps: [
          { name: "a", task: { name: "t" } },
          { name: "a", task: { name: "u" } }
        ]
      },
      400,
      /steps\.1\.name/
    ),
    define(
      "an unknown package",
      { steps: [{ name: "a", task: { name: "t", package_id: unknownId } }] },
      404,
      /package_id/
    ),
    define(
      "101 steps",
      { steps: Array.from({ length: 101 }, (_, n) => ({ name: `${n}`, task: { name: "t" } })) },
      400,
      /steps/
    ),
    define(
      "a default item above 1 MB",
      { default_work_item: { payload: "x".repeat(1024 * 1024) } },
      413,
      /default_work_item/
    ),
    {
      ...post("a batch of nothing", '{"batch_operation":"retry","work_item_ids":[]}', 400, /work_item_ids/),
      path: "work-items/batch"
    },
    {
      ...post(
        "an unknown batch operation",
        `{"batch_operation":"burn","work_item_ids":["${item.id}"]}`,
        400,
        /batch_operation/
      ),
      path: "work-items/batch"
    },
    {
      ...post(
        "a batch that names an item twice",
        `{"batch_operation":"delete","work_item_ids":["${item.id}","${item.id}"]}`,
        400,
        /twice/
      ),
      path: "work-items/batch"
    },
    {
      ...post(
        "a batch with a foreign item",
        `{"batch_operation":"delete","work_item_ids":["${item.id}","${unknownId}"]}`,
        404,
        new RegExp(unknownId)
      ),
      path: "work-items/batch"
    },
    {
      ...post(
        "a batch in the wrong state",
        `{"batch_operation":"retry","work_item_ids":["${item.id}"]}`,
        409,
        /failed/
      ),
      path: "work-items/batch"
    },
    {
      ...post(
        "10,001 items",
        JSON.stringify({
          batch_operation: "delete",
          work_item_ids: Array.from({ length: 10_001 }, (_, n) => `${n}`)
        }),
        400,
        /work_item_ids/
      ),
      path: "work-items/batch"
    },
    {
      ...post("a link token of the past", '{"expires_at":"2001-01-01T00:00:00Z"}', 400, /expires_at/),
      path: "workers/link-tokens"
    },
    {
      ...post("a link token of no date", '{"expires_at":"2001-99-99T00:00:00Z"}', 400, /expires_at/),
      path: "workers/link-tokens"
    },
    { name: "an unknown item", path: `work-items/${unknownId}`, status: 404, says: new RegExp(unknownId) },
    { name: "an id that is no UUID in the path", path: "work-items/nope", status: 404 },
    { name: "an id with a NUL in the path", path: "work-items/a%00b", status: 404 },
    { name: "an id that is not valid UTF-8", path: "work-items/%ff%fe", status: 404 },
    { name: "a broken escape", path: "work-items/%zz", status: 404 },
    { name: "an id of 5,000 characters", path: `work-items/${"a".repeat(5000)}`, status: 404 },
    { name: "SQL in an id", path: `work-items/${encodeURIComponent("' OR 1=1 --")}`, status: 404 },
    {
      name: "an unknown run to stop",
      method: "POST",
      path: `process-runs/${unknownId}/stop`,
      request: { json: { set_remaining_work_items_as_done: true, terminate_ongoing_activity_runs: true } },
      status: 404
    },
    {
      name: "booleans as texts",
      method: "POST",
      path: `process-runs/${unknownId}/stop`,
      request: { json: { set_remaining_work_items_as_done: "true", terminate_ongoing_activity_runs: "true" } },
      status: 400
    },
    { name: "an unknown run to delete", method: "DELETE", path: `process-runs/${unknownId}`, status: 404 },
    { name: "outputs of no run", path: "outputs", status: 400, says: /process_run_id/ },
    { name: "outputs of an unknown run", path: `outputs?process_run_id=${unknownId}`, status: 404 },
    { name: "step runs of an unknown run", path: `step-runs?process_run_id=${unknownId}`, status: 404 },
    { name: "a workspace of another", path: `/api/v1/workspaces/${other}/work-items`, status: 403 },
    { name: "a workspace that is not there", path: `/api/v1/workspaces/${unknownId}/work-items`, status: 403 },
    { name: "a workspace that is no UUID", path: "/api/v1/workspaces/nope", status: 403 },
    { name: "a path that is not there", path: "nothing", status: 404, says: /nothing/ },
    { name: "a path with another case", path: "Work-Items", status: 404 },
    { name: "the root", path: "/", status: 404 },
    { name: "a path that looks like a host", path: "//[", status: 404 },
    { name: "a path of escapes", path: "/%00%ff%zz?%zz=%ff", status: 404 },
    { name: "a wrong method", method: "DELETE", path: "work-items", status: 405, says: /GET/ },
    { name: "PUT where nothing is updated", method: "PUT", path: "work-items", request: { json: {} }, status: 405 },
    { name: "PATCH", method: "PATCH", path: `work-items/${item.id}`, request: { json: {} }, status: 405 },
    { name: "OPTIONS", method: "OPTIONS", path: "work-items", status: 405 },
    { name: "TRACE", method: "TRACE", path: "work-items", status: 405 },
    { name: "PROPFIND", method: "PROPFIND", path: "work-items", status: 405 },
    { name: "POST to the OpenAPI document", method: "POST", path: "/api/v1/openapi.json", status: 405 },
    { name: "GET of the uploads", path: "/transfer/v1/uploads", status: 405 },
    { name: "no key", path: "work-items", request: { key: null }, status: 401, says: /RC-WSKEY/ },
    {
      name: "no key and a bad body",
      method: "POST",
      path: "work-items",
      request: { key: null, body: "{" },
      status: 401
    },
    { name: "a batch that is not allowed by its case", method: "POST", path: "work-items/Batch", status: 405 },
    ...["0", "-1", "1.5", "abc", "", " ", "1e999", "NaN", "5,6", "9007199254740993e9"].map((limit): Case => ({
      name: `limit=${limit}`,
      path: `work-items?limit=${encodeURIComponent(limit)}`,
      status: 400,
      says: /limit/
    })),
    { name: "a limit given twice", path: "work-items?limit=1&limit=2", status: 400, says: /limit/ },
    { name: "an unknown state", path: "work-items?state=sleeping", status: 400, says: /state/ },
    { name: "a state given twice", path: "work-items?state=new&state=done", status: 400, says: /state/ },
    { name: "a boolean of another kind", path: "work-items?include_data=yes", status: 400, says: /include_data/ },
    ...["", "x", ".", "a.b", "%00", "../..", unknownId, `${Buffer.from(item.id).toString("base64url")}.AAAA`].map(
      (cursor): Case => ({
        name: `cursor ${cursor}`,
        path: `work-items?cursor=${encodeURIComponent(cursor)}`,
        status: 400,
        says: /cursor/
      })
    )
  ]
}
