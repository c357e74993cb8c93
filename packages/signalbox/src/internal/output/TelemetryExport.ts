/**
 * The exporters of OTLP. Data is redacted before it reaches them: addresses have no signatures, and headers are not
 * recorded.
 */
import * as NodeHttpClient from "@signalbox/platform/NodeHttpClient"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as References from "effect/References"
import * as Otlp from "effect/observability/Otlp"
import * as OtlpSerialization from "effect/observability/OtlpSerialization"
import packageJson from "../../../package.json" with { type: "json" }

/** An endpoint is enough, as in the specification; `none` turns a signal off. */
const defaults = ConfigProvider.fromUnknown({
  OTEL_SERVICE_NAME: "signalbox",
  OTEL_TRACES_EXPORTER: "otlp",
  OTEL_METRICS_EXPORTER: "otlp",
  OTEL_LOGS_EXPORTER: "otlp"
})

const withDefaults = Layer.effect(
  ConfigProvider.ConfigProvider,
  Effect.map(ConfigProvider.ConfigProvider, (given) => ConfigProvider.orElse(given, defaults))
)

export const layer = Otlp.layerFromConfig({ resource: { serviceVersion: packageJson.version } }).pipe(
  Layer.provide(OtlpSerialization.layerJson),
  Layer.provide(NodeHttpClient.layerUndici),
  Layer.provide(withDefaults),
  // Without those of polls, which are many and say nothing.
  Layer.merge(Layer.succeed(References.MinimumTraceLevel, "Info"))
)
