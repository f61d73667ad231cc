/**
 * Property tests draw the same cases in every run, so that a red run can be repeated. `FAST_CHECK_SEED=random` draws
 * new ones, `FAST_CHECK_SEED=<number>` those of a run that was reported.
 */
import * as FastCheck from "effect/FastCheck"

const seed = process.env["FAST_CHECK_SEED"] ?? "20261118"

if (seed !== "random") FastCheck.configureGlobal({ seed: Number(seed) })
