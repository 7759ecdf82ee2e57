// Forged JWTs for tests: any header, claims and key.

import { createHmac, type KeyObject, sign } from 'node:crypto'

export type Json = { readonly [name: string]: unknown }

const encode = (value: Json): string => Buffer.from(JSON.stringify(value)).toString('base64url')

/** Signs with the algorithm of the header; `none` leaves the signature empty. */
export function forgeToken(header: Json & { readonly alg: string }, claims: Json, key?: KeyObject | string): string {
  const text = `${encode(header)}.${encode(claims)}`
  return `${text}.${signatureOf(header.alg, text, key)}`
}

function signatureOf(alg: string, text: string, key: KeyObject | string | undefined): string {
  if (key === undefined || alg.toLowerCase() === 'none') return ''
  if (alg.startsWith('HS') || typeof key === 'string')
    return createHmac(`sha${alg.slice(2)}`, key)
      .update(text)
      .digest('base64url')
  return sign(`sha${alg.slice(2)}`, Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')
}

export const claimsOf = (token: string): Json => JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Json
export const headerOf = (token: string): Json => JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()) as Json
