// Values of which only one object may have each: an address, a port. A claim is a key of its own, written together with the object
// that holds it, so that no value is ever held twice, by whichever server and across any crash.

export interface Claim {
  /** Such as `service-addresses`. */
  readonly kind: string
  readonly value: string
}

export const claimKey = ({ kind, value }: Claim): string => `claims.${kind}/${value}`

/** What a write takes and gives back. */
export interface ClaimChanges {
  readonly gained: readonly Claim[]
  readonly released: readonly Claim[]
}

export const noClaims: ClaimChanges = { gained: [], released: [] }
