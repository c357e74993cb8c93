import { awaySuite } from "../support/drills/AwaySuite.ts"

awaySuite("three processes", false)
