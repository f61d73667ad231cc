// In the place of what the client of the SDK needs of a platform. Its own validator takes a while to load and is never made:
// the connector gives it another.
export const CORS_IS_POSSIBLE = false

export class DefaultJsonSchemaValidator {
  constructor() {
    throw new Error("the client was made without a validator")
  }
}
