export interface Compiled {
  /** Where a module of the simulation is. */
  readonly url: (module: string) => string
  readonly remove: () => void
}

export declare const compile: () => Compiled
