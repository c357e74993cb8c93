/**
 * Adds to the OpenAPI document what `OpenApi.fromApi` cannot derive: plain operation ids, permissions, optional bodies,
 * form bodies, idempotency keys, the responses of all operations, the deliveries of webhooks, and the texts and examples
 * of `documentation/`.
 */
import { defined } from "@signalbox/transport/Defined"
import * as Context from "effect/Context"
import * as HttpApi from "effect/http-api/HttpApi"
import type * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import type * as OpenApi from "effect/http-api/OpenApi"
import * as Predicate from "effect/Predicate"
import * as SchemaAST from "effect/SchemaAST"
import { isAlsoPut, pathAliases } from "../../contract/Aliases.ts"
import { RequiredPermission, startPermission, StartsWork } from "../../contract/Authorization.ts"
import { keyLifetime, lifetimeHeader } from "../../contract/IdempotencyKeys.ts"
import { describe } from "./Describe.ts"
import { describeFields } from "./DescribeFields.ts"
import { events } from "./Events.ts"
import { parameterTexts } from "./Parameters.ts"

type Operation = OpenApi.OpenAPISpecOperation

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })
const errorContent = { "application/json": { schema: ref("Error") } }
const text = { schema: { type: "string" } }

/** The responses of all operations. */
const common = {
  "429": {
    description: "Too many calls. Try again after `Retry-After` seconds.",
    headers: { "retry-after": text },
    content: errorContent
  },
  "503": {
    description: "The service is stopping, or its database is not available. Try again after `Retry-After` seconds.",
    headers: { "retry-after": text },
    content: errorContent
  },
  "507": {
    description: "The disk of the service is full; nothing was stored. Try again once it has space.",
    headers: { "retry-after": text },
    content: errorContent
  },
  default: { description: "Any other error; `error.code` and `error.message` say which.", content: errorContent }
}

const idempotencyParameters = [
  {
    name: "idempotency-key",
    in: "header",
    required: false,
    description: `The operation is executed once for a key and its response replayed for 24 hours, or as long as \`${lifetimeHeader}\` asks`,
    schema: { type: "string", minLength: 1, maxLength: 255 }
  },
  {
    name: lifetimeHeader,
    in: "header",
    required: false,
    description: "How many seconds the idempotency key is stored, from the first request with it; up to 7 days",
    schema: { type: "integer", minimum: 1, maximum: keyLifetime.max, default: keyLifetime.default }
  }
]

const idempotencyHeaders = {
  [lifetimeHeader]: {
    description:
      "How many seconds the idempotency key of this request is stored. A replay has the value of the first request with the key",
    schema: { type: "integer" }
  },
  "idempotent-replayed": {
    description: "`true` when this is the response to an earlier request with the same idempotency key",
    schema: { type: "string" }
  }
}

const corsHeaders = {
  "access-control-allow-origin": {
    description: "The origin of the page that calls, where the service is started with `--cors` for it",
    ...text
  }
}

const withHeaders = (response: OpenApi.OpenApiSpecResponse, headers: object) => ({
  ...response,
  headers: { ...response.headers, ...headers }
})

/** Query parameters are strings in the URL; these are the schemas of their values. */
const querySchemas: Readonly<Record<string, object>> = {
  limit: { type: "integer", minimum: 1, default: 100, description: "Items of a page; more than 500 count as 500" },
  include_data: { type: "boolean", default: false },
  includeData: { type: "boolean", default: false }
}

/** Unknown fields are ignored in requests and may appear in responses as the interface grows. */
const open = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(open)
  if (!Predicate.isObjectOrArray(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key, member]) => !(key === "additionalProperties" && member === false))
      .map(([key, member]) => [key, open(member)])
  )
}

/** The text of an operation that stands in for another one. */
const deprecated = (operation: Operation, suffix: string): Operation =>
  Object.assign({}, operation, {
    operationId: `${operation.operationId}${suffix}`,
    description: `For clients of older generations: use \`${operation.operationId}\` instead.`,
    deprecated: true
  })

/** The deprecated paths and methods of these operations, which are known by their identifiers. */
const aliasesOf = (operations: ReadonlyMap<string, Operation>, basePath: string) =>
  pathAliases.flatMap(({ inPath, method, of, path, response }) => {
    const operation = operations.get(of)
    if (operation === undefined) return []
    const alias = Object.assign({}, deprecated(operation, "Alias"), {
      parameters: operation.parameters.map((parameter) =>
        parameter.name === inPath
          ? { ...parameter, in: "path", required: true, example: parameterTexts[inPath]?.example }
          : parameter
      ),
      responses: Object.fromEntries(
        Object.entries(operation.responses).map(([status, known]) => [
          status,
          status === "200" && response !== undefined
            ? { ...known, content: { "application/json": { schema: ref(response) } } }
            : known
        ])
      )
    })
    return [[`${basePath}${path}`, { [method.toLowerCase()]: alias }] as const]
  })

/** What completes each operation, by its method and path. */
const completions = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>,
  basePath: string
): ReadonlyMap<string, (operation: Operation) => Operation> => {
  const known = new Map<string, (operation: Operation) => Operation>()
  HttpApi.reflect(api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint }) => {
      const permission = Context.getOrUndefined(endpoint.annotations, RequiredPermission)
      const json = endpoint.payload.get("application/json")
      const optionalBody = json !== undefined && json.schemas.some((schema) => SchemaAST.isUndefined(schema.ast))
      const isPublicPost = endpoint.method === "POST" && endpoint.path.startsWith(`${basePath}/`)
      const takesKey = isPublicPost && !endpoint.path.endsWith("-integrations")
      const complete = (operation: Operation): Operation => {
        const body = operation.requestBody
        const content = body?.content["application/json"]
        const completed: Operation = Object.assign({}, operation, {
          operationId: endpoint.identifier,
          ...defined({
            "x-required-permission": permission,
            "x-also-required-permission": Context.get(endpoint.annotations, StartsWork) ? startPermission : undefined
          }),
          parameters: [
            ...operation.parameters.map((parameter) => {
              const schema = parameter.in === "query" ? querySchemas[parameter.name] : undefined
              return schema === undefined ? parameter : { ...parameter, schema }
            }),
            ...(takesKey ? idempotencyParameters : [])
          ],
          ...defined({
            requestBody: body && {
              required: !optionalBody,
              content: {
                ...body.content,
                ...defined({ "application/x-www-form-urlencoded": isPublicPost ? content : undefined })
              }
            }
          }),
          responses: {
            ...Object.fromEntries(
              Object.entries(operation.responses).map(([status, response]) => {
                if (Number(status) >= 400) return [status, { ...response, content: errorContent }]
                if (!endpoint.path.startsWith(`${basePath}/`)) return [status, response]
                return [status, withHeaders(response, { ...corsHeaders, ...(takesKey ? idempotencyHeaders : {}) })]
              })
            ),
            ...common
          }
        })
        return describe(completed, permission)
      }
      const path = endpoint.path.replace(/:(\w+)/g, "{$1}")
      known.set(`${endpoint.method.toLowerCase()} ${path}`, complete)
    }
  })
  return known
}

/** Transforms the document of `api`, whose public interface is at `basePath`. */
export const documentOf =
  <Id extends string, Groups extends HttpApiGroup.Constraint>(api: HttpApi.HttpApi<Id, Groups>, basePath: string) =>
  (document: Record<string, unknown>): Record<string, unknown> => {
    // The start of a control room does not wait for it.
    const known = completions(api, basePath)
    // The document is the result of `OpenApi.fromApi`, which types its parts as unknown here.
    const paths = document["paths"] as OpenApi.OpenAPISpecPaths
    const byIdentifier = new Map<string, Operation>()
    const completed = Object.entries(paths).map(([path, item]) => [
      path,
      Object.fromEntries(
        Object.entries(item).flatMap(([method, given]) => {
          // `known` has operations of this document only.
          const operation = known.get(`${method} ${path}`)?.(given as Operation)
          if (operation === undefined) return [[method, given]]
          const identifier = operation.operationId
          byIdentifier.set(identifier, operation)
          return isAlsoPut({ identifier, method: method.toUpperCase() })
            ? [
                [method, operation],
                ["put", deprecated(operation, "WithPut")]
              ]
            : [[method, operation]]
        })
      )
    ])
    // As above.
    const { schemas, ...components } = document["components"] as OpenApi.OpenAPIComponents
    // All error responses share one body, which the document has as `Error`.
    const named = Object.entries(schemas)
      .filter(([name]) => !name.endsWith("ResponseEncoded"))
      .map(([name, schema]) => [name, describeFields(schema, name)])
    // `open` keeps the members of an object.
    return open({
      ...document,
      paths: Object.fromEntries([...completed, ...aliasesOf(byIdentifier, basePath)]),
      webhooks: events,
      components: { ...components, schemas: Object.fromEntries(named) }
    }) as Record<string, unknown>
  }
