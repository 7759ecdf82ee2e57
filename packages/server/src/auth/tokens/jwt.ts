// JSON Web Tokens: decode, verify, sign, publish keys. The `jose` package is loaded with the first token to keep startup short.

import { createHash, createPublicKey, type KeyObject } from 'node:crypto'

export type Claims = { readonly [claim: string]: unknown }

export interface VerifyingKey {
  readonly key: KeyObject
  /** Key id (`kid`): hash of the public key. */
  readonly id: string
  readonly algorithms: readonly string[]
}

/** Longer tokens are rejected; request headers have a lower limit anyway. */
const maxTokenChars = 64 << 10

/** Claims without signature verification; undefined if the token is not a JWT. */
export const unverifiedClaims = (token: string): Claims | undefined => decodeSegment(token, 1)

export const unverifiedHeader = (token: string): Claims | undefined => decodeSegment(token, 0)

function decodeSegment(token: string, index: 0 | 1): Claims | undefined {
  if (token.length > maxTokenChars) return undefined
  const first = token.indexOf('.')
  const second = token.indexOf('.', first + 1)
  if (first < 1 || second < 0 || token.indexOf('.', second + 1) >= 0) return undefined
  const encoded = index === 0 ? token.slice(0, first) : token.slice(first + 1, second)
  try {
    const claims: unknown = JSON.parse(Buffer.from(encoded, 'base64url').toString('utf8'))
    return typeof claims === 'object' && claims !== null && !Array.isArray(claims) ? (claims as Claims) : undefined
  } catch {
    return undefined
  }
}

/** Claims if one of the keys signed the token; tries all keys, whatever `kid` says. */
export async function verifiedClaims(token: string, keys: readonly VerifyingKey[]): Promise<Claims | undefined> {
  const { compactVerify } = await import('jose')
  for (const { key, algorithms } of keys) {
    try {
      const { payload } = await compactVerify(token, key, { algorithms: [...algorithms] })
      return JSON.parse(Buffer.from(payload).toString('utf8')) as Claims
    } catch {
      // Try the next key.
    }
  }
  return undefined
}

/** Asymmetric algorithms only: neither HMAC nor `none`. */
const algorithmsOf = (key: KeyObject): readonly string[] => {
  if (key.asymmetricKeyType === 'rsa') return ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512']
  const algorithm = curveAlgorithms[key.asymmetricKeyDetails?.namedCurve ?? '']
  return algorithm === undefined ? [] : [algorithm]
}

const curveAlgorithms: { readonly [curve: string]: string } = { prime256v1: 'ES256', secp384r1: 'ES384', secp521r1: 'ES512' }

export const canSignTokens = (key: KeyObject): boolean => algorithmsOf(key).length > 0

/** Caches public keys: deriving one from a private key takes longer than the rest of issuing a token except the signature. */
const verifyingKeys = new WeakMap<KeyObject, VerifyingKey>()

/** Throws if the key type cannot sign tokens. */
export function verifyingKey(key: KeyObject): VerifyingKey {
  const cached = verifyingKeys.get(key) ?? newVerifyingKey(key)
  verifyingKeys.set(key, cached)
  return cached
}

function newVerifyingKey(key: KeyObject): VerifyingKey {
  const algorithms = algorithmsOf(key)
  if (algorithms.length === 0) throw new Error('only RSA keys and elliptic keys of the curves P-256, P-384 and P-521 can sign tokens')
  const publicKey = key.type === 'private' ? createPublicKey(key) : key
  const id = createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest('base64url')
  return { key: publicKey, id, algorithms }
}

export async function signClaims(claims: Claims, key: KeyObject): Promise<string> {
  const { SignJWT } = await import('jose')
  const { id, algorithms } = verifyingKey(key)
  return new SignJWT({ ...claims }).setProtectedHeader({ alg: algorithms[0] as string, kid: id }).sign(key)
}

export async function jsonWebKeySet(keys: readonly VerifyingKey[]): Promise<string> {
  const { exportJWK } = await import('jose')
  const keyList = await Promise.all(
    keys.map(async ({ key, id, algorithms }) => {
      const { kty, ...parameters } = await exportJWK(key)
      return { use: 'sig', kty, kid: id, alg: algorithms[0], ...parameters }
    }),
  )
  return JSON.stringify({ keys: keyList })
}
