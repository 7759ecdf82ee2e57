// The flags of authorization as settings: modes, and the file that a mode cannot do without.

import type { Identity } from '../../api/identity.js'
import { type Policy, parsePolicies } from '../../auth/abac/policies.js'
import type { EndpointSettings } from '../../net/json-endpoint.js'
import { readConnection } from '../connection-file.js'
import type { ReadText } from './file-texts.js'
import { flagError } from './flag.js'
import type { SettingsInput } from './read-settings.js'
import type { AuthorizationMode, AuthorizationSettings } from './settings.js'

export interface Authorization {
  readonly authorizationModes: readonly AuthorizationMode[]
  readonly authorization: AuthorizationSettings
}

const filesOfModes = [
  { mode: 'ABAC', flag: 'authorization-policy-file' },
  { mode: 'Webhook', flag: 'authorization-webhook-config-file' },
] as const

export function readAuthorization(input: SettingsInput, identity: Identity): Authorization {
  const { values, files } = input
  const modes = values['authorization-mode']
  if (modes.length === 0) throw flagError('authorization-mode', 'at least one mode is needed')
  const twice = modes.find((mode, index) => modes.indexOf(mode) !== index)
  if (twice !== undefined) throw flagError('authorization-mode', `${twice} is there twice`)
  for (const { mode, flag } of filesOfModes) {
    if (modes.includes(mode) && values[flag] === undefined) throw flagError('authorization-mode', `${mode} needs --${flag}`)
    if (!modes.includes(mode) && values[flag] !== undefined) throw flagError(flag, `needs ${mode} in --authorization-mode`)
  }
  const policyFile = values['authorization-policy-file']
  const policies = policyFile === undefined ? [] : readPolicies(policyFile, files.get(policyFile) ?? '', identity)
  return { authorizationModes: modes, authorization: { policies, webhook: readWebhook(input) } }
}

function readPolicies(path: string, text: string, identity: Identity): readonly Policy[] {
  try {
    return parsePolicies(text, identity)
  } catch (error) {
    throw flagError('authorization-policy-file', `${path}: ${(error as Error).message}`)
  }
}

function readWebhook({ values, files, readText }: SettingsInput): AuthorizationSettings['webhook'] {
  const configFile = values['authorization-webhook-config-file']
  if (configFile === undefined) return undefined
  return {
    configFile,
    connection: connectionIn(configFile, files.get(configFile) ?? '', readText),
    version: values['authorization-webhook-version'],
    acceptedTtlMs: values['authorization-webhook-cache-authorized-ttl'],
    refusedTtlMs: values['authorization-webhook-cache-unauthorized-ttl'],
  }
}

function connectionIn(path: string, text: string, readText: ReadText): EndpointSettings {
  try {
    return readConnection(path, text, readText)
  } catch (error) {
    throw flagError('authorization-webhook-config-file', `${path}: ${(error as Error).message}`)
  }
}
