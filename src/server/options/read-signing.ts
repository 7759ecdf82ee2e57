// The authority that signs certificates for others, checked: certificate and key belong together, and it may sign.

import { createPrivateKey, X509Certificate } from 'node:crypto'
import { flagError } from './flag.js'
import type { SettingsInput } from './read-settings.js'
import type { Settings } from './settings.js'

const signingKeys: readonly (string | undefined)[] = ['ec', 'rsa', 'ed25519']

export function readSigning({ values, files }: SettingsInput): Settings['signing'] {
  const certFile = values['cluster-signing-cert-file']
  const keyFile = values['cluster-signing-key-file']
  const seconds = Math.floor(values['cluster-signing-duration'] / 1000)
  if (seconds <= 0) throw flagError('cluster-signing-duration', 'must be at least 1s')
  if (certFile !== undefined && keyFile === undefined) throw flagError('cluster-signing-cert-file', 'needs --cluster-signing-key-file')
  if (keyFile !== undefined && certFile === undefined) throw flagError('cluster-signing-key-file', 'needs --cluster-signing-cert-file')
  if (certFile === undefined || keyFile === undefined) return { pair: undefined, seconds }
  const pair = { cert: files.get(certFile) ?? '', key: files.get(keyFile) ?? '' }
  const certificate = new X509Certificate(pair.cert)
  const key = createPrivateKey(pair.key)
  if (!certificate.checkPrivateKey(key))
    throw flagError('cluster-signing-key-file', `the key in ${keyFile} does not belong to the certificate in ${certFile}`)
  if (!signingKeys.includes(key.asymmetricKeyType))
    throw flagError('cluster-signing-key-file', `certificates cannot be signed with a key of type ${key.asymmetricKeyType}`)
  if (!certificate.ca) throw flagError('cluster-signing-cert-file', `the certificate in ${certFile} is not one of an authority`)
  return { pair, seconds }
}
