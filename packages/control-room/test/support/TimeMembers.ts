/** The members of requests that are times, from the OpenAPI document: `format: date-time` in bodies and in queries. */
import { Api } from "@signalbox/api/contract/Api"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Schema from "effect/Schema"

const JsonObject = Schema.Record(Schema.String, Schema.Json)
const Media = Schema.Record(
  Schema.String,
  Schema.Struct({ schema: Schema.Json, example: Schema.optionalKey(Schema.Json) })
)
const Operation = Schema.Struct({
  operationId: Schema.String,
  parameters: Schema.Array(Schema.Struct({ name: Schema.String, in: Schema.String, schema: Schema.Json })),
  requestBody: Schema.optionalKey(Schema.Struct({ content: Media }))
})
const Document = Schema.Struct({
  paths: Schema.Record(Schema.String, Schema.Record(Schema.String, Operation)),
  components: Schema.Struct({ schemas: JsonObject })
})

const { components, paths } = Schema.decodeUnknownSync(Schema.fromJsonString(Document))(
  JSON.stringify(OpenApi.fromApi(Api))
)
const operations = new Map(
  Object.values(paths).flatMap((item) => Object.values(item).map((operation) => [operation.operationId, operation]))
)

type Path = ReadonlyArray<string | number>

const isObject = Schema.is(JsonObject)
const listOf = (json: Schema.Json | undefined): ReadonlyArray<Schema.Json> => (Array.isArray(json) ? json : [])
const entriesOf = (json: Schema.Json | undefined) => (isObject(json) ? Object.entries(json) : [])

/** The paths of times in values of a schema; the first element stands for all of a list. */
const pathsOf = (schema: Schema.Json | undefined, seen: ReadonlySet<string> = new Set()): ReadonlyArray<Path> => {
  if (!isObject(schema)) return []
  if (typeof schema["$ref"] === "string") {
    const name = schema["$ref"].split("/").at(-1) ?? ""
    return seen.has(name) ? [] : pathsOf(components.schemas[name], new Set([...seen, name]))
  }
  const below = (part: string | number, of: Schema.Json | undefined) => pathsOf(of, seen).map((path) => [part, ...path])
  const found = [
    ...(schema["format"] === "date-time" ? [[]] : []),
    ...["anyOf", "oneOf", "allOf"].flatMap((key) => listOf(schema[key]).flatMap((one) => pathsOf(one, seen))),
    ...entriesOf(schema["properties"]).flatMap(([name, one]) => below(name, one)),
    ...below(0, schema["items"]),
    ...listOf(schema["prefixItems"]).flatMap((one, index) => below(index, one))
  ]
  return [...new Map(found.map((path) => [path.join("."), path])).values()]
}

/** A copy of `json` with `value` at a path. */
const withValue = (json: Schema.Json | undefined, [part, ...rest]: Path, value: string): Schema.Json => {
  if (part === undefined) return value
  if (typeof part === "number") return listOf(json).with(part, withValue(listOf(json)[part], rest, value))
  const known = isObject(json) ? json : {}
  return { ...known, [part]: withValue(known[part], rest, value) }
}

export interface TimeMember {
  /** As messages name it. */
  readonly field: string
  /** The request of the document's example, with this time. */
  readonly requestWith: (time: string) => { readonly body: Schema.Json | undefined; readonly query: string }
}

/** The times in requests of an operation. */
export const timesOf = (identifier: string): ReadonlyArray<TimeMember> => {
  const { parameters = [], requestBody } = operations.get(identifier) ?? {}
  const media = requestBody?.content["application/json"]
  return [
    ...parameters.flatMap((parameter): ReadonlyArray<TimeMember> => {
      if (parameter.in !== "query" || pathsOf(parameter.schema).length === 0) return []
      const requestWith = (time: string) => ({
        body: undefined,
        query: `?${parameter.name}=${encodeURIComponent(time)}`
      })
      return [{ field: parameter.name, requestWith }]
    }),
    ...pathsOf(media?.schema).map((path): TimeMember => {
      return {
        field: path.join("."),
        requestWith: (time) => ({ body: withValue(media?.example, path, time), query: "" })
      }
    })
  ]
}
