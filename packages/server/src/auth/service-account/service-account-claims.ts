// Claims of service account tokens, bound and legacy, and the user names and groups of service accounts.

import type { Identity } from '@cluster-apiserver/api/api/identity.js'
import type { Claims } from '../tokens/jwt.js'

export interface Reference {
  readonly name: string
  readonly uid: string
}

export interface AccountClaims {
  readonly namespace: string
  readonly serviceaccount: Reference
  readonly pod?: Reference
  readonly secret?: Reference
  /** Seconds since 1970. Later use counts as stale: the client should have renewed the token. */
  readonly warnafter?: number
}

/** Issuer of legacy tokens, independent of `--service-account-issuer`. */
export const legacyIssuer = (identity: Identity): string => `${identity.self}/serviceaccount`

const privateClaim = (identity: Identity): string => identity.label('').slice(0, -1)

export interface BoundTokenSpec {
  readonly issuer: string
  readonly audiences: readonly string[]
  readonly account: AccountClaims
  /** Milliseconds since 1970. */
  readonly now: number
  readonly seconds: number
  readonly warnAfterSeconds?: number
}

export function boundClaims(identity: Identity, { issuer, audiences, account, now, seconds, warnAfterSeconds }: BoundTokenSpec): Claims {
  const iat = Math.floor(now / 1000)
  return {
    aud: audiences,
    exp: iat + seconds,
    iat,
    iss: issuer,
    [privateClaim(identity)]: { ...account, ...(warnAfterSeconds === undefined ? {} : { warnafter: iat + warnAfterSeconds }) },
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

export const legacyClaims = (identity: Identity, { namespace, secret, account }: LegacyClaims): Claims => ({
  iss: legacyIssuer(identity),
  [legacyClaim(identity, 'namespace')]: namespace,
  [legacyClaim(identity, 'secret')]: secret,
  [legacyClaim(identity, 'name')]: account.name,
  [legacyClaim(identity, 'uid')]: account.uid,
  sub: accountName(namespace, account.name),
})

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

export const readLegacyClaims = (identity: Identity, claims: Claims): LegacyClaims => ({
  namespace: textOf(claims[legacyClaim(identity, 'namespace')]),
  secret: textOf(claims[legacyClaim(identity, 'secret')]),
  account: { name: textOf(claims[legacyClaim(identity, 'name')]), uid: textOf(claims[legacyClaim(identity, 'uid')]) },
})

type Fields = { readonly [name: string]: unknown }
const fieldsOf = (value: unknown): Fields | undefined => (typeof value === 'object' && value !== null ? (value as Fields) : undefined)
const referenceOf = (value: unknown): Reference | undefined => {
  const fields = fieldsOf(value)
  return fields && { name: textOf(fields['name']), uid: textOf(fields['uid']) }
}

/** Missing names and uids are empty strings, which match no object; a missing pod or secret is omitted. */
export function readAccountClaims(identity: Identity, claims: Claims): AccountClaims {
  const fields = fieldsOf(claims[privateClaim(identity)]) ?? {}
  const pod = referenceOf(fields['pod'])
  const secret = referenceOf(fields['secret'])
  const { warnafter } = fields
  return {
    namespace: textOf(fields['namespace']),
    serviceaccount: referenceOf(fields['serviceaccount']) ?? { name: '', uid: '' },
    ...(pod === undefined ? {} : { pod }),
    ...(secret === undefined ? {} : { secret }),
    ...(typeof warnafter === 'number' && warnafter > 0 ? { warnafter } : {}),
  }
}

/** `aud` is a string or a list. */
export function readAudiences({ aud }: Claims): readonly string[] {
  if (typeof aud === 'string') return [aud]
  return Array.isArray(aud) ? aud.filter((audience): audience is string => typeof audience === 'string') : []
}

const userPrefix = 'system:serviceaccount:'

export const accountName = (namespace: string, name: string): string => `${userPrefix}${namespace}:${name}`

export const accountGroups = (namespace: string): readonly string[] => ['system:serviceaccounts', `system:serviceaccounts:${namespace}`]

export function accountOf(user: string): { readonly namespace: string; readonly name: string } | undefined {
  if (!user.startsWith(userPrefix)) return undefined
  const [namespace = '', name = '', ...rest] = user.slice(userPrefix.length).split(':')
  return rest.length === 0 && isName(namespace, maxNamespaceChars) && isName(name, maxNameChars) ? { namespace, name } : undefined
}

const maxNamespaceChars = 63
const maxNameChars = 253

/** DNS label for namespaces, DNS subdomain for names. */
const isName = (name: string, maxChars: number): boolean =>
  name.length <= maxChars && /^[a-z0-9.-]+$/.test(name) && (maxChars === maxNamespaceChars ? [name] : name.split('.')).every(isDnsLabel)

const isDnsLabel = (label: string): boolean => /^[a-z0-9-]+$/.test(label) && !label.startsWith('-') && !label.endsWith('-')
