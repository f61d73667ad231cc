/** Shared connections of several processes, over `@effect/cluster` and PostgreSQL. Needs its optional peers installed. */
export * as FleetConnector from "./FleetConnector.ts"
export * as FleetHome from "./FleetHome.ts"
export * as NodeFleet from "./NodeFleet.ts"
