// The authorities that sign certificates for others, checked: certificate and key belong together, and it may sign.

import { createPrivateKey, X509Certificate } from 'node:crypto'
import type { KeyPair } from '../../net/issue-certificate.js'
import { flagError } from './flag.js'
import { readPair } from './read-pair.js'
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
  const all = readAuthorityPair(input, 'cluster-signing')
  const each = {
    client: readAuthorityPair(input, 'cluster-signing-cluster-apiserver-client'),
    nodeClient: readAuthorityPair(input, 'cluster-signing-kubelet-client'),
    nodeServing: readAuthorityPair(input, 'cluster-signing-kubelet-serving'),
  }
  if (Object.values(each).every((pair) => pair === undefined)) {
    return { pairs: all === undefined ? undefined : { client: all, nodeClient: all, nodeServing: all }, seconds }
  }
  if (all !== undefined) throw flagError('cluster-signing-cert-file', 'cannot be given together with the authority of one signer')
  return { pairs: each, seconds }
}

function readAuthorityPair(input: SettingsInput, stem: FlagStem): KeyPair | undefined {
  const [certFlag, keyFlag] = [`${stem}-cert-file`, `${stem}-key-file`] as const
  const named = readPair(input, certFlag, keyFlag)
  if (named === undefined) return undefined
  const { pair, files } = named
  const type = createPrivateKey(pair.key).asymmetricKeyType
  if (!signingKeys.includes(type)) throw flagError(keyFlag, `certificates cannot be signed with a key of type ${type}`)
  if (!new X509Certificate(pair.cert).ca) throw flagError(certFlag, `the certificate in ${files.certFile} is not one of an authority`)
  return pair
}
