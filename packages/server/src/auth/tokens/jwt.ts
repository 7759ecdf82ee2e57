// Signed tokens (JWT), by the package that knows them. It is loaded when the first token comes: a start does not wait for it.

import { createHash, createPublicKey, type KeyObject } from 'node:crypto'

export type Claims = { readonly [claim: string]: unknown }

export interface VerifyingKey {
  readonly key: KeyObject
  /** The name under which it is published, and which tokens may bear: a hash of the key. */
  readonly id: string
  readonly algorithms: readonly string[]
}

/** A token that is longer is none: the headers of a request have not even room for it. */
const mostLength = 64 << 10

/** What a token claims, before anybody has looked at its signature; undefined: it is no such token. */
export const unverifiedClaims = (token: string): Claims | undefined => part(token, 1)

/** How it says to be signed, which nobody has looked at either. */
export const unverifiedHeader = (token: string): Claims | undefined => part(token, 0)

function part(token: string, index: 0 | 1): Claims | undefined {
  if (token.length > mostLength) return undefined
  const first = token.indexOf('.')
  const second = token.indexOf('.', first + 1)
  if (first < 1 || second < 0 || token.indexOf('.', second + 1) >= 0) return undefined
  const encoded = index === 0 ? token.slice(0, first) : token.slice(first + 1, second)
  try {
    const claims: unknown = JSON.parse(Buffer.from(encoded, 'base64url').toString('utf8'))
    return typeof claims === 'object' && claims !== null && !Array.isArray(claims) ? (claims as Claims) : undefined
  } catch {
    // What is no JSON is no such token.
    return undefined
  }
}

/** The claims of a token that one of these keys signed; undefined: none did. Which key a token says to be signed with does not matter. */
export async function verifiedClaims(token: string, keys: readonly VerifyingKey[]): Promise<Claims | undefined> {
  const { compactVerify } = await import('jose')
  for (const { key, algorithms } of keys) {
    try {
      const { payload } = await compactVerify(token, key, { algorithms: [...algorithms] })
      return JSON.parse(Buffer.from(payload).toString('utf8')) as Claims
    } catch {
      // Another key may have signed it.
    }
  }
  return undefined
}

/** What a key may sign with: never a shared secret, and never nothing. */
const algorithmsOf = (key: KeyObject): readonly string[] => {
  if (key.asymmetricKeyType === 'rsa') return ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512']
  const algorithm = curveAlgorithms[key.asymmetricKeyDetails?.namedCurve ?? '']
  return algorithm === undefined ? [] : [algorithm]
}

const curveAlgorithms: { readonly [curve: string]: string } = { prime256v1: 'ES256', secp384r1: 'ES384', secp521r1: 'ES512' }

export const canSignTokens = (key: KeyObject): boolean => algorithmsOf(key).length > 0

/** Of keys that sign: to work the public half out of the other takes longer than all that is done for a token beside its signature. */
const halves = new WeakMap<KeyObject, VerifyingKey>()

/** Throws one sentence when no token can be signed with such a key. */
export function verifyingKey(key: KeyObject): VerifyingKey {
  const known = halves.get(key) ?? newVerifyingKey(key)
  halves.set(key, known)
  return known
}

function newVerifyingKey(key: KeyObject): VerifyingKey {
  const algorithms = algorithmsOf(key)
  if (algorithms.length === 0) throw new Error('only RSA keys and elliptic keys of the curves P-256, P-384 and P-521 can sign tokens')
  const half = key.type === 'private' ? createPublicKey(key) : key
  const id = createHash('sha256')
    .update(half.export({ type: 'spki', format: 'der' }))
    .digest('base64url')
  return { key: half, id, algorithms }
}

/** RSA keys sign with RS256, the others with what belongs to their curve. */
export async function signClaims(claims: Claims, key: KeyObject): Promise<string> {
  const { SignJWT } = await import('jose')
  const { id, algorithms } = verifyingKey(key)
  return new SignJWT({ ...claims }).setProtectedHeader({ alg: algorithms[0] as string, kid: id }).sign(key)
}

/** The keys as they are published, JSON. */
export async function publishedKeys(keys: readonly VerifyingKey[]): Promise<string> {
  const { exportJWK } = await import('jose')
  const published = await Promise.all(
    keys.map(async ({ key, id, algorithms }) => {
      const { kty, ...numbers } = await exportJWK(key)
      return { use: 'sig', kty, kid: id, alg: algorithms[0], ...numbers }
    }),
  )
  return JSON.stringify({ keys: published })
}
