// How the agents on nodes are reached: by which of their addresses, with whose certificates, and how patiently.

import { createPrivateKey, X509Certificate } from 'node:crypto'
import { flagError } from './flag.js'
import type { SettingsInput } from './read-settings.js'
import type { AgentSettings } from './settings.js'

export function readAgents({ values, files }: SettingsInput): AgentSettings {
  const textOf = (path: string | undefined): string | undefined => (path === undefined ? undefined : files.get(path))
  const cert = textOf(values['kubelet-client-certificate'])
  const key = textOf(values['kubelet-client-key'])
  if (cert === undefined && key !== undefined) throw flagError('kubelet-client-key', 'needs --kubelet-client-certificate')
  if (cert !== undefined && key === undefined) throw flagError('kubelet-client-certificate', 'needs --kubelet-client-key')
  if (cert !== undefined && key !== undefined && !new X509Certificate(cert).checkPrivateKey(createPrivateKey(key)))
    throw flagError('kubelet-client-key', 'the key does not belong to the certificate of --kubelet-client-certificate')
  return {
    ca: textOf(values['kubelet-certificate-authority']),
    cert,
    key,
    addressTypes: values['kubelet-preferred-address-types'],
    connectMs: values['kubelet-timeout'],
    bytesPerSecond: values['max-connection-bytes-per-sec'] || undefined,
  }
}
