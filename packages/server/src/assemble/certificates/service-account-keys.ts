// Keys that sign and verify service account tokens: keys of the flags, or a key generated at the first start.

import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { join } from 'node:path'
import { canSignTokens, type VerifyingKey, verifyingKey } from '../../auth/tokens/jwt.js'
import { readOptionalFile, writePrivateFile } from '../../options/files/private-files.js'
import type { ServiceAccountSettings } from '../../options/settings.js'
import { StartupError } from '../../options/startup-error.js'
import { pkiFolder } from './serving-certificate.js'

export interface TokenKeys {
  readonly signingKey: KeyObject
  readonly keys: readonly VerifyingKey[]
}

interface KeySources {
  readonly dataDir: string | undefined
  /** Without --service-account-key-file this key also verifies tokens. */
  readonly tlsKey: string | undefined
}

export function tokenKeys({ signingKey, keys }: ServiceAccountSettings, { dataDir, tlsKey }: KeySources): TokenKeys {
  const signer = signingKey === undefined ? generatedKey(dataDir) : createPrivateKey(signingKey)
  // The TLS key may have a type that cannot sign tokens.
  const tlsKeys = keys.length === 0 && tlsKey !== undefined ? publicKeysOf(tlsKey).filter(canSignTokens) : []
  const flagKeys = [...keys.flatMap(publicKeysOf), ...tlsKeys]
  // Keys of flags replace the TLS key. The generated key always verifies tokens, because no flag can name it.
  const signerKey = toVerifyingKey(signer)
  const signerKeys = signingKey === undefined || flagKeys.length === 0 ? [signerKey] : []
  const distinct = new Map([...signerKeys, ...flagKeys.map(toVerifyingKey)].map((key) => [key.id, key]))
  return { signingKey: signer, keys: [...distinct.values()] }
}

/** Public keys of a PEM text with public keys, private keys or certificates. */
const publicKeysOf = (text: string): readonly KeyObject[] =>
  [...text.matchAll(/-----BEGIN ([A-Z0-9 ]*(?:KEY|CERTIFICATE))-----[\s\S]*?-----END \1-----/g)].map(([block]) => createPublicKey(block))

function toVerifyingKey(key: KeyObject): VerifyingKey {
  try {
    return verifyingKey(key)
  } catch (thrown) {
    throw new StartupError(`service account keys: ${(thrown as Error).message}`)
  }
}

export const generatedKeyFile = (dataDir: string): string => join(pkiFolder(dataDir), 'sa.key')

/** Elliptic keys are fast to generate. */
function generatedKey(dataDir: string | undefined): KeyObject {
  if (dataDir === undefined) return generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey
  const path = generatedKeyFile(dataDir)
  const existing = readOptionalFile(path)
  if (existing === undefined) {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
    writePrivateFile(path, privateKey.export({ type: 'pkcs8', format: 'pem' }) as string)
    return privateKey
  }
  try {
    return createPrivateKey(existing)
  } catch {
    throw new StartupError(`${path} is not a private key; remove it to generate a new one, which invalidates all tokens signed with it`)
  }
}
