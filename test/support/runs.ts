/** How often a property is tried: a part of it in each run of all tests, all of it in `npm run test:exhaustive`. */

const isExhaustive = process.env["TEST_RUNS"] === "all"

/** What tests that run a lot more often than most are cut down to. */
const share = 10

/** As many as that, or the first tenth of them: they are drawn in the same order. */
export const runs = (all: number): number => isExhaustive ? all : Math.ceil(all / share)
