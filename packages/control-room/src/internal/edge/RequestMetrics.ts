/** How long requests took, by the part of the interface that they belong to. */
import { basePath } from "@signalbox/api/contract/Api"
import type * as Context from "effect/Context"
import * as Metric from "effect/Metric"
import { hooksPath } from "../settings/HooksPath.ts"
import { transferPrefix } from "../transfers/FileLinks.ts"
import { pathOf } from "./Incoming.ts"
import { paths as probePaths } from "./Probes.ts"

const requestSeconds = Metric.histogram("signalbox_http_request_seconds", {
  description: "Duration of requests, by method, status and interface",
  boundaries: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
})

/** The first prefix that fits decides. Leases are apart from the rest of the worker's calls: they wait for work. */
const interfaces: ReadonlyArray<readonly [prefix: string, name: string]> = [
  ["/worker-v1/lease", "lease"],
  ["/worker-v1/", "worker"],
  [`${basePath}/`, "api"],
  [`${transferPrefix}/`, "files"],
  [`${hooksPath}/`, "hooks"],
  ["/console", "console"],
  ...Object.values(probePaths).map((path) => [path, "probe"] as const)
]

const interfaceOf = (url: string): string => {
  const path = pathOf(url)
  return interfaces.find(([prefix]) => path.startsWith(prefix))?.[1] ?? "robot"
}

/** Creates a function that records a request. There are few combinations: the histogram of each is created once. */
export const make = () => {
  const histograms = new Map<string, Metric.Metric<number, unknown>>()
  return (
    { method, url }: { readonly method: string; readonly url: string },
    status: number,
    seconds: number,
    context: Context.Context<never>
  ): void => {
    const at = interfaceOf(url)
    const name = `${method} ${status} ${at}`
    const histogram =
      histograms.get(name) ?? Metric.withAttributes(requestSeconds, { method, status: String(status), interface: at })
    histograms.set(name, histogram)
    histogram.updateUnsafe(seconds, context)
  }
}
