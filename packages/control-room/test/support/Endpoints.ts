/**
 * Every endpoint of the contract as a value, with its authentication. Tests over this list cover endpoints that do not
 * exist yet.
 */
import { Api } from "@signalbox/api/contract/Api"
import {
  IntegrationAuthorization,
  type Permission,
  permissionsNeeded,
  TokenAuthorization,
  WorkspaceAuthorization
} from "@signalbox/api/contract/Authorization"
import * as HttpApi from "effect/http-api/HttpApi"
import type * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import type * as Schema from "effect/Schema"

/**
 * The authentication of an endpoint: a key of the workspace in the header, the same key in the query, the token of a
 * worker, the token of a step run, or none.
 */
export type Door = "key" | "keyInQuery" | "worker" | "run" | "none"

type Responses = ReadonlyMap<number, readonly [Schema.Top, ...Array<Schema.Top>]>

export interface Endpoint {
  readonly identifier: string
  readonly method: string
  readonly path: string
  readonly door: Door
  /** None: any key will do, or none is needed. */
  readonly needed: ReadonlyArray<Permission>
  readonly declared: HttpApiEndpoint.Top
  readonly successes: Responses
  readonly errors: Responses
}

export const endpoints: ReadonlyArray<Endpoint> = (() => {
  const found: Array<Endpoint> = []
  HttpApi.reflect(Api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint, errors, group, middleware, successes }) => {
      const keys = new Set([...middleware].map(({ key }) => key))
      const door: Door = keys.has(WorkspaceAuthorization.key)
        ? "key"
        : keys.has(IntegrationAuthorization.key)
          ? "keyInQuery"
          : keys.has(TokenAuthorization.key)
            ? group.identifier === "workerProtocol"
              ? "worker"
              : "run"
            : "none"
      found.push({
        identifier: endpoint.identifier,
        method: endpoint.method,
        path: endpoint.path,
        door,
        needed: permissionsNeeded(endpoint),
        declared: endpoint,
        successes,
        errors
      })
    }
  })
  return found
})()

/** The parameters of a path, in order. */
export const parametersOf = (path: string): ReadonlyArray<string> =>
  [...path.matchAll(/:(\w+)/g)].map(([, name = ""]) => name)

/** The path with its parameters filled in unencoded. */
export const fill = (path: string, valueOf: (parameter: string) => string): string =>
  path.replace(/:(\w+)/g, (_, name: string) => valueOf(name))

/** The lists with pages; the files of one work item are a list of 100 at most. */
export const lists = endpoints.filter(
  ({ identifier, method }) => method === "GET" && identifier.startsWith("list") && identifier !== "listWorkItemFiles"
)
