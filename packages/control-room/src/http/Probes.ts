/**
 * What operators and their machines ask: whether the process lives, whether it can serve, and its metrics.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as PrometheusMetrics from "effect/observability/PrometheusMetrics"
import { Database } from "../store/Database.ts"
import { body } from "./Failures.ts"

export const paths = { health: "/healthz", ready: "/readyz", metrics: "/metrics" } as const

const ok = HttpServerResponse.jsonUnsafe({ status: "ok" })

const away = HttpServerResponse.jsonUnsafe(body("UNAVAILABLE", "the database is away"), {
  status: 503,
  headers: { "retry-after": "1" }
})

const probes = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const { sql } = yield* Database
    const ready = Effect.match(sql`SELECT 1`, { onSuccess: () => ok, onFailure: () => away })
    yield* router.add("GET", paths.health, Effect.succeed(ok))
    yield* router.add("GET", paths.ready, ready)
  })
)

export const layer = Layer.mergeAll(probes, PrometheusMetrics.layerHttp({ path: paths.metrics }))
