/**
 * What every test file begins with, also where another has run before it in the same process.
 *
 * Property tests draw the same cases in every run, so that a red run can be repeated. `FAST_CHECK_SEED=random` draws
 * new ones, `FAST_CHECK_SEED=<number>` those of a run that was reported.
 */
import { effect, flakyTest, it, layer, live, prop, scoped, scopedLive } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { afterAll, chai, vi } from "vitest"
import * as Equality from "./support/equality.ts"

const seed = process.env["FAST_CHECK_SEED"] ?? "20261118"

if (seed !== "random") FastCheck.configureGlobal({ seed: Number(seed) })

// `layer` puts the methods of its tests in the place of everybody's: the file before may have used it
Object.assign(it, { effect, flakyTest, layer, live, prop, scoped, scopedLive })

Equality.strict()

// every chai assertion would be wrapped to tell of misspelt properties, which the compiler does
chai.config.useProxy = false

// a module on its way when a file ends never comes, and the next file in this process would wait for the same one
afterAll(() => vi.dynamicImportSettled())
