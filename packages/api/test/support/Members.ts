/** The members of requests and responses, from an OpenAPI document. */

interface SchemaObject {
  readonly $ref?: string
  readonly type?: string | ReadonlyArray<string>
  readonly properties?: Readonly<Record<string, SchemaObject>>
  readonly items?: SchemaObject | false
  readonly prefixItems?: ReadonlyArray<SchemaObject>
  readonly allOf?: ReadonlyArray<SchemaObject>
  readonly anyOf?: ReadonlyArray<SchemaObject>
  readonly oneOf?: ReadonlyArray<SchemaObject>
}

interface Content {
  readonly content?: Readonly<Record<string, { readonly schema: SchemaObject }>>
}

export interface Operation {
  readonly parameters: ReadonlyArray<{ readonly name: string; readonly in: string }>
  readonly requestBody?: Content
  readonly responses: Readonly<Record<string, Content>>
}

export interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, SchemaObject>> }
}

/** Where an operation has members. */
export const places = ["query", "body", "response"] as const
export type Place = (typeof places)[number]
export type Members = Readonly<Record<Place, ReadonlySet<string>>>

/** The members of each operation, by `GET /path`; a member of a member as `steps.id`, whether there is one or a list of them. */
export const membersOf = ({ components, paths }: Document): ReadonlyMap<string, Members> => {
  const walk = (schema: SchemaObject, at: string, found: Set<string>): Set<string> => {
    const { $ref, allOf = [], anyOf = [], items, oneOf = [], prefixItems = [], properties = {} } = schema
    const target = $ref === undefined ? undefined : components.schemas[$ref.split("/").at(-1) ?? ""]
    const listed = items === undefined || items === false ? [] : [items]
    const same = [...(target === undefined ? [] : [target]), ...allOf, ...anyOf, ...oneOf, ...prefixItems, ...listed]
    for (const inner of same) walk(inner, at, found)
    for (const [name, member] of Object.entries(properties)) {
      const path = at === "" ? name : `${at}.${name}`
      found.add(path)
      walk(member, path, found)
    }
    return found
  }
  const inContent = ({ content = {} }: Content = {}) => {
    const schema = content["application/json"]?.schema
    return schema === undefined ? new Set<string>() : walk(schema, "", new Set())
  }
  return new Map(
    Object.entries(paths).flatMap(([path, operations]) =>
      Object.entries(operations).map(([method, { parameters, requestBody, responses }]): [string, Members] => [
        `${method.toUpperCase()} ${path}`,
        {
          query: new Set(parameters.flatMap((one) => (one.in === "query" ? [one.name] : []))),
          body: inContent(requestBody),
          response: inContent(responses["200"])
        }
      ])
    )
  )
}
