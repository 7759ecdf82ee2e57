// The authorities that sign certificates for others, checked: certificate and key belong together, and it may sign.

import { createPrivateKey, X509Certificate } from 'node:crypto'
import type { KeyPair } from '../../net/issue-certificate.js'
import { flagError } from './flag.js'
import type { SettingsInput } from './read-settings.js'
import type { Settings } from './settings.js'

const signingKeys: readonly (string | undefined)[] = ['ec', 'rsa', 'ed25519']

/** How flags call the authority of all signers, or of one. */
type FlagStem =
  | 'cluster-signing'
  | 'cluster-signing-cluster-apiserver-client'
  | 'cluster-signing-kubelet-client'
  | 'cluster-signing-kubelet-serving'

export function readSigning(input: SettingsInput): Settings['signing'] {
  const seconds = Math.floor(input.values['cluster-signing-duration'] / 1000)
  if (seconds <= 0) throw flagError('cluster-signing-duration', 'must be at least 1s')
  const all = readPair(input, 'cluster-signing')
  const each = {
    client: readPair(input, 'cluster-signing-cluster-apiserver-client'),
    nodeClient: readPair(input, 'cluster-signing-kubelet-client'),
    nodeServing: readPair(input, 'cluster-signing-kubelet-serving'),
  }
  if (Object.values(each).every((pair) => pair === undefined)) {
    return { pairs: all === undefined ? undefined : { client: all, nodeClient: all, nodeServing: all }, seconds }
  }
  if (all !== undefined) throw flagError('cluster-signing-cert-file', 'cannot be given together with the authority of one signer')
  return { pairs: each, seconds }
}

function readPair({ values, files }: SettingsInput, stem: FlagStem): KeyPair | undefined {
  const [certFlag, keyFlag] = [`${stem}-cert-file`, `${stem}-key-file`] as const
  const certFile = values[certFlag]
  const keyFile = values[keyFlag]
  if (certFile !== undefined && keyFile === undefined) throw flagError(certFlag, `needs --${keyFlag}`)
  if (keyFile !== undefined && certFile === undefined) throw flagError(keyFlag, `needs --${certFlag}`)
  if (certFile === undefined || keyFile === undefined) return undefined
  const pair = { cert: files.get(certFile) ?? '', key: files.get(keyFile) ?? '' }
  const certificate = new X509Certificate(pair.cert)
  const key = createPrivateKey(pair.key)
  if (!certificate.checkPrivateKey(key)) throw flagError(keyFlag, `the key in ${keyFile} does not belong to the certificate in ${certFile}`)
  if (!signingKeys.includes(key.asymmetricKeyType))
    throw flagError(keyFlag, `certificates cannot be signed with a key of type ${key.asymmetricKeyType}`)
  if (!certificate.ca) throw flagError(certFlag, `the certificate in ${certFile} is not one of an authority`)
  return pair
}
