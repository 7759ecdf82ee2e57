// The keys of service account tokens: those of the flags, and where there are none, one that is made at the first start and kept.

import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { join } from 'node:path'
import { canSignTokens, type VerifyingKey, verifyingKey } from '../auth/jwt.js'
import { pkiFolder } from './certificates.js'
import type { ServiceAccountSettings } from './options/settings.js'
import { readOptionalFile, type WriteFile, writePrivateFile } from './private-files.js'
import { StartError } from './start-failure.js'

export interface TokenKeys {
  readonly signingKey: KeyObject
  /** In the order in which they are tried. */
  readonly keys: readonly VerifyingKey[]
}

export interface KeyPlaces {
  readonly dataDir: string | undefined
  /** What tokens are checked with, too, where no flag names keys. */
  readonly tlsKey: string | undefined
  /** How files are written; left out: they are durable at once. */
  readonly write?: WriteFile | undefined
}

export function tokenKeys(
  { signingKey, keys }: ServiceAccountSettings,
  { dataDir, tlsKey, write = writePrivateFile }: KeyPlaces,
): TokenKeys {
  const signer = signingKey === undefined ? ownKey(dataDir, write) : createPrivateKey(signingKey)
  // The key of the port may be of a sort that signs no tokens: then nobody meant it for them.
  const ofPort = keys.length === 0 && tlsKey !== undefined ? publicKeysOf(tlsKey).filter(canSignTokens) : []
  const named = [...keys.flatMap(publicKeysOf), ...ofPort]
  // Whoever names keys decides which tokens are believed; a key of our own making is among them, for nobody can name it.
  const own = verifying(signer)
  const believed = signingKey === undefined || named.length === 0 ? [own] : []
  const distinct = new Map([...believed, ...named.map(verifying)].map((key) => [key.id, key]))
  return { signingKey: signer, keys: [...distinct.values()] }
}

/** The keys of a PEM text, of private ones and certificates the public half. */
export const publicKeysOf = (text: string): readonly KeyObject[] =>
  [...text.matchAll(/-----BEGIN ([A-Z0-9 ]*(?:KEY|CERTIFICATE))-----[\s\S]*?-----END \1-----/g)].map(([block]) => createPublicKey(block))

function verifying(key: KeyObject): VerifyingKey {
  try {
    return verifyingKey(key)
  } catch (thrown) {
    throw new StartError(`keys of service accounts: ${(thrown as Error).message}`)
  }
}

/** Elliptic, because that is made in no time. */
function ownKey(dataDir: string | undefined, write: WriteFile): KeyObject {
  if (dataDir === undefined) return generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey
  const path = join(pkiFolder(dataDir), 'sa.key')
  const kept = readOptionalFile(path)
  if (kept === undefined) {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
    write(path, privateKey.export({ type: 'pkcs8', format: 'pem' }) as string)
    return privateKey
  }
  try {
    return createPrivateKey(kept)
  } catch {
    throw new StartError(`${path} is not a private key; remove it to have a new one made, which ends the tokens that were signed with it`)
  }
}
