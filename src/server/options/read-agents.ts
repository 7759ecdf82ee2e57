// How the agents on nodes are reached: by which of their addresses, with whose certificates, and how patiently.

import { readPair } from './read-pair.js'
import type { SettingsInput } from './read-settings.js'
import type { AgentSettings } from './settings.js'

export function readAgents(input: SettingsInput): AgentSettings {
  const { values, files } = input
  const caFile = values['kubelet-certificate-authority']
  return {
    ca: caFile === undefined ? undefined : files.get(caFile),
    clientFiles: readPair(input, 'kubelet-client-certificate', 'kubelet-client-key')?.files,
    addressTypes: values['kubelet-preferred-address-types'],
    connectMs: values['kubelet-timeout'],
    bytesPerSecond: values['max-connection-bytes-per-sec'] || undefined,
  }
}
