import { cutOff } from "../support/CutOffScenarios.ts"

cutOff()
