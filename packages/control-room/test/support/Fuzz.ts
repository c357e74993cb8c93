/** Generates requests for any endpoint from its schemas: valid ones, nearly valid ones, and hostile ones. */
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import { type Endpoint, fill, parametersOf } from "./Endpoints.ts"
import { headersOf, type Seed } from "./Seed.ts"

/** A source of choices; the same seed gives the same choices. */
export const chooser = (seed: number) => {
  let state = seed >>> 0
  const next = (): number => {
    // mulberry32
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
  const oneOf = <A>(values: readonly [A, ...Array<A>]): A => values[Math.floor(next() * values.length)] ?? values[0]
  return { oneOf, chance: (probability: number) => next() < probability, below: (n: number) => Math.floor(next() * n) }
}
type Chooser = ReturnType<typeof chooser>

/** JSON, and text that only looks like it. */
type Tree = string | number | boolean | null | Array<Tree> | { [key: string]: Tree }

const nobody = "01900000-0000-7000-8000-000000000000"

const nastyValues: readonly [Tree, ...Array<Tree>] = [
  null,
  true,
  0,
  -1,
  0.5,
  1e308,
  -1e308,
  Number.MAX_SAFE_INTEGER + 3,
  2 ** 63,
  "",
  " ",
  "\0",
  "a\0b",
  "\ud800",
  "\udc00x",
  "\ufeff",
  "\u202e",
  "..",
  "../../etc/passwd",
  "a/b",
  "%00",
  "%",
  "' OR 1=1 --",
  '"',
  "\\",
  "\r\nx-injected: 1",
  "__proto__",
  "constructor",
  "toString",
  "name:",
  "null",
  "true",
  "NaN",
  "Infinity",
  "-0",
  "1e999",
  "2026-02-30T00:00:00Z",
  "0000-00-00T00:00:00Z",
  "9999-12-31T23:59:59+99:99",
  "http://",
  "http://[::",
  "http://a b",
  "https://user:password@[::1]:99999/",
  "javascript:alert(1)",
  "x".repeat(256),
  "😀".repeat(128),
  "x".repeat(70_000),
  nobody,
  [],
  [[]],
  {},
  { id: "\0" },
  { type: "__proto__" },
  Array.from({ length: 2000 }, (_, index) => index)
]

const nastySegments: readonly [string, ...Array<string>] = [
  nobody,
  "%00",
  "a%00b",
  "%ff",
  "%zz",
  "%",
  "%2e%2e",
  "%2F",
  "a%2Fb",
  "..%2F..",
  "%20",
  "%27%20OR%201=1",
  "%E2%80%AE",
  "%ED%A0%80",
  "name:",
  "name%3A%00",
  "name%3A%ff",
  "__proto__",
  "constructor",
  "x".repeat(600)
]

const nastyQueries: readonly [string, ...Array<string>] = [
  "limit=0",
  "limit=-1",
  "limit=1.5",
  "limit=",
  "limit=1e999",
  "limit=1&limit=2",
  "limit[]=1",
  "cursor=",
  "cursor=%00",
  "cursor=AAAA.AAAA",
  "cursor[a]=1",
  "state=sleeping",
  "state=new&state=done",
  "process_id=%00",
  "process_run_id=%ED%A0%80",
  "include_data=1",
  "__proto__=1&constructor=2&toString=3",
  "=&&=%zz",
  "%ff=%ff",
  "a".repeat(3000),
  Array.from({ length: 1500 }, (_, index) => `p${index}=1`).join("&")
]

const nested = (depth: number, open: string, close: string) => open.repeat(depth) + close.repeat(depth)

const nastyBodies: readonly [string | Uint8Array, ...Array<string | Uint8Array>] = [
  "",
  " ",
  "null",
  "[]",
  "0",
  "true",
  '"\\u0000"',
  "{",
  "{}",
  "{}{}",
  "{'a':1}",
  "[1,]",
  "NaN",
  "\u0000",
  "\ufeff{}",
  nested(10_000, "[", "]"),
  nested(255, "[", "]"),
  '{"a":'.repeat(10_000) + "1" + "}".repeat(10_000),
  '{"__proto__":{"x":1}}',
  '{"constructor":{"prototype":{"x":1}}}',
  '{"payload":1e999}',
  '{"name":"\\ud800"}',
  '{"name":1,"name":"x"}',
  new Uint8Array([0xff, 0xfe, 0x7b, 0x7d]),
  new Uint8Array([0x7b, 0x22, 0xc3, 0x28, 0x22, 0x3a, 0x31, 0x7d]),
  Buffer.from("{}", "utf16le"),
  "a=1&a=2",
  "a[=1",
  "a=%zz",
  "a=%ff",
  "__proto__[x]=1",
  "name=x&name=y",
  `a${"[b]".repeat(300)}=1`,
  Array.from({ length: 10_000 }, (_, index) => `a${index}=1`).join("&"),
  "--x\r\ncontent-disposition: form-data; name=file\r\n\r\nx\r\n--x--\r\n"
]

const contentTypes: readonly [string, ...Array<string>] = [
  "application/json",
  "application/json",
  "application/json; charset=utf-8",
  "text/plain",
  "application/x-www-form-urlencoded",
  "multipart/form-data",
  "multipart/form-data; boundary=x",
  "application/xml",
  "application/octet-stream",
  "nonsense",
  "",
  "application/json; charset=\u00ff"
]

/** Replaces ids by those of the seed; shortens waits. */
const realAt = (seed: Seed): Readonly<Record<string, Tree>> => ({
  "process.id": seed.ids["process_id"] ?? "",
  "worker.id": seed.ids["worker_id"] ?? "",
  "worker_group.id": seed.ids["worker_group_id"] ?? "",
  package_id: seed.ids["task_package_id"] ?? "",
  credentials_secret: seed.ids["secret_name"] ?? "",
  work_item_ids: [seed.ids["work_item_id"] ?? ""],
  step_run_ids: [seed.ids["step_run_id"] ?? ""],
  workItemId: seed.robotIds["work_item_id"] ?? "",
  lease_token: seed.leaseToken,
  link_token: seed.linkToken,
  tasks: [seed.task],
  timestamp: "2026-11-20T08:15:30.000Z",
  expires_at: "2036-11-20T08:15:30+02:00",
  endpoint: "http://127.0.0.1:9/nobody",
  url: "http://127.0.0.1:9/nobody",
  offset: 0
})

const withReal = (tree: Tree, seed: Seed, choose: Chooser): Tree => {
  const real = realAt(seed)
  const visit = (value: Tree, key: string, parent: string): Tree => {
    const known = real[`${parent}.${key}`] ?? real[key]
    if (known !== undefined && value !== null && choose.chance(0.8)) return known
    if (key === "wait_seconds" && typeof value === "number") return 0
    if (Array.isArray(value)) return value.map((one) => visit(one, "", key))
    if (typeof value === "object" && value !== null) {
      return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, visit(one, name, key)]))
    }
    return value
  }
  return visit(tree, "", "")
}

/** Drops, retypes or extends a part of the tree, or gives it an unknown value. */
const broken = (tree: Tree, choose: Chooser): Tree => {
  const how = choose.oneOf(["drop", "retype", "extend", "enum", "deeper", "deeper", "deeper"])
  if (Array.isArray(tree) && how === "deeper" && tree.length > 0) {
    const at = choose.below(tree.length)
    return tree.map((value, index) => (index === at ? broken(value, choose) : value))
  }
  if (typeof tree === "object" && tree !== null && !Array.isArray(tree)) {
    const names = Object.keys(tree)
    const name = names[choose.below(names.length)]
    if (name === undefined || how === "extend") {
      return Object.fromEntries([
        ...Object.entries(tree),
        [choose.oneOf(["unknown", "__proto__", "constructor", "id", "type", "\0"]), choose.oneOf(nastyValues)]
      ])
    }
    return Object.fromEntries(
      Object.entries(tree).flatMap(([key, value]): ReadonlyArray<readonly [string, Tree]> => {
        if (key !== name) return [[key, value]]
        if (how === "drop") return []
        return [
          [key, how === "deeper" ? broken(value, choose) : how === "enum" ? "none of these" : choose.oneOf(nastyValues)]
        ]
      })
    )
  }
  return choose.oneOf(nastyValues)
}

/** A tree as a form with brackets. */
const formOf = (tree: Tree): string => {
  const pairs: Array<string> = []
  const escape = (text: string) => encodeURIComponent(text.toWellFormed())
  const visit = (value: Tree, name: string): void => {
    if (Array.isArray(value))
      value.forEach((one, index) => visit(one, `${name}[${typeof one === "object" ? index : ""}]`))
    else if (typeof value === "object" && value !== null) {
      for (const [key, one] of Object.entries(value)) visit(one, name === "" ? escape(key) : `${name}[${escape(key)}]`)
    } else pairs.push(`${name}=${escape(String(value))}`)
  }
  visit(tree, "")
  return pairs.join("&")
}

export interface Sample {
  readonly mode: "valid" | "near" | "hostile"
  readonly pick: number
  readonly params: unknown
  readonly query: unknown
  readonly headers: unknown
  readonly payload: unknown
}

type AnySchema = Schema.Codec<unknown>

const schemasOf = ({ declared }: Endpoint) => {
  const json = declared.payload.get("application/json")
  return {
    params: declared.params as AnySchema | undefined,
    query: declared.query as AnySchema | undefined,
    headers: declared.headers as AnySchema | undefined,
    payload: json === undefined ? undefined : (Schema.Union(json.schemas) as unknown as AnySchema)
  }
}

const secretNames = Schema.Literals(["a", "A_1", "x".repeat(255), "constructor", "__proto__"])
const bytes = Schema.Literals(["", "AAAA", "c2VlZA=="])

/** Payloads that cannot be generated from their schema alone, since some part has a form that no generator finds. */
const handmade: Readonly<Record<string, Arbitrary.Arbitrary<unknown>>> = {
  createSecret: Arbitrary.schema(
    Schema.Struct({
      name: secretNames,
      items: Schema.Record(Schema.String, Schema.Json),
      description: Schema.optionalKey(Schema.NullOr(Schema.String))
    })
  ),
  putSealedSecret: Arbitrary.schema(
    Schema.Struct({
      name: secretNames,
      value: bytes,
      encryption: Schema.Struct({
        encryptionScheme: Schema.Literals(["robocloud-vault-transit-v2", "none"]),
        encryptedAES: bytes,
        authTag: bytes,
        iv: bytes
      })
    })
  ),
  createWebhook: Arbitrary.schema(
    Schema.Struct({
      endpoint: Schema.Literals(["http://127.0.0.1:9/a", "https://127.0.0.1:9/b?c=d"]),
      enabled_events: Schema.NonEmptyArray(
        Schema.Literals(["process_run.started", "process_run.completed", "process_run.unresolved"])
      ),
      process: Schema.optionalKey(Schema.NullOr(Schema.Struct({ id: Schema.String })))
    })
  )
}

/** The parts of a request to an endpoint. */
export const samplesOf = (endpoint: Endpoint): Arbitrary.Arbitrary<Sample> => {
  const { headers, params, payload, query } = schemasOf(endpoint)
  const of = (schema: AnySchema | undefined) =>
    schema === undefined ? Arbitrary.Constant(undefined) : Arbitrary.schema(schema)
  return Arbitrary.all({
    mode: Arbitrary.schema(Schema.Literals(["valid", "near", "hostile"])),
    pick: Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2 ** 31 }))),
    // The names of new secrets are the one path parameter with a required form.
    params: endpoint.identifier === "putSealedSecret" ? Arbitrary.Constant({}) : of(params),
    query: of(query),
    headers: of(headers),
    payload: handmade[endpoint.identifier] ?? of(payload)
  })
}

export interface FuzzRequest {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
}

const segment = (text: string): string => {
  const escaped = encodeURIComponent(text.toWellFormed())
  // An empty one would be another address.
  return escaped === "" || escaped === "." || escaped === ".." ? nobody : escaped
}

/** What a header may hold. */
const visible = (text: string) => text.replace(/[^\x21-\x7e]/g, "-")

const asTree = (encoded: unknown): Tree => (encoded === undefined ? null : JSON.parse(JSON.stringify(encoded)))

const encode = (schema: AnySchema | undefined, value: unknown): Tree =>
  schema === undefined ? null : asTree(Schema.encodeSync(schema)(value))

const recordOf = (tree: Tree): Readonly<Record<string, Tree>> =>
  typeof tree === "object" && tree !== null && !Array.isArray(tree) ? tree : {}

/** The request of a sample, in a workspace with the resources of the seed. */
export const requestOf = (endpoint: Endpoint, sample: Sample, seed: Seed): FuzzRequest => {
  const choose = chooser(sample.pick)
  const { mode } = sample
  const schemas = schemasOf(endpoint)
  const ids = endpoint.door === "run" ? seed.robotIds : seed.ids
  const generated = recordOf(endpoint.identifier === "putSealedSecret" ? {} : encode(schemas.params, sample.params))
  // The workspace is not varied: keys decide about others, which another test covers.
  const path = fill(endpoint.path, (name) => {
    if (name !== "workspace_id" && mode === "hostile" && choose.chance(0.4)) return choose.oneOf(nastySegments)
    if (name !== "workspace_id" && choose.chance(0.15)) return segment(String(generated[name] ?? ""))
    const other = mode === "near" && name !== "workspace_id" && choose.chance(0.1)
    const known = ids[other ? (parametersOf(endpoint.path)[0] ?? name) : name] ?? nobody
    return name === "asset_id" && choose.chance(0.3) ? `name:${segment(seed.names.asset)}` : known
  })

  const pairs = Object.entries(recordOf(encode(schemas.query, sample.query))).map(([name, value]): [string, string] => [
    name,
    name in seed.ids && choose.chance(0.8) ? (seed.ids[name] ?? "") : String(value)
  ])
  // A generated cursor is never valid; without it the list continues.
  const query = (mode === "valid" ? pairs.filter(([name]) => name !== "cursor") : pairs)
    .filter(() => mode === "valid" || choose.chance(0.9))
    .flatMap((pair) => (mode !== "valid" && choose.chance(0.1) ? [pair, pair] : [pair]))
    .map(([name, value]): [string, string] => [
      name,
      mode !== "valid" && choose.chance(0.2) ? String(choose.oneOf(nastyValues)) : value
    ])
    .map(([name, value]) => `${name}=${encodeURIComponent(value.toWellFormed())}`)
  if (mode === "hostile" && choose.chance(0.5)) query.push(choose.oneOf(nastyQueries))
  if (endpoint.door === "keyInQuery") query.push(`token=${encodeURIComponent(seed.tokens.keyInQuery)}`)

  const headers: Record<string, string> = { ...headersOf(endpoint.door, seed.tokens[endpoint.door]) }
  for (const [name, value] of Object.entries(recordOf(encode(schemas.headers, sample.headers)))) {
    headers[name] = visible(String(value))
  }
  if (endpoint.method === "POST" && choose.chance(0.1)) {
    headers["idempotency-key"] = choose.oneOf([`fuzz-${sample.pick}`, "fuzz", mode === "valid" ? "fuzz" : " "])
    headers["idempotency-key-ttl"] = choose.oneOf(["1", "604800", mode === "valid" ? "60" : "0"])
  }
  const url = query.length === 0 ? path : `${path}?${query.join("&")}`
  const request = { method: endpoint.method, path: url, headers }

  if (mode === "hostile" && choose.chance(0.7)) {
    return {
      ...request,
      headers: { ...headers, "content-type": choose.oneOf(contentTypes) },
      body: choose.oneOf(nastyBodies)
    }
  }
  if (schemas.payload === undefined) return request
  const valid = withReal(
    encode(handmade[endpoint.identifier] === undefined ? schemas.payload : Schema.Unknown, sample.payload),
    seed,
    choose
  )
  const tree = mode === "valid" ? valid : broken(valid, choose)
  if (tree === null && choose.chance(0.5)) return request
  const asForm = endpoint.method === "POST" && typeof tree === "object" && tree !== null && choose.chance(0.25)
  return asForm
    ? {
        ...request,
        headers: { ...headers, "content-type": "application/x-www-form-urlencoded" },
        body: formOf(tree)
      }
    : {
        ...request,
        headers: {
          ...headers,
          "content-type": choose.oneOf(["application/json", "application/json", "text/plain", ""])
        },
        body: JSON.stringify(tree)
      }
}
