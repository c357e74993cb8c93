/** A bucket for tests: of a server in this process, or of a real one that the environment names. */
import { startS3, type S3Server } from "@signalbox/testkit/S3Server"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type { S3Options } from "../../src/Options.ts"

/** A server in this process, closed with the scope. */
export const s3Server = Effect.acquireRelease(
  Effect.promise(() => startS3()),
  ({ close }) => Effect.promise(close)
)

/** The options for a server of this process. */
export const optionsOf = ({ bucket, credentials, endpoint, region }: S3Server): S3Options => ({
  bucket,
  endpoint,
  region,
  accessKeyId: credentials.accessKeyId,
  secretAccessKey: Redacted.make(credentials.secretAccessKey)
})

/**
 * A real bucket, with by default a new prefix for each test: `SIGNALBOX_TEST_S3` has its address with the bucket as path, such as
 * `http://127.0.0.1:9000/bucket`; key and region are those of `AWS_ACCESS_KEY_ID` and its kin.
 */
export const externalBucket = (prefix = `test-${crypto.randomUUID()}/`): S3Options | null => {
  const address = process.env["SIGNALBOX_TEST_S3"]
  if (address === undefined) return null
  const { origin, pathname } = new URL(address)
  return {
    bucket: pathname.slice(1),
    endpoint: origin,
    prefix,
    region: process.env["AWS_REGION"] ?? "us-east-1",
    accessKeyId: process.env["AWS_ACCESS_KEY_ID"] ?? "",
    secretAccessKey: Redacted.make(process.env["AWS_SECRET_ACCESS_KEY"] ?? "")
  }
}
