/**
 * The tests in their long form, and everything that the storage is below of on both databases: `test:soak <area>`.
 */
import { defineConfig } from "vitest/config"

// Read by the configuration itself, by the tests (@signalbox/testkit/Soak) and by the processes that they start.
process.env["SIGNALBOX_SOAK"] = "1"
const { default: config } = await import("./vitest.config.ts")

export default defineConfig({ ...config, test: { ...config.test, testTimeout: 3_600_000 } })
