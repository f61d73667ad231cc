/** How often a property is tried: a part of it in each run of all tests, all of it in `npm run test:exhaustive`. */

const isExhaustive = process.env["TEST_RUNS"] === "all"

const part = (share: number) => (all: number): number => isExhaustive ? all : Math.ceil(all / share)

/** What is tried a lot more often than most: the first fifteenth of all cases, which are drawn in the same order. */
export const runs = part(15)

/** Samples of which each is tried: every third in a run of all tests. */
export const samples = <A>(all: ReadonlyArray<A>): ReadonlyArray<A> =>
  isExhaustive ? all : all.filter((_, at) => at % 3 === 0)

/** What costs a lot more each time than most: histories of a runtime, trees of files. */
export const costlyRuns = part(4)

/** How long a text is, or how many of something there are, where an algorithm that is not linear would never end. */
export const lengths = part(8)
