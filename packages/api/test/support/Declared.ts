/** What is declared of each endpoint, by its identifier. */
import { readdirSync } from "node:fs"
import type { Top } from "../../src/internal/endpoints/Endpoint.ts"

const folder = new URL("../../src/internal/endpoints/", import.meta.url)

export const isDeclared = (value: unknown): value is Top =>
  typeof value === "object" && value !== null && "identifier" in value && "parts" in value

const modules: ReadonlyArray<object> = await Promise.all(
  readdirSync(folder).map(async (file): Promise<object> => import(new URL(file, folder).href))
)

export const declared: ReadonlyMap<string, Top> = new Map(
  modules
    .flatMap((module): ReadonlyArray<unknown> => Object.values(module))
    .filter(isDeclared)
    .map((endpoint) => [endpoint.identifier, endpoint])
)
