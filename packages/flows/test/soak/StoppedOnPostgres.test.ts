import { stoppedSuite, terminatedSuite } from "../support/drills/StoppedSuite.ts"

stoppedSuite("three processes", false)
terminatedSuite("three processes", false)
