/** Endpoints for operators and their machines: whether the process is alive, whether it can serve, and its metrics. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as PrometheusMetrics from "effect/observability/PrometheusMetrics"
import type { StorageFailure } from "@signalbox/sql/StorageFailure"
import { StorageHealth } from "../storage/StorageHealth.ts"
import { body } from "./Failures.ts"

export const paths = { health: "/healthz", ready: "/readyz", metrics: "/metrics" } as const

const ok = HttpServerResponse.jsonUnsafe({ status: "ok" })

const notReady = ({ message, retryAfter }: StorageFailure) =>
  HttpServerResponse.jsonUnsafe(body("UNAVAILABLE", message), {
    status: 503,
    headers: { "retry-after": String(retryAfter ?? 60) }
  })

const probes = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const { check } = yield* StorageHealth
    yield* router.add("GET", paths.health, Effect.succeed(ok))
    yield* router.add(
      "GET",
      paths.ready,
      Effect.map(check, (failure) => (failure === null ? ok : notReady(failure)))
    )
  })
)

/** `metrics`: whether `/metrics` is served, which anyone can read. */
export const layer = ({ metrics = false }: { readonly metrics?: boolean }) =>
  metrics ? Layer.merge(probes, PrometheusMetrics.layerHttp({ path: paths.metrics })) : probes
