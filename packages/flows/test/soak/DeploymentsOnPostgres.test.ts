import { stepMoreSuite, versionsSuite } from "../support/drills/DeploymentsSuite.ts"

versionsSuite("three processes", false)
stepMoreSuite("three processes", false)
