/** What the options of a control room can be. */
import { address, check, listOf, matching, type Rule, text, time, whole } from "@signalbox/transport/OptionError"
import * as Option from "effect/Option"
import type { ServiceOptions, StorageOptions } from "../../Options.ts"
import { networkOf } from "../edge/ClientAddress.ts"
import { checkProviders } from "../settings/ProviderRules.ts"

const origin = matching(
  /^(\*|https?:\/\/[^\s/,]+)$/i,
  "expected `*` or origins without a path, such as https://app.example.com"
)

const host = matching(
  /^(\[[0-9a-f:.]+\]|[^\s:/@[\]*]+)$/i,
  "expected host names without scheme and port, such as room.example.com"
)

const network: Rule = (value) =>
  typeof value === "string" && Option.isSome(networkOf(value))
    ? null
    : "expected IP addresses or networks, such as 127.0.0.1 or 10.0.0.0/8"

const bucketName = matching(
  /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/i,
  "expected the name of a bucket, such as signalbox-files"
)

const objectPrefix = matching(
  /^((?!\.)[\w./-]*\/)?$/,
  "expected letters, digits, `.`, `-`, `_` and `/`, with a `/` at the end, such as rooms/invoices/"
)

/** Throws an `OptionError` for options of the service that cannot be. */
export const checkService = (of: string, options: ServiceOptions): void => {
  const addresses = { publicUrl: address, internalUrl: address }
  check(of, options, {
    ...addresses,
    retainRuns: time,
    retainAudit: time,
    providerStale: time,
    cors: listOf(origin),
    allowedHosts: listOf(host),
    trustedProxies: listOf(network)
  })
  const { providers = [], publicUrl, rateLimit } = options
  checkProviders(of, providers, publicUrl)
  if (rateLimit) check(of, rateLimit, { perSecond: whole(1), burst: whole(1) }, "rateLimit.")
}

/** Throws an `OptionError` for options of the storage that cannot be. */
export const checkStorage = (of: string, options: StorageOptions): void => {
  check(of, options, { data: text })
  if (options.database !== undefined) check(of, options.database, { schema: text, applicationName: text }, "database.")
  if (options.s3 !== undefined) {
    const rules = { bucket: bucketName, endpoint: address, prefix: objectPrefix, region: text, accessKeyId: text }
    check(of, options.s3, rules, "s3.")
  }
}
