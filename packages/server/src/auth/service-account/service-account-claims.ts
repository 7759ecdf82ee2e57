// What stands in a token of a service account: whose it is, and what it lives and dies with.

import type { Identity } from '../api/identity.js'
import type { Claims } from './jwt.js'
import { accountName } from './service-account-name.js'

export interface Reference {
  readonly name: string
  readonly uid: string
}

export interface AccountClaims {
  readonly namespace: string
  readonly serviceaccount: Reference
  readonly pod?: Reference
  readonly secret?: Reference
  /** Seconds since 1970: whoever uses the token later should have renewed it. */
  readonly warnafter?: number
}

/** Tokens of secrets are signed by an issuer of this name, whatever the flags say. */
export const legacyIssuer = (identity: Identity): string => `${identity.self}/serviceaccount`

/** The claim that has the others. */
export const ownClaim = (identity: Identity): string => identity.label('').slice(0, -1)

export interface TokenWish {
  readonly issuer: string
  readonly audiences: readonly string[]
  readonly account: AccountClaims
  /** Milliseconds since 1970. */
  readonly now: number
  readonly seconds: number
  /** Left out: nobody is reminded. */
  readonly warnAfterSeconds?: number
}

export function boundClaims(identity: Identity, { issuer, audiences, account, now, seconds, warnAfterSeconds }: TokenWish): Claims {
  const iat = Math.floor(now / 1000)
  return {
    aud: audiences,
    exp: iat + seconds,
    iat,
    iss: issuer,
    [ownClaim(identity)]: { ...account, ...(warnAfterSeconds === undefined ? {} : { warnafter: iat + warnAfterSeconds }) },
    nbf: iat,
    sub: accountName(account.namespace, account.serviceaccount.name),
  }
}

export interface LegacyClaims {
  readonly namespace: string
  readonly secret: string
  readonly account: Reference
}

const legacyNames = { namespace: 'namespace', secret: 'secret.name', name: 'service-account.name', uid: 'service-account.uid' } as const
const legacyClaim = (identity: Identity, name: keyof typeof legacyNames): string => identity.label(`serviceaccount/${legacyNames[name]}`)

export const secretClaims = (identity: Identity, { namespace, secret, account }: LegacyClaims): Claims => ({
  iss: legacyIssuer(identity),
  [legacyClaim(identity, 'namespace')]: namespace,
  [legacyClaim(identity, 'secret')]: secret,
  [legacyClaim(identity, 'name')]: account.name,
  [legacyClaim(identity, 'uid')]: account.uid,
  sub: accountName(namespace, account.name),
})

const text = (value: unknown): string => (typeof value === 'string' ? value : '')

export const readLegacyClaims = (identity: Identity, claims: Claims): LegacyClaims => ({
  namespace: text(claims[legacyClaim(identity, 'namespace')]),
  secret: text(claims[legacyClaim(identity, 'secret')]),
  account: { name: text(claims[legacyClaim(identity, 'name')]), uid: text(claims[legacyClaim(identity, 'uid')]) },
})

type Fields = { readonly [name: string]: unknown }
const fieldsOf = (value: unknown): Fields | undefined => (typeof value === 'object' && value !== null ? (value as Fields) : undefined)
const referenceOf = (value: unknown): Reference | undefined => {
  const fields = fieldsOf(value)
  return fields && { name: text(fields['name']), uid: text(fields['uid']) }
}

/** Whatever is not there is empty, and names nothing. */
export function readAccountClaims(identity: Identity, claims: Claims): AccountClaims {
  const own = fieldsOf(claims[ownClaim(identity)]) ?? {}
  const pod = referenceOf(own['pod'])
  const secret = referenceOf(own['secret'])
  const { warnafter } = own
  return {
    namespace: text(own['namespace']),
    serviceaccount: referenceOf(own['serviceaccount']) ?? { name: '', uid: '' },
    ...(pod === undefined ? {} : { pod }),
    ...(secret === undefined ? {} : { secret }),
    ...(typeof warnafter === 'number' && warnafter > 0 ? { warnafter } : {}),
  }
}

/** One audience may stand for itself. */
export function readAudiences({ aud }: Claims): readonly string[] {
  if (typeof aud === 'string') return [aud]
  return Array.isArray(aud) ? aud.filter((audience): audience is string => typeof audience === 'string') : []
}
