/** What the OpenAPI document says of each operation: texts, examples, errors, parameters and fields. */
import { assert, describe, it } from "@effect/vitest"
import { Ajv2020 } from "ajv/dist/2020.js"
import * as Effect from "effect/Effect"
import * as HttpApi from "effect/http-api/HttpApi"
import type * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { Api } from "../src/contract/Api.ts"
import { Started } from "../src/contract/ProcessRuns.ts"
import { generalFields } from "../src/internal/documentation/Fields.ts"
import { operationTexts } from "../src/internal/documentation/Operations.ts"
import { parameterTexts } from "../src/internal/documentation/Parameters.ts"
import { specialFields } from "../src/internal/documentation/SpecialFields.ts"

const endpoints: Array<HttpApiEndpoint.Top> = []
HttpApi.reflect(Api, { onGroup: () => {}, onEndpoint: ({ endpoint }) => endpoints.push(endpoint) })

/** Missing texts are read as empty ones. */
const Text = Schema.String.pipe(Schema.withDecodingDefaultKey(Effect.succeed("")))

const JsonSchema = Schema.Record(Schema.String, Schema.Json)
const Media = Schema.Record(
  Schema.String,
  Schema.Struct({ schema: JsonSchema, example: Schema.optionalKey(Schema.Json) })
)
const Operation = Schema.Struct({
  operationId: Schema.String,
  description: Text,
  parameters: Schema.Array(
    Schema.Struct({
      name: Schema.String,
      in: Schema.String,
      description: Text,
      example: Schema.optionalKey(Schema.String)
    })
  ),
  requestBody: Schema.optionalKey(Schema.Struct({ content: Media })),
  responses: Schema.Record(Schema.String, Schema.Struct({ description: Text, content: Schema.optionalKey(Media) }))
})
const Document = Schema.Struct({
  paths: Schema.Record(Schema.String, Schema.Record(Schema.String, Operation)),
  components: JsonSchema
})

const text = JSON.stringify(OpenApi.fromApi(Api))

/** A field of a schema anywhere in the document. */
const Property = Schema.Struct({ description: Schema.String })
const Properties = JsonSchema
const { components, paths } = Schema.decodeUnknownSync(Schema.fromJsonString(Document))(text)
const operations = new Map(
  Object.values(paths).flatMap((item) => Object.values(item).map((operation) => [operation.operationId, operation]))
)

/** The members are codecs that need no services: an endpoint could not be served otherwise. */
const union = (schemas: ReadonlyArray<Schema.Top>) => Schema.make<Schema.Codec<unknown>>(Schema.Union(schemas).ast)

/** The JSON of a response; one that also has headers of its own is no codec of its body. */
const responseOf = (endpoint: HttpApiEndpoint.Top) =>
  endpoint.identifier === "startProcessRunFromIntegration" ? Started : union([...endpoint.success])

const assertDecodes = (schema: Schema.Codec<unknown>, json: unknown, name: string) => {
  const decoded = Schema.decodeUnknownResult(schema)(json)
  if (Result.isFailure(decoded)) assert.fail(`${name}: ${String(decoded.failure)}`)
}

describe("the documentation of operations", () => {
  it("covers the operations of the contract, and no other", () => {
    assert.deepStrictEqual(Object.keys(operationTexts).sort(), endpoints.map(({ identifier }) => identifier).sort())
  })

  for (const endpoint of endpoints) {
    const { identifier } = endpoint
    it(`${identifier} has a description, examples of its bodies, and says when each error is returned`, () => {
      const operation = operations.get(identifier)
      if (operation === undefined) return assert.fail("there is no such operation")
      assert.match(operation.description, /^[A-Z`].{20,}\.$/s)

      const payload = endpoint.payload.get("application/json")
      const request = operation.requestBody?.content["application/json"]?.example
      assert.strictEqual(request === undefined, payload === undefined, "an example of the request")
      if (payload !== undefined) assertDecodes(union(payload.schemas), request, "request")

      const [contentType, media] = Object.entries(operation.responses["200"]?.content ?? {})[0] ?? []
      assert.strictEqual(media?.example === undefined, contentType === "application/zip", "an example of the response")
      if (contentType === "application/json") assertDecodes(responseOf(endpoint), media?.example, "response")

      for (const [status, { description }] of Object.entries(operation.responses)) {
        if (status !== "200") assert.match(description, /^[A-Z`].{15,}\.$/s, status)
      }
      for (const { description, example, in: place, name } of operation.parameters) {
        assert.match(description, /^[A-Z`].{10,}$/s, name)
        if (place === "path") assert.isDefined(example, name)
      }
    })
  }

  it("has requests that other validators accept by the schemas of the document", () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false, validateSchema: false })
    ajv.addSchema({ $id: "document", components })
    const inDocument = (schema: object): object =>
      JSON.parse(JSON.stringify(schema).replaceAll('"#/components/', '"document#/components/'))
    const refused = endpoints.flatMap(({ identifier }) => {
      const media = operations.get(identifier)?.requestBody?.content["application/json"]
      if (media?.example === undefined) return []
      return ajv.validate(inDocument(media.schema), media.example) ? [] : [`${identifier}: ${ajv.errorsText()}`]
    })
    assert.deepStrictEqual(refused, [])
  })

  it("describes every field of every body", () => {
    const missing: Array<string> = []
    const visit = (json: Schema.Json, at: string): void => {
      if (Array.isArray(json)) return json.forEach((one: Schema.Json) => visit(one, at))
      if (typeof json !== "object" || json === null) return
      for (const [key, value] of Object.entries(json)) {
        // Examples have fields of their own.
        if (key === "example") continue
        if (key === "properties") {
          for (const [name, field] of Object.entries(Schema.decodeUnknownSync(Properties)(value))) {
            if (Result.isFailure(Schema.decodeUnknownResult(Property)(field))) missing.push(`${at}.${name}`)
          }
        }
        visit(value, key === "properties" ? at : `${at}.${key}`)
      }
    }
    visit(Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Json))(text), "document")
    assert.deepStrictEqual(missing, [])
  })

  it("has no text of a field that does not exist", () => {
    const texts = Object.entries({ ...generalFields, ...specialFields })
    assert.deepStrictEqual(
      texts.filter(([, value]) => !text.includes(JSON.stringify(value))).map(([key]) => key),
      []
    )
  })

  it("describes no parameter that does not exist", () => {
    const used = new Set([...operations.values()].flatMap(({ parameters }) => parameters.map(({ name }) => name)))
    assert.deepStrictEqual(
      Object.keys(parameterTexts).filter((name) => !used.has(name)),
      []
    )
  })

  it("has the same examples for the paths of older generations", () => {
    const alias = operations.get("createWorkItemFileAlias")
    assert.deepStrictEqual(alias?.requestBody, operations.get("createWorkItemFile")?.requestBody)
    assert.match(alias?.description ?? "", /use `createWorkItemFile`/)
  })
})
