/**
 * The examples of the OpenAPI document as they are served, and their comparison with what the service responds. Ids and
 * other values that differ from room to room are learned: where one stands in two examples, the service must return the
 * same value in both places.
 */
import * as Schema from "effect/Schema"

const Media = Schema.Record(Schema.String, Schema.Struct({ example: Schema.optionalKey(Schema.Json) }))

const Operation = Schema.Struct({
  operationId: Schema.String,
  deprecated: Schema.optionalKey(Schema.Boolean),
  description: Schema.optionalKey(Schema.String),
  security: Schema.Array(Schema.Record(Schema.String, Schema.Json)),
  parameters: Schema.Array(
    Schema.Struct({
      name: Schema.String,
      in: Schema.String,
      required: Schema.Boolean,
      example: Schema.optionalKey(Schema.String)
    })
  ),
  requestBody: Schema.optionalKey(Schema.Struct({ content: Media })),
  responses: Schema.Record(
    Schema.String,
    Schema.Struct({ description: Schema.String, content: Schema.optionalKey(Media) })
  )
})

const Document = Schema.Struct({
  paths: Schema.Record(Schema.String, Schema.Record(Schema.String, Operation))
})

export interface Example {
  readonly identifier: string
  readonly method: string
  /** With the names of its parameters in braces. */
  readonly path: string
  readonly schemes: ReadonlySet<string>
  readonly parameters: ReadonlyArray<{ readonly name: string; readonly in: string; readonly example: string }>
  readonly request: Schema.Json | undefined
  readonly response: Schema.Json | undefined
  readonly contentType: string
}

/** The examples of a document by their operations, without the aliases of older generations. */
export const examplesOf = (document: string): ReadonlyMap<string, Example> => {
  const { paths } = Schema.decodeUnknownSync(Schema.fromJsonString(Document))(document)
  const found = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId, parameters, requestBody, responses, security }]): Example => {
      const [contentType = "", content] = Object.entries(responses["200"]?.content ?? {})[0] ?? []
      return {
        identifier: operationId,
        method: method.toUpperCase(),
        path,
        schemes: new Set(security.flatMap((one) => Object.keys(one))),
        parameters: parameters.flatMap(({ example, in: place, name }) =>
          example === undefined ? [] : [{ name, in: place, example }]
        ),
        request: requestBody?.content["application/json"]?.example,
        response: content?.example,
        contentType
      }
    })
  )
  return new Map(
    found.filter(({ identifier }) => !/(Alias|WithPut)$/.test(identifier)).map((one) => [one.identifier, one])
  )
}

/** Values that are learned wherever they stand: ids, and hashes. */
const isId = (text: string) => /^[0-9a-f]{8}-[0-9a-f-]{27}$/.test(text) || /^[0-9a-f]{20,64}$/.test(text)
const isTime = (text: string) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/.test(text)
const isUrl = (text: string) => /^https?:\/\//.test(text)

/** Members whose text is a secret, a hash, or signed. */
const opaque = new Set([
  "authTag",
  "body",
  "digest",
  "encryptedAES",
  "iv",
  "key",
  "lease_token",
  "link_token",
  "newer",
  "next",
  "revision",
  "run_token",
  "secret",
  "ticket",
  "value",
  "worker_token"
])

/** Members whose number depends on the time. */
const measured = new Set(["duration", "open", "seq"])

/** What was learned: the value of this room for a value of the examples. */
export class Learned {
  private readonly values: Map<string, string>

  constructor(values: Readonly<Record<string, string>>) {
    this.values = new Map(Object.entries(values))
  }

  set(example: string, actual: string): void {
    this.values.set(example, actual)
  }

  get(example: string): string | undefined {
    return this.values.get(example)
  }

  /** The example with the values of this room. */
  fill(json: Schema.Json): Schema.Json {
    if (typeof json === "string") return this.values.get(json) ?? json
    if (Array.isArray(json)) return json.map((item: Schema.Json) => this.fill(item))
    if (typeof json !== "object" || json === null) return json
    return Object.fromEntries(Object.entries(json).map(([key, value]) => [key, this.fill(value)]))
  }
}

/** Where a response is not as its example says; without `values`, in its shape. */
export const differences = (
  expected: Schema.Json | undefined,
  actual: Schema.Json | undefined,
  learned: Learned,
  values: boolean,
  at: ReadonlyArray<string> = []
): ReadonlyArray<string> => {
  const here = at.join(".")
  const differs = () =>
    values ? [`${here}: ${JSON.stringify(actual)}, and the example has ${JSON.stringify(expected)}`] : []
  const name = at.findLast((key) => !/^\d+$/.test(key)) ?? ""
  if (typeof expected === "string" && typeof actual === "string") {
    const known = learned.get(expected)
    if (known === actual) return []
    if (isTime(expected)) return isTime(actual) ? [] : differs()
    const inForm = at.some((key) => key === "form_data" || key === "fields")
    if (known === undefined && (isId(expected) || isUrl(expected) || opaque.has(name) || inForm)) {
      if (isUrl(expected) !== isUrl(actual)) return differs()
      learned.set(expected, actual)
      return []
    }
    // Addresses are signed anew each time, and a secret may be replaced.
    if (isUrl(expected) || opaque.has(name) || inForm) return []
    return learned.fill(expected) === actual ? [] : differs()
  }
  if (typeof expected === "number" && typeof actual === "number") {
    return measured.has(name) || expected === actual ? [] : differs()
  }
  if (Array.isArray(expected) && Array.isArray(actual)) {
    if (actual.length < expected.length) return differs()
    return expected.flatMap((item: Schema.Json, index) =>
      differences(item, actual[index], learned, values, [...at, String(index)])
    )
  }
  const bothObjects = [expected, actual].every((one) => typeof one === "object" && one !== null && !Array.isArray(one))
  if (!bothObjects || typeof expected !== "object" || typeof actual !== "object") {
    return expected === actual ? [] : differs()
  }
  const [members, found] = [Object.entries(expected ?? {}), Object.entries(actual ?? {})]
  const missing = members.filter(([key]) => !found.some(([other]) => other === key))
  const added = found.filter(([key]) => !members.some(([other]) => other === key))
  return [
    ...missing.map(([key]) => `${here}: has no ${key}, and the example has it`),
    ...added.map(([key]) => `${here}: has ${key}, and the example has none`),
    ...members.flatMap(([key, value]) => {
      const other = found.find(([name]) => name === key)
      return other === undefined ? [] : differences(value, other[1], learned, values, [...at, key])
    })
  ]
}
