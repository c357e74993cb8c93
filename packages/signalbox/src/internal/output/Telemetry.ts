/**
 * Traces, metrics and logs over OTLP, configured by the standard variables (`OTEL_EXPORTER_OTLP_ENDPOINT`, ...).
 * Nothing is loaded while none of them is set.
 */
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

const endpoints = [
  "OTEL_EXPORTER_OTLP_ENDPOINT",
  "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
  "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
  "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT"
]

const wanted = Effect.gen(function* () {
  const given = yield* Effect.forEach(endpoints, (name) => Effect.option(Config.NonEmptyString(name)))
  return given.some((endpoint) => endpoint._tag === "Some")
})

export const layer = Layer.unwrap(
  Effect.gen(function* () {
    const disabled = yield* Effect.orElseSucceed(Config.Boolean("OTEL_SDK_DISABLED"), () => false)
    if (disabled || !(yield* wanted)) return Layer.empty
    const { layer } = yield* Effect.promise(async () => import("./TelemetryExport.ts"))
    return layer
  })
)
