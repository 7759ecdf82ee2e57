// The flags of authorization as settings: modes, and the file that a mode cannot do without.

import { flagError } from './flag.js'
import type { SettingsInput } from './read-settings.js'
import type { AuthorizationMode, AuthorizationSettings, WebhookSettings } from './settings.js'

export interface Authorization {
  readonly authorizationModes: readonly AuthorizationMode[]
  readonly authorization: AuthorizationSettings
}

const filesOfModes = [
  { mode: 'ABAC', flag: 'authorization-policy-file' },
  { mode: 'Webhook', flag: 'authorization-webhook-config-file' },
] as const

export function readAuthorization({ values }: SettingsInput): Authorization {
  const modes = values['authorization-mode']
  if (modes.length === 0) throw flagError('authorization-mode', 'at least one mode is needed')
  const twice = modes.find((mode, index) => modes.indexOf(mode) !== index)
  if (twice !== undefined) throw flagError('authorization-mode', `${twice} is there twice`)
  for (const { mode, flag } of filesOfModes) {
    if (modes.includes(mode) && values[flag] === undefined) throw flagError('authorization-mode', `${mode} needs --${flag}`)
    if (!modes.includes(mode) && values[flag] !== undefined) throw flagError(flag, `needs ${mode} in --authorization-mode`)
  }
  return { authorizationModes: modes, authorization: { policyFile: values['authorization-policy-file'], webhook: readWebhook(values) } }
}

function readWebhook(values: SettingsInput['values']): WebhookSettings | undefined {
  const configFile = values['authorization-webhook-config-file']
  if (configFile === undefined) return undefined
  return {
    configFile,
    version: values['authorization-webhook-version'],
    acceptedTtlMs: values['authorization-webhook-cache-authorized-ttl'],
    refusedTtlMs: values['authorization-webhook-cache-unauthorized-ttl'],
  }
}
